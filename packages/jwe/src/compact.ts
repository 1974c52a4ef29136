import { parseStrictJson } from '@svc/kernel/strict-json'
import { decodeCanonical } from './base64url.ts'
import { DecryptionFailed, type JweClaims, type JweErrorReason } from './jwe-error.ts'
import { isJweAlgorithm, isKid, type JweAlgorithm, type JweCurve, PRIVATE_MEMBERS } from './keys.ts'

export const JWE_CHARS_MAX = 65_536
const HEADER_CHARS_MAX = 2_048
const PARTY_BYTES_MAX = 128
const TYPE_CHARS_MAX = 100
const IV_BYTES = 12
const TAG_BYTES = 16
/** A 32-byte content key under AES key wrap (RFC 3394). */
const WRAPPED_KEY_BYTES = 40

/** The sender's ephemeral public key, of the right form; not yet known to be a point of its curve. */
export interface EphemeralKey {
  readonly crv: JweCurve
  readonly x: Buffer
  /** P-256 only. */
  readonly y?: Buffer
}

/** What ECDH-ES agrees on a key with (RFC 7518 §4.6.1). */
interface KeyAgreement {
  readonly epk: EphemeralKey
  readonly apu: Buffer
  readonly apv: Buffer
}

export interface JweHeader {
  readonly alg: JweAlgorithm
  readonly enc: 'A256GCM'
  readonly kid: string
  readonly claims: BoundTo
  /** Present exactly when `alg` is ECDH-ES+A256KW. */
  readonly agreement?: KeyAgreement
}

/** What its sender bound a JWE to, by members of the protected header; absent means not bound. */
export interface BoundTo {
  /** When it was created, in seconds since 1970 (RFC 7519 §4.1.6). */
  readonly iat?: number
  /** The path of the request that it is the body of, in the manner of RFC 8555 §6.4. */
  readonly url?: string
}

/** A compact JWE (RFC 7516 §7.1), taken apart; nothing in it is proved yet. */
export interface CompactJwe {
  readonly header: JweHeader
  /** The protected header as it was sent: what the tag also covers. */
  readonly authenticated: string
  readonly encryptedKey: Buffer
  readonly iv: Buffer
  readonly ciphertext: Buffer
  readonly tag: Buffer
}

/** Every check that needs no key, so that a hostile header costs no key work (decision C1). Throws DecryptionFailed. */
export function readCompactJwe(text: string): CompactJwe {
  if (text.length > JWE_CHARS_MAX) throw new DecryptionFailed('too_large')
  const parts = text.split('.', 6)
  if (parts.length !== 5) throw new DecryptionFailed('not_jwe')
  if (parts[0]!.length > HEADER_CHARS_MAX)
    throw new DecryptionFailed('header', `it is longer than ${HEADER_CHARS_MAX} characters`)
  const [protectedBytes, encryptedKey, iv, ciphertext, tag] = parts.map((part) => {
    const bytes = decodeCanonical(part)
    if (!bytes) throw new DecryptionFailed('not_canonical')
    return bytes
  }) as [Buffer, Buffer, Buffer, Buffer, Buffer]
  const header = readHeader(protectedBytes)
  const reject = (why: string) => new DecryptionFailed('not_jwe', why, header)
  if (iv.length !== IV_BYTES) throw reject('the initialization vector must have 96 bits')
  if (tag.length !== TAG_BYTES) throw reject('the tag must have 128 bits')
  if (header.alg !== 'RSA-OAEP-256' && encryptedKey.length !== WRAPPED_KEY_BYTES)
    throw reject(`the encrypted key must have ${WRAPPED_KEY_BYTES} bytes`)
  return { header, authenticated: parts[0]!, encryptedKey, iv, ciphertext, tag }
}

const MEMBERS = ['alg', 'enc', 'kid', 'typ', 'cty', 'iat', 'url']
const URL_CHARS_MAX = 500
const AGREEMENT_MEMBERS = [...MEMBERS, 'epk', 'apu', 'apv']
/** Registered members that are refused by name, so that their sender learns which one it was. */
const REFUSED = 'zip crit jku jwk x5u x5c x5t x5t#S256 p2s p2c iv tag b64 epk apu apv iss sub aud'.split(' ')

