import { createHmac, timingSafeEqual } from 'node:crypto'

/** Header of a signed notice: `t=<unix seconds>,v1=<hex>`, several `v1` while keys are exchanged. */
export const SIGNATURE_HEADER = 'x-rail-signature'
/** A notice is refused when its time is further away than this, in seconds. */
export const TOLERANCE_SECONDS = 300

const mac = (body: Uint8Array, key: string, seconds: number): Buffer =>
  createHmac('sha256', key).update(`${seconds}.`).update(body).digest()

/** Value of the signature header for a body, at a time in milliseconds. */
export function signNotice(body: Uint8Array, key: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1_000)
  return `t=${seconds},v1=${mac(body, key, seconds).toString('hex')}`
}

/** Whether one of the signatures was made with one of the live keys, lately enough. */
export function isSigned(body: Uint8Array, header: string, keys: readonly string[], nowMs: number): boolean {
  const match = /^t=(\d{1,12})((?:,v1=[0-9a-f]{64}){1,4})$/.exec(header)
  if (!match) return false
  const seconds = Number(match[1])
  if (Math.abs(nowMs / 1_000 - seconds) > TOLERANCE_SECONDS) return false
  const given = match[2]!.split(',v1=').slice(1)
  return keys.some((key) => {
    const expected = mac(body, key, seconds)
    return given.some((hex) => timingSafeEqual(Buffer.from(hex, 'hex'), expected))
  })
}
