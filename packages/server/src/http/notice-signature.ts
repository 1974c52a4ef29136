import { createHmac, timingSafeEqual } from 'node:crypto'

/** Header of a signed notice: `t=<unix seconds>,v1=<hex>`, several `v1` while keys are exchanged. */
export const SIGNATURE_HEADER = 'x-rail-signature'
/** A notice gets a flag when its time is further away than this, in milliseconds. */
export const TOLERANCE_MS = 300_000

const mac = (body: Uint8Array, key: string, seconds: number): Buffer =>
  createHmac('sha256', key).update(`${seconds}.`).update(body).digest()

/** Value of the signature header for a body, at a time in milliseconds. */
export function signNotice(body: Uint8Array, key: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1_000)
  return `t=${seconds},v1=${mac(body, key, seconds).toString('hex')}`
}

/** When a notice was signed, in milliseconds, if one of its signatures was made with one of the live keys. */
export function signedAtMs(body: Uint8Array, header: string, keys: readonly string[]): number | undefined {
  // A list may end with an empty element (RFC 9110 section 5.6.1.2): clients that join header fields leave one.
  const match = /^t=(\d{1,12})((?:,v1=[0-9a-f]{64}){1,4})(?:, ?)?$/.exec(header)
  if (!match) return undefined
  const seconds = Number(match[1])
  const given = match[2]!.split(',v1=').slice(1)
  const isSigned = keys.some((key) => {
    const expected = mac(body, key, seconds)
    return given.some((hex) => timingSafeEqual(Buffer.from(hex, 'hex'), expected))
  })
  return isSigned ? seconds * 1_000 : undefined
}

/** Whether a text is the HMAC-SHA-256 of the body under one of the keys, in this encoding. */
export function isMacOf(
  body: Uint8Array,
  given: string,
  keys: readonly string[],
  encoding: 'hex' | 'base64',
): boolean {
  const bytes = Buffer.from(given.trim(), encoding)
  return keys.some((key) => {
    const expected = createHmac('sha256', key).update(body).digest()
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
}
