import { createHash } from 'node:crypto'
import { CompactEncrypt, compactDecrypt, errors } from 'jose'
import { invariant } from '../../kernel/invariant.ts'
import { type CompactSeal, readCompactSeal } from './seal-compact.ts'
import { openDirectly, sealDirectly } from './seal-direct.ts'
import { type SealFault, SealRejected } from './seal-fault.ts'
import { curveOf, fitsAlgorithm, modulusBits, type SealAlgorithm, type SealKey } from './seal-keys.ts'

/** Opens seals: `key` is a private key or a secret; `alg` and `enc` are pinned to it (decision C1). */
export type OpeningKey = SealKey
/** Makes seals: `key` is a public key or a secret. */
export type SealingKey = SealKey

export interface Opened {
  readonly plaintext: Buffer
  readonly kid: string
  readonly alg: SealAlgorithm
  /** SHA-256 over the decoded IV, ciphertext and tag: what makes a seal count once (decision C13). */
  readonly sealHash: Buffer
}

/**
 * Opens a compact JWE of at most 64 KiB (RFC 7516, decision C1). `find` returns the key of this kid that this caller
 * may use. No key is looked for before the header is found good, and none is used before its pins match.
 * Throws SealRejected for everything that is the seal's fault, and what `find` throws.
 */
export async function openSeal(
  text: string,
  find: (kid: string) => OpeningKey | undefined | Promise<OpeningKey | undefined>,
): Promise<Opened> {
  const seal = readCompactSeal(text)
  const { kid, alg, enc } = seal.header
  const reject = (fault: SealFault, why?: string) => new SealRejected(fault, why, seal.header)
  const opening = await find(kid)
  if (opening?.kid !== kid) throw reject('unknown_kid')
  if (opening.alg !== alg || opening.enc !== enc) throw reject('algorithm')
  const { key } = opening
  invariant(key.type !== 'public' && fitsAlgorithm(alg, key), 'an opening key must fit its algorithm')
  if (seal.header.agreement && seal.header.agreement.epk.crv !== curveOf(key))
    throw reject('header', 'epk is on another curve than the key')
  const plaintext = alg === 'RSA-OAEP-256' ? await openRsa(text, seal, opening) : openDirectly(seal, key)
  if (plaintext === 'epk') throw reject('header', 'epk is not a point to agree with')
  if (plaintext === 'tag') throw reject('tag')
  const sealHash = createHash('sha256').update(seal.iv).update(seal.ciphertext).update(seal.tag).digest()
  return { plaintext, kid, alg, sealHash }
}

/** Seals to a public key, or with a shared one. Answers the compact JWE. */
export async function seal(plaintext: Uint8Array, to: SealingKey): Promise<string> {
  const { kid, alg, enc, key } = to
  invariant(key.type !== 'private' && fitsAlgorithm(alg, key), 'a sealing key must fit its algorithm')
  if (alg !== 'RSA-OAEP-256') return sealDirectly(plaintext, { kid, alg, enc, key })
  return new CompactEncrypt(plaintext).setProtectedHeader({ alg, enc, kid }).encrypt(key)
}

/** RSA stays with `jose`: WebCrypto runs it on another thread, and it alone costs enough for that to matter. */
async function openRsa(
  text: string,
  seal: CompactSeal,
  { key, alg, enc }: OpeningKey,
): Promise<Buffer | 'tag'> {
  if (seal.encryptedKey.length * 8 !== modulusBits(key)) return 'tag'
  try {
    const options = { keyManagementAlgorithms: [alg], contentEncryptionAlgorithms: [enc] }
    return Buffer.from((await compactDecrypt(text, key, options)).plaintext)
  } catch (error) {
    if (error instanceof errors.JOSEError) return 'tag'
    throw error
  }
}