function readHeader(bytes: Buffer): JweHeader {
  const header = parseHeader(bytes)
  const { alg, enc, kid } = header
  const claims: JweClaims = {
    kid: isKid(kid) ? kid : undefined,
    alg: typeof alg === 'string' && /^[\w+.-]{1,32}$/.test(alg) ? alg : undefined,
  }
  const reject = (reason: JweErrorReason, why?: string) => new DecryptionFailed(reason, why, claims)
  if (typeof alg !== 'string' || typeof enc !== 'string') throw reject('header', 'alg and enc are required')
  if (!isJweAlgorithm(alg) || enc !== 'A256GCM') throw reject('algorithm')
  const allowed = alg === 'ECDH-ES+A256KW' ? AGREEMENT_MEMBERS : MEMBERS
  const foreign = Object.keys(header).find((name) => !allowed.includes(name))
  if (foreign !== undefined)
    throw reject('header', `it has ${REFUSED.includes(foreign) ? foreign : 'a member'} that is not allowed`)
  if (!isKid(kid)) throw reject('header', 'kid is required, 1 to 128 visible ASCII characters')
  for (const name of ['typ', 'cty']) {
    const value = header[name]
    if (value !== undefined && (typeof value !== 'string' || value.length > TYPE_CHARS_MAX))
      throw reject('header', `${name} must be a string of at most ${TYPE_CHARS_MAX} characters`)
  }
  const bound = readBound(header)
  if (typeof bound === 'string') throw reject('header', bound)
  if (alg !== 'ECDH-ES+A256KW') return { alg, enc, kid, claims: bound }
  const agreement = readAgreement(header)
  if (typeof agreement === 'string') throw reject('header', agreement)
  return { alg, enc, kid, claims: bound, agreement }
}

/** Returns in words what is wrong. */
function readBound({ iat, url }: Record<string, unknown>): BoundTo | string {
  if (iat !== undefined && (typeof iat !== 'number' || !Number.isSafeInteger(iat) || iat < 0))
    return 'iat must be a whole number of seconds since 1970'
  if (url !== undefined && (typeof url !== 'string' || url.length > URL_CHARS_MAX))
    return `url must be a string of at most ${URL_CHARS_MAX} characters`
  return { ...(iat !== undefined && { iat }), ...(url !== undefined && { url }) }
}

function parseHeader(bytes: Buffer): Record<string, unknown> {
  let value: unknown
  try {
    value = parseStrictJson(bytes)
  } catch {
    throw new DecryptionFailed('header', 'it is not strict JSON, with each member once')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DecryptionFailed('header', 'it is not a JSON object')
  return value as Record<string, unknown>
}

/** RFC 7518 §4.6.1. Returns in words what is wrong. */
function readAgreement(header: Record<string, unknown>): KeyAgreement | string {
  const epk = readEphemeralKey(header.epk)
  if (!epk)
    return 'epk must be a public key on P-256 (kty, crv, x, y) or X25519 (kty, crv, x), without a private part'
  const [apu, apv] = [header.apu, header.apv].map((party) => {
    if (party === undefined) return Buffer.alloc(0)
    const bytes = typeof party === 'string' ? decodeCanonical(party) : undefined
    return bytes && bytes.length <= PARTY_BYTES_MAX ? bytes : undefined
  })
  if (!apu || !apv) return `apu and apv must be canonical base64url of at most ${PARTY_BYTES_MAX} bytes`
  // RFC 7518 §4.6.2 asks for it.
  if (header.apu !== undefined && header.apu === header.apv) return 'apu and apv must differ'
  return { epk, apu, apv }
}

/**
 * RFC 7518 §4.6.1.1: the key has public members only; others, such as `kid` or `use`, may be ignored.
 */
function readEphemeralKey(epk: unknown): EphemeralKey | undefined {
  if (typeof epk !== 'object' || epk === null) return undefined
  const { kty, crv, x: xText, y: yText } = epk as Record<string, unknown>
  if (PRIVATE_MEMBERS.some((name) => name in epk)) return undefined
  const x = readCoordinate(xText)
  if (!x) return undefined
  if (kty === 'OKP' && crv === 'X25519' && !('y' in epk)) return { crv, x }
  const y = readCoordinate(yText)
  return kty === 'EC' && crv === 'P-256' && y ? { crv, x, y } : undefined
}

/** Both curves have coordinates of 32 bytes, leading zeros kept (RFC 7518 §6.2.1.2). */
function readCoordinate(text: unknown): Buffer | undefined {
  const bytes = typeof text === 'string' ? decodeCanonical(text) : undefined
  return bytes?.length === 32 ? bytes : undefined
}
