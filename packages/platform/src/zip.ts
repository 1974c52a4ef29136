import { crc32, deflateRawSync } from 'node:zlib'

/** A file of an archive. */
export interface ZipFile {
  readonly name: string
  readonly bytes: Buffer
  /** Compressed already, such as a picture: stored as it is. */
  readonly isCompressed?: boolean
}

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
const VERSION = 20
const UTF8 = 0x800
const STORED = 0
const DEFLATED = 8

/** Two bytes each of time and day, as MS-DOS has them. */
function dosTime(at: Date): number {
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)
  const day = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()
  return ((day << 16) | time) >>> 0
}

const numbers = (...fields: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer =>
  Buffer.concat(
    fields.map(([bytes, value]) => {
      const field = Buffer.alloc(bytes)
      if (bytes === 2) field.writeUInt16LE(value)
      else field.writeUInt32LE(value)
      return field
    }),
  )

/** Files as one ZIP archive (APPNOTE 6.3.3). */
export function zip(files: readonly ZipFile[], at: Date): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { bytes, isCompressed = false, name } of files) {
    const data = isCompressed ? bytes : deflateRawSync(bytes)
    const encoded = Buffer.from(name)
    const facts = numbers(
      [2, UTF8],
      [2, isCompressed ? STORED : DEFLATED],
      [4, dosTime(at)],
      [4, crc32(bytes)],
      [4, data.length],
      [4, bytes.length],
      [2, encoded.length],
      [2, 0],
    )
    const local = Buffer.concat([numbers([4, LOCAL], [2, VERSION]), facts, encoded, data])
    const place = numbers([2, 0], [2, 0], [2, 0], [4, 0], [4, offset])
    directory.push(numbers([4, CENTRAL], [2, VERSION], [2, VERSION]), facts, place, encoded)
    parts.push(local)
    offset += local.length
  }
  const listed = Buffer.concat(directory)
  const end = numbers(
    [4, END],
    [2, 0],
    [2, 0],
    [2, files.length],
    [2, files.length],
    [4, listed.length],
    [4, offset],
    [2, 0],
  )
  return Buffer.concat([...parts, listed, end])
}
