import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { readSignature, signatureElements } from '@svc/kernel/signature-bytes'

/** Header of a signed notice: `t=<unix seconds>,v1=<hex>`, several `v1` while keys are exchanged. */
export const SIGNATURE_HEADER = 'x-rail-signature'
/** A notice gets a flag when its time is further away than this, in milliseconds. */
export const TOLERANCE_MS = 300_000

/** Several, while keys are exchanged. */
const SIGNATURES_MAX = 4

function macBytes(text: string): Uint8Array[] {
  const read = readSignature(text, 32)
  return 'value' in read ? [read.value] : []
}

/** `seconds`: as it is written in the header. */
const mac = (body: Uint8Array, key: string, seconds: number | string): Buffer =>
  createHmac('sha256', key).update(`${seconds}.`).update(body).digest()

/** Value of the signature header for a body, at a time in milliseconds. */
export function signNotice(body: Uint8Array, key: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1_000)
  return `t=${seconds},v1=${mac(body, key, seconds).toString('hex')}`
}

/** When a notice was signed, in milliseconds, if one of its signatures was made with one of the live keys. */
export function signedAtMs(body: Uint8Array, header: string, keys: readonly string[]): number | undefined {
  const elements = signatureElements(header)
  const [time = '', ...others] = elements.get('t') ?? []
  const given = (elements.get('v1') ?? []).slice(0, SIGNATURES_MAX).flatMap(macBytes)
  // Which of two times was signed would be a guess.
  if (!/^\d{1,12}$/.test(time) || others.length > 0) return undefined
  const isSigned = keys.some((key) => {
    const expected = mac(body, key, time)
    return given.some((bytes) => timingSafeEqual(bytes, expected))
  })
  return isSigned ? Number(time) * 1_000 : undefined
}

/** What a signature was made over, under one key: a plain digest has the key among what it covers. */
export type SignedText = (secret: string) => Uint8Array

/** Whether a text is the digest of what was signed under one of the keys, in hex or Base64. */
export function isDigestOf(
  signedText: SignedText,
  given: string,
  keys: readonly string[],
  digest: 'hmac-sha256' | 'hmac-sha512' | 'sha256' | 'sha512',
): boolean {
  const algorithm = digest.replace('hmac-', '')
  const read = readSignature(given, algorithm === 'sha256' ? 32 : 64)
  return keys.some((key) => {
    const hash = digest === algorithm ? createHash(algorithm) : createHmac(algorithm, key)
    return 'value' in read && timingSafeEqual(read.value, hash.update(signedText(key)).digest())
  })
}
