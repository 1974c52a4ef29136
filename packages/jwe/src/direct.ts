import {
  createCipheriv,
  createDecipheriv,
  createECDH,
  createHash,
  createPublicKey,
  diffieHellman,
  type ECDH,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import type { CompactJwe, EphemeralKey } from './compact.ts'
import { curveOf, type JweKey } from './keys.ts'

/**
 * A256KW and ECDH-ES+A256KW with `node:crypto` primitives: a tenth to a third of the processor time of `jose`, whose
 * WebCrypto round trips cost more than the ciphers. Held to `jose` by differential tests.
 */
export type DirectAlgorithm = 'A256KW' | 'ECDH-ES+A256KW'

/** RFC 3394 §2.2.3.1. */
const KEY_WRAP_IV = Buffer.alloc(8, 0xa6)

/** The plaintext; 'epk' when the ephemeral key is no point to agree with; 'tag' when anything else does not hold. */
export function openDirectly(jwe: CompactJwe, key: KeyObject): Buffer | 'epk' | 'tag' {
  const { agreement } = jwe.header
  let wrapping: KeyObject | Buffer = key
  if (agreement) {
    const shared = agree(key, agreement.epk)
    if (!shared) return 'epk'
    wrapping = deriveWrappingKey(shared, agreement.apu, agreement.apv)
  }
  // A key that does not unwrap is replaced by a random one, so that both failures take the same path (RFC 7516 §11.5).
  const contentKey = unwrap(wrapping, jwe.encryptedKey) ?? randomBytes(32)
  const decipher = createDecipheriv('aes-256-gcm', contentKey, jwe.iv, { authTagLength: 16 })
  decipher.setAAD(Buffer.from(jwe.authenticated)).setAuthTag(jwe.tag)
  const plaintext = decipher.update(jwe.ciphertext)
  try {
    decipher.final()
    return plaintext
  } catch {
    return 'tag'
  }
}

export function encryptDirectly(plaintext: Uint8Array, key: JweKey & { alg: DirectAlgorithm }): string {
  const { kid, alg, enc } = key
  const agreement = alg === 'A256KW' ? undefined : agreeAnew(key.key)
  const wrapping = agreement ? deriveWrappingKey(agreement.shared, Buffer.alloc(0), Buffer.alloc(0)) : key.key
  const contentKey = randomBytes(32)
  const iv = randomBytes(12)
  const authenticated = encode(
    Buffer.from(JSON.stringify({ alg, enc, kid, ...(agreement && { epk: agreement.epk }) })),
  )
  const wrap = createCipheriv('id-aes256-wrap', wrapping, KEY_WRAP_IV)
  const encryptedKey = Buffer.concat([wrap.update(contentKey), wrap.final()])
  const cipher = createCipheriv('aes-256-gcm', contentKey, iv).setAAD(Buffer.from(authenticated))
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return [authenticated, ...[encryptedKey, iv, ciphertext, cipher.getAuthTag()].map(encode)].join('.')
}

const encode = (bytes: Buffer): string => bytes.toString('base64url')

function unwrap(wrapping: KeyObject | Buffer, encryptedKey: Buffer): Buffer | undefined {
  const decipher = createDecipheriv('id-aes256-wrap', wrapping, KEY_WRAP_IV)
  try {
    return Buffer.concat([decipher.update(encryptedKey), decipher.final()])
  } catch {
    return undefined
  }
}

/** Concat KDF of RFC 7518 §4.6.2 for 256 bits: one round. */
function deriveWrappingKey(shared: Buffer, apu: Buffer, apv: Buffer): Buffer {
  const hash = createHash('sha256').update(uint32(1)).update(shared)
  for (const info of [Buffer.from('ECDH-ES+A256KW'), apu, apv]) hash.update(uint32(info.length)).update(info)
  return hash.update(uint32(256)).digest()
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/**
 * The ECDH class reads a P-256 point and multiplies in half of the time that a KeyObject of it takes, whose import
 * multiplies once more by the order of the curve, which its cofactor of 1 makes needless. Kept as long as the key is.
 */
const agreements = new WeakMap<KeyObject, ECDH>()

function p256Agreement(key: KeyObject): ECDH {
  const known = agreements.get(key)
  if (known) return known
  const agreement = createECDH('prime256v1')
  agreement.setPrivateKey(Buffer.from(key.export({ format: 'jwk' }).d!, 'base64url'))
  agreements.set(key, agreement)
  return agreement
}

/** Undefined for a point off the curve or of low order: OpenSSL refuses both (RFC 8725 §3.4, RFC 7748 §6.1). */
function agree(key: KeyObject, epk: EphemeralKey): Buffer | undefined {
  const agreement = epk.crv === 'P-256' ? p256Agreement(key) : undefined
  try {
    if (agreement) return agreement.computeSecret(Buffer.concat([Buffer.of(4), epk.x, epk.y!]))
    return diffieHellman({ privateKey: key, publicKey: x25519Key(epk.x) })
  } catch {
    return undefined
  }
}

const x25519Key = (x: Buffer): KeyObject =>
  createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: encode(x) }, format: 'jwk' })

/** An ephemeral key for one encrypt to this public key, and what both sides will share. */
function agreeAnew(publicKey: KeyObject): { epk: object; shared: Buffer } {
  if (curveOf(publicKey) === 'X25519') {
    const pair = generateKeyPairSync('x25519')
    return {
      epk: pair.publicKey.export({ format: 'jwk' }),
      shared: diffieHellman({ privateKey: pair.privateKey, publicKey }),
    }
  }
  const ephemeral = createECDH('prime256v1')
  const point = ephemeral.generateKeys()
  const { x, y } = publicKey.export({ format: 'jwk' })
  const epk = { kty: 'EC', crv: 'P-256', x: encode(point.subarray(1, 33)), y: encode(point.subarray(33)) }
  const theirs = Buffer.concat([Buffer.of(4), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')])
  return { epk, shared: ephemeral.computeSecret(theirs) }
}
