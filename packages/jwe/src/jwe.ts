import { createHash } from 'node:crypto'
import { invariant } from '@svc/kernel/invariant'
import { CompactEncrypt, compactDecrypt, errors } from 'jose'
import { type BoundTo, type CompactJwe, readCompactJwe } from './compact.ts'
import { encryptDirectly, openDirectly } from './direct.ts'
import { DecryptionFailed, type JweErrorReason } from './jwe-error.ts'
import { curveOf, fitsAlgorithm, type JweAlgorithm, type JweKey, modulusBits } from './keys.ts'

/** Decrypts JWEs: `key` is a private key or a secret; `alg` and `enc` are pinned to it (decision C1). */
export type OpeningKey = JweKey
/** Encrypts: `key` is a public key or a secret. */
export type EncryptionKey = JweKey

export interface Opened {
  readonly plaintext: Buffer
  readonly kid: string
  readonly alg: JweAlgorithm
  /** SHA-256 over the decoded IV, ciphertext and tag: what makes a JWE count once (decision C13). */
  readonly ciphertextHash: Buffer
  /** Proved, since the tag covers the header. */
  readonly claims: BoundTo
}

/**
 * Opens a compact JWE of at most 64 KiB (RFC 7516, decision C1). `find` returns the key of this kid that this caller
 * may use. No key is looked for before the header is found good, and none is used before its pins match.
 * Throws `DecryptionFailed` for everything that is wrong with the JWE, and what `find` throws.
 */
export async function decryptJwe(
  text: string,
  find: (kid: string) => OpeningKey | undefined | Promise<OpeningKey | undefined>,
): Promise<Opened> {
  const jwe = readCompactJwe(text)
  const { kid, alg, enc } = jwe.header
  const reject = (reason: JweErrorReason, why?: string) => new DecryptionFailed(reason, why, jwe.header)
  const opening = await find(kid)
  if (opening?.kid !== kid) throw reject('unknown_kid')
  if (opening.alg !== alg || opening.enc !== enc) throw reject('algorithm')
  const { key } = opening
  invariant(key.type !== 'public' && fitsAlgorithm(alg, key), 'an opening key must fit its algorithm')
  if (jwe.header.agreement && jwe.header.agreement.epk.crv !== curveOf(key))
    throw reject('header', 'epk is on another curve than the key')
  const plaintext = alg === 'RSA-OAEP-256' ? await openRsa(text, jwe, opening) : openDirectly(jwe, key)
  if (plaintext === 'epk') throw reject('header', 'epk is not a point to agree with')
  if (plaintext === 'tag') throw reject('tag')
  const ciphertextHash = createHash('sha256').update(jwe.iv).update(jwe.ciphertext).update(jwe.tag).digest()
  return { plaintext, kid, alg, ciphertextHash, claims: jwe.header.claims }
}

/** Encrypts to a public key, or with a shared one. Returns the compact JWE. */
export async function encrypt(plaintext: Uint8Array, to: EncryptionKey): Promise<string> {
  const { kid, alg, enc, key } = to
  invariant(key.type !== 'private' && fitsAlgorithm(alg, key), 'an encryption key must fit its algorithm')
  if (alg !== 'RSA-OAEP-256') return encryptDirectly(plaintext, { kid, alg, enc, key })
  return new CompactEncrypt(plaintext).setProtectedHeader({ alg, enc, kid }).encrypt(key)
}

/** RSA stays with `jose`: WebCrypto runs it on another thread, and it alone costs enough for that to matter. */
async function openRsa(
  text: string,
  jwe: CompactJwe,
  { key, alg, enc }: OpeningKey,
): Promise<Buffer | 'tag'> {
  if (jwe.encryptedKey.length * 8 !== modulusBits(key)) return 'tag'
  try {
    const options = { keyManagementAlgorithms: [alg], contentEncryptionAlgorithms: [enc] }
    return Buffer.from((await compactDecrypt(text, key, options)).plaintext)
  } catch (error) {
    if (error instanceof errors.JOSEError) return 'tag'
    throw error
  }
}
