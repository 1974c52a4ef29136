import { canonicalReference } from './bank-reference.ts'
import { type Reading, readText, unreadable } from './reading.ts'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Where chance comes from; tests and the simulation give a seeded one. */
export type RandomBytes = (size: number) => Uint8Array

/** The same source, drawn from in large pieces: a draw of a few bytes costs far more than the bytes. None is used twice. */
export function inPieces(random: RandomBytes, pieceBytes = 4_096): RandomBytes {
  let piece: Uint8Array = new Uint8Array(0)
  let used = 0
  return (size) => {
    if (used + size > piece.length) {
      piece = random(Math.max(size, pieceBytes))
      used = 0
    }
    used += size
    return piece.subarray(used - size, used)
  }
}

/** Crockford base 32 in lower case; bits that do not fill a character are dropped. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(held >> bits) & 31]!
    }
    held &= (1 << bits) - 1
  }
  return text
}

/**
 * 26 characters of Crockford base 32: 48 bits of time in milliseconds, then 80 random bits (the layout of a
 * ULID), so that ids made later sort later and index pages stay warm.
 */
export const sortableId = (nowMs: number, random: RandomBytes): string => timeOfId(nowMs) + base32(random(10))

/** When an id was created, in milliseconds; its prefix is of any length. */
export function createdMs(id: string): number {
  const time = id.slice(id.lastIndexOf('_') + 1).slice(0, 10)
  return [...time].reduce((ms, character) => ms * 32 + ALPHABET.indexOf(character), 0)
}

/** The first ten characters of ids created at this millisecond. */
export function timeOfId(nowMs: number): string {
  let text = ''
  let time = nowMs
  for (let i = 0; i < 10; i++) {
    text = ALPHABET[time % 32]! + text
    time = Math.floor(time / 32)
  }
  return text
}

/** Reads one of our ids as others write it back, in either case: without its prefix it names nothing here. */
export function readId(value: unknown, prefix: string): Reading<string> {
  const text = readText(value)
  if ('unreadable' in text) return text
  const canonical = canonicalReference(text.value).toLowerCase()
  return canonical.startsWith(prefix) && canonical.length > prefix.length
    ? { value: `${prefix}_${canonical.slice(prefix.length)}` }
    : unreadable(`is none of our ids, which begin with ${prefix}_`)
}
