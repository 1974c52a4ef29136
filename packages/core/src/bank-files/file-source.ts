import { createHash } from 'node:crypto'

/** A file of the bank, which is read more than once. */
export interface FileSource {
  readonly name: string
  readonly bytes: () => AsyncIterable<Uint8Array>
}

export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const
export type Encoding = (typeof ENCODINGS)[number]

export interface InspectedFile {
  /** SHA-256 of its bytes, in hex. */
  readonly hash: string
  readonly encoding: Encoding
}

/** A file that cannot be read as a whole, or may not be; the message is for people. */
export class FileRejected extends Error {
  override name = 'FileRejected'
}

/** It is written in another way than the format says. */
export class ColumnMissing extends FileRejected {
  override name = 'ColumnMissing'
}

/** What begins so is no text; people save it under any name. */
const FOREIGN: readonly (readonly [magic: string, what: string])[] = [
  ['504b0304', 'a spreadsheet (XLSX) or a ZIP archive'],
  ['d0cf11e0', 'a spreadsheet (XLS)'],
  ['25504446', 'a PDF document'],
  ['1f8b', 'compressed (GZIP)'],
]

/** Reads the bytes once: which they are, and in which encoding. */
export async function inspectFile({ name, bytes }: FileSource, given?: Encoding): Promise<InspectedFile> {
  const hash = createHash('sha256')
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  let first: Buffer | undefined
  let isUtf8 = true
  for await (const part of bytes()) {
    hash.update(part)
    first ??= Buffer.from(part)
    isUtf8 &&= decodes(utf8, part)
  }
  isUtf8 &&= decodes(utf8)
  const start = first ?? Buffer.alloc(0)
  const foreign = FOREIGN.find(([magic]) => start.toString('hex', 0, 4).startsWith(magic))
  if (foreign) throw new FileRejected(`${name} is ${foreign[1]}. Export it as CSV`)
  return { hash: hash.digest('hex'), encoding: given ?? encodingOf(start, isUtf8) }
}

function decodes(decoder: InstanceType<typeof TextDecoder>, part?: Uint8Array): boolean {
  try {
    decoder.decode(part, { stream: part !== undefined })
    return true
  } catch {
    return false
  }
}

/** By its byte order mark, else by where its first characters have zeros, else by whether it is UTF-8. */
function encodingOf(start: Buffer, isUtf8: boolean): Encoding {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le'
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be'
  const zeros = [0, 0]
  for (const [i, byte] of start.subarray(0, 64).entries()) if (byte === 0) zeros[i % 2]!++
  if (zeros[1]! > 8 && zeros[0] === 0) return 'utf-16le'
  if (zeros[0]! > 8 && zeros[1] === 0) return 'utf-16be'
  return isUtf8 ? 'utf-8' : 'windows-1252'
}

/** The text, without a byte order mark. */
export async function* textOf({ bytes }: FileSource, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  for await (const part of bytes()) yield decoder.decode(part, { stream: true })
  yield decoder.decode()
}
