import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPair,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto'
import { promisify } from 'node:util'
import { invariant } from '@svc/kernel/invariant'
import { decodeCanonical } from './base64url.ts'

/** Decision C1: the ways in which a content key may be carried (RFC 7518 §4). */
export type JweAlgorithm = 'ECDH-ES+A256KW' | 'RSA-OAEP-256' | 'A256KW'
export type JweCurve = 'P-256' | 'X25519'
export type JweKeyPairKind = JweCurve | 'RSA'

/** A key with the one algorithm that it serves. */
export interface JweKey {
  readonly kid: string
  readonly alg: JweAlgorithm
  readonly enc: 'A256GCM'
  readonly key: KeyObject
}

/** RFC 7518 §4.3 asks for 2048 at least; what is larger than 4096 costs more than it protects. */
const RSA_BITS = { min: 2048, max: 4096 }
const SECRET_BYTES = 32

export const isJweAlgorithm = (alg: unknown): alg is JweAlgorithm =>
  alg === 'ECDH-ES+A256KW' || alg === 'RSA-OAEP-256' || alg === 'A256KW'

/** A key id: 1 to 128 visible ASCII characters. */
export const isKid = (kid: unknown): kid is string =>
  typeof kid === 'string' && /^[\x21-\x7e]{1,128}$/.test(kid)

export function curveOf(key: KeyObject): JweCurve | undefined {
  if (key.asymmetricKeyType === 'x25519') return 'X25519'
  return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
    ? 'P-256'
    : undefined
}

/** Bits of an RSA modulus; 0 for any other key. */
export const modulusBits = (key: KeyObject): number =>
  key.asymmetricKeyType === 'rsa' ? (key.asymmetricKeyDetails?.modulusLength ?? 0) : 0

/** Whether the key is of the sort and size that the algorithm asks for. */
export function fitsAlgorithm(alg: JweAlgorithm, key: KeyObject): boolean {
  if (alg === 'A256KW') return key.type === 'secret' && key.symmetricKeySize === SECRET_BYTES
  if (key.type === 'secret') return false
  if (alg === 'ECDH-ES+A256KW') return curveOf(key) !== undefined
  const bits = modulusBits(key)
  return (
    bits >= RSA_BITS.min &&
    bits <= RSA_BITS.max &&
    bits % 8 === 0 &&
    key.asymmetricKeyDetails?.publicExponent === 65_537n
  )
}

export function newJweKeyPair(kind: JweKeyPairKind): { publicKey: KeyObject; privateKey: KeyObject } {
  if (kind === 'RSA') return generateKeyPairSync('rsa', { modulusLength: RSA_BITS.min })
  return kind === 'X25519'
    ? generateKeyPairSync('x25519')
    : generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

const generate = promisify(generateKeyPair)

/** The private half of an RSA pair (PKCS #8, DER), made beside other work: it takes up to a second of CPU. */
export const newRsaKey = async (): Promise<Buffer> =>
  (await generate('rsa', { modulusLength: RSA_BITS.min })).privateKey.export({ format: 'der', type: 'pkcs8' })

/** The public half as a JWK to publish (RFC 7517); it takes the pair's private key too, and shows nothing of it. */
export function publicJwk(kid: string, alg: JweAlgorithm, key: KeyObject): JsonWebKey {
  invariant(
    key.type !== 'secret' && fitsAlgorithm(alg, key),
    'only the public half of a fitting key pair is published',
  )
  const half = key.type === 'public' ? key : createPublicKey(key)
  return { ...half.export({ format: 'jwk' }), kid, alg, use: 'enc' }
}

/** A JWK that cannot be used; the message says why, and never what is in the key. */
export class UnusableJweKey extends Error {
  override name = 'UnusableJweKey'
}

const MEMBERS: Record<string, { public: readonly string[]; private: readonly string[] }> = {
  EC: { public: ['x', 'y'], private: ['d'] },
  OKP: { public: ['x'], private: ['d'] },
  RSA: { public: ['n', 'e'], private: ['d', 'p', 'q', 'dp', 'dq', 'qi'] },
  oct: { public: [], private: ['k'] },
}

/** What no public key has. */
export const PRIVATE_MEMBERS = [...Object.values(MEMBERS).flatMap((members) => members.private), 'oth']

/**
 * Reads a JWK of the kind that the caller expects: one who registers a public key must not hand us a private one.
 * `alg` may be left out, since each type of key serves one algorithm only. Throws UnusableJweKey.
 */
export function keyFromJwk(jwk: unknown, kind: KeyObject['type']): JweKey {
  const refuse = (why: string): never => {
    throw new UnusableJweKey(why)
  }
  if (typeof jwk !== 'object' || jwk === null) return refuse('A JWK is a JSON object')
  const parts: Record<string, unknown> = { ...jwk }
  const { kty, kid, use, enc, crv } = parts
  if (!isKid(kid)) return refuse('kid must be 1 to 128 visible ASCII characters')
  const alg = parts.alg ?? (kty === 'oct' ? 'A256KW' : kty === 'RSA' ? 'RSA-OAEP-256' : 'ECDH-ES+A256KW')
  if (!isJweAlgorithm(alg)) return refuse('alg must be ECDH-ES+A256KW, RSA-OAEP-256 or A256KW')
  if (use !== undefined && use !== 'enc') return refuse('use must be enc')
  if (enc !== undefined && enc !== 'A256GCM') return refuse('enc must be A256GCM')
  const members = typeof kty === 'string' && Object.hasOwn(MEMBERS, kty) ? MEMBERS[kty] : undefined
  if (!members) return refuse('kty must be EC, OKP, RSA or oct')
  if (kind === 'public' && members.private.some((name) => name in parts))
    return refuse('A public key is asked for; this JWK holds a secret part')
  const names = kind === 'public' ? members.public : [...members.public, ...members.private]
  const values = names.map((name) => [name, parts[name]])
  if (!values.every(([, value]) => typeof value === 'string' && decodeCanonical(value) !== undefined))
    return refuse(`A ${kind} ${String(kty)} key must have ${names.join(', ')} as canonical base64url`)
  const key =
    importJwk({ kty: String(kty), crv: String(crv), ...Object.fromEntries(values) }, kind) ??
    refuse('The key is not valid')
  if (key.type !== kind || !fitsAlgorithm(alg, key))
    return refuse(
      'The key must be P-256 or X25519, RSA of 2048 to 4096 bits with exponent 65537, or 32 secret bytes',
    )
  return { kid, alg, enc: 'A256GCM', key }
}

function importJwk(jwk: JsonWebKey, kind: KeyObject['type']): KeyObject | undefined {
  try {
    if (jwk.kty === 'oct') return createSecretKey(Buffer.from(jwk.k ?? '', 'base64url'))
    return kind === 'private'
      ? createPrivateKey({ key: jwk, format: 'jwk' })
      : createPublicKey({ key: jwk, format: 'jwk' })
  } catch {
    // OpenSSL's words name internals; what the caller can do about it is in ours.
    return undefined
  }
}
