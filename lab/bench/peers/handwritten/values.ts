import { randomBytes } from 'node:crypto'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Random bytes are drawn in pages: one draw costs as much as 4 kB of it. */
let page = randomBytes(4_096)
let used = 0

function random(size: number): Buffer {
  if (used + size > page.length) {
    page = randomBytes(4_096)
    used = 0
  }
  used += size
  return page.subarray(used - size, used)
}

/** `<prefix>_` and 26 characters: milliseconds, then 80 random bits, so that later ids sort later. */
export function newId(prefix: string): string {
  let time = ''
  for (let rest = Date.now(), i = 0; i < 10; i++) {
    time = ALPHABET[rest % 32] + time
    rest = Math.floor(rest / 32)
  }
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of random(10)) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(held >> bits) & 31]
    }
    held &= (1 << bits) - 1
  }
  return `${prefix}_${time}${text}`
}

export const randomDigit = (): number => {
  for (;;) {
    const byte = random(1)[0] ?? 0
    // Bytes from 250 on are dropped, so that every digit is equally likely.
    if (byte < 250) return byte % 10
  }
}

/** India has one zone, and no summer time. */
const INDIA_MS = 5.5 * 3_600_000
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const inIndia = (at: Date): Date => new Date(at.getTime() + INDIA_MS)

/** `2026-04-01T15:04:05.123+05:30`. */
export const rfc3339 = (at: Date): string => inIndia(at).toISOString().replace('Z', '+05:30')
/** `2026-04-01 15:04:05`. */
export const plainTimestamp = (at: Date): string => inIndia(at).toISOString().slice(0, 19).replace('T', ' ')
/** `2026-04-01`. */
export const businessDay = (at: Date): string => inIndia(at).toISOString().slice(0, 10)
/** `Apr 1, 2026 3:04:05 PM`. */
export function textTimestamp(at: Date): string {
  const wall = inIndia(at)
  const hour = wall.getUTCHours()
  const clock = `${hour % 12 || 12}${wall.toISOString().slice(13, 19)} ${hour < 12 ? 'AM' : 'PM'}`
  return `${MONTHS[wall.getUTCMonth()]} ${wall.getUTCDate()}, ${wall.getUTCFullYear()} ${clock}`
}

export const rupees = (paise: bigint): number => Number(paise) / 100

/** Rupees with at most two decimals, as text or number, in paise; `undefined` for everything else. */
export function paiseOf(value: unknown): bigint | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const match = /^(\d{1,15})(?:\.(\d{1,2}))?$/.exec(String(value).trim())
  return match ? BigInt(`${match[1]}${(match[2] ?? '').padEnd(2, '0')}`) : undefined
}
