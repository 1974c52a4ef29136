/**
 * The mask of a QR code, as ISO/IEC 18004 section 7.8 chooses it: of the eight, the one whose symbol has the fewest
 * features that confuse scanners. The rules and weights are `qrcode`'s, which takes 0.6 ms to look at each module of each
 * by itself; here 32 of them are looked at together, in 0.1 ms.
 */

import { create, type QRCode, type QRCodeErrorCorrectionLevel, type QRCodeSegment } from 'qrcode'

type Matrix = QRCode['modules']

const MASKS = [0, 1, 2, 3, 4, 5, 6, 7] as const
const WORD = 32

/** The lines of a symbol, 32 modules to a word, the first in the lowest bit; a word of zeros ends each line. */
interface Lines {
  readonly rows: Int32Array
  readonly columns: Int32Array
}

/** What turns a symbol under mask 0 into the same symbol under another one. */
interface Change extends Lines {
  readonly modules: Uint8Array
}

const wordsOf = (size: number): number => Math.ceil(size / WORD) + 1

function linesOf(size: number, modules: Uint8Array): Lines {
  const words = wordsOf(size)
  const rows = new Int32Array(size * words)
  const columns = new Int32Array(size * words)
  for (let y = 0, at = 0; y < size; y++)
    for (let x = 0; x < size; x++, at++)
      if (modules[at] !== 0) {
        rows[y * words + (x >> 5)]! |= 1 << (x & 31)
        columns[x * words + (y >> 5)]! |= 1 << (y & 31)
      }
  return { rows, columns }
}

const changes = new Map<string, readonly Change[]>()

/** By what symbols of this size and correction differ from mask to mask, whatever they say: read from the library once. */
function changesOf(version: number, level: QRCodeErrorCorrectionLevel): readonly Change[] {
  const key = `${version} ${level}`
  const known = changes.get(key)
  if (known) return known
  const [first, ...others] = MASKS.map(
    (maskPattern) => create('0', { version, errorCorrectionLevel: level, maskPattern }).modules,
  )
  const made = [first!, ...others].map(({ size, data }) => {
    const modules = data.map((module, at) => module ^ first!.data[at]!)
    return { modules, ...linesOf(size, modules) }
  })
  changes.set(key, made)
  return made
}

function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Bits `shift` and on of a line, from a word of it and the next. */
const from = (shift: number, low: number, high: number): number => (low >>> shift) | (high << (WORD - shift))

/**
 * Points for runs of five and more, and for what looks like a finder pattern, in lines of one direction. Each bit of a
 * word stands for the window of up to eleven modules that begins there.
 */
function linePenalty(lines: Int32Array, change: Int32Array, size: number): number {
  const words = wordsOf(size)
  let runs = 0
  let finders = 0
  for (let line = 0; line < size; line++) {
    for (let word = 0; word < words - 1; word++) {
      const at = line * words + word
      const left = size - word * WORD
      const x = lines[at]! ^ change[at]!
      const next = lines[at + 1]! ^ change[at + 1]!
      // Beyond the end nothing is dark and nothing light.
      const light = ~x & upTo(left)
      const nextLight = ~next & upTo(left - WORD)
      runs += runPoints(x, next) + runPoints(light, nextLight)
      finders += finderCount(x, next, light, nextLight)
    }
  }
  return runs + 40 * finders
}

/** The lowest `count` bits. */
const upTo = (count: number): number => (count >= WORD ? -1 : count <= 0 ? 0 : (1 << count) - 1)

/** A run of n modules, five or more, counts n − 2: once for each five in a row, and two more where the last of them is. */
function runPoints(x: number, next: number): number {
  const pairs = x & from(1, x, next)
  if (pairs === 0) return 0
  const fives = pairs & from(2, x, next) & from(3, x, next) & from(4, x, next)
  return fives === 0 ? 0 : ones(fives) + 2 * ones(fives & ~from(5, x, next))
}

/** Dark, light, three dark, light, dark, with four light ones before or after. */
function finderCount(x: number, next: number, light: number, nextLight: number): number {
  const before = light & from(1, light, nextLight) & from(2, light, nextLight) & from(3, light, nextLight)
  return (
    (before === 0 ? 0 : ones(before & finderAt(4, x, next, light, nextLight))) +
    ones(
      finderAt(0, x, next, light, nextLight) &
        from(7, light, nextLight) &
        from(8, light, nextLight) &
        from(9, light, nextLight) &
        from(10, light, nextLight),
    )
  )
}

const finderAt = (shift: number, x: number, next: number, light: number, nextLight: number): number =>
  (shift === 0 ? x : from(shift, x, next)) &
  from(shift + 1, light, nextLight) &
  from(shift + 2, x, next) &
  from(shift + 3, x, next) &
  from(shift + 4, x, next) &
  from(shift + 5, light, nextLight) &
  from(shift + 6, x, next)

/** Points for squares of two by two, and for a share of dark modules other than a half. */
function areaPenalty(rows: Int32Array, change: Int32Array, size: number): number {
  const words = wordsOf(size)
  let squares = 0
  let dark = 0
  for (let row = 0; row < size; row++)
    for (let word = 0; word < words - 1; word++) {
      const at = row * words + word
      const x = rows[at]! ^ change[at]!
      dark += ones(x)
      if (row === size - 1) continue
      const next = rows[at + 1]! ^ change[at + 1]!
      const below = rows[at + words]! ^ change[at + words]!
      const nextBelow = rows[at + words + 1]! ^ change[at + words + 1]!
      const differ = (x ^ from(1, x, next)) | (below ^ from(1, below, nextBelow)) | (x ^ below)
      squares += ones(~differ & upTo(size - 1 - word * WORD))
    }
  return 3 * squares + 10 * Math.abs(Math.ceil((dark * 100) / (size * size) / 5) - 10)
}

/**
 * The symbol under the mask that suits it best; of equals, the first.
 * @throws Error when the segments do not fit any symbol of this correction level.
 */
export function bestMasked(segments: QRCodeSegment[], level: QRCodeErrorCorrectionLevel): Matrix {
  const { modules, version } = create(segments, { errorCorrectionLevel: level, maskPattern: 0 })
  const { size, data } = modules
  const { rows, columns } = linesOf(size, data)
  let best: Change | undefined
  let least = Number.POSITIVE_INFINITY
  for (const change of changesOf(version, level)) {
    let penalty = areaPenalty(rows, change.rows, size) + linePenalty(rows, change.rows, size)
    if (penalty < least) penalty += linePenalty(columns, change.columns, size)
    if (penalty < least) [best, least] = [change, penalty]
  }
  for (let at = 0; at < data.length; at++) data[at]! ^= best!.modules[at]!
  return modules
}
