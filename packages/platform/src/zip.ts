import { Zip, ZipDeflate, ZipPassThrough } from 'fflate'

/** A file of an archive. */
export interface ZipFile {
  readonly name: string
  readonly content: Uint8Array | AsyncIterable<string>
  /** Compressed already, such as a picture: stored as it is. */
  readonly isCompressed?: boolean
}

/** The extended timestamp of Info-ZIP: an instant in seconds, where a ZIP file's own time has no zone. */
const TIMESTAMP = 0x5455
const HAS_MODIFIED = 1

/**
 * When a file was made. `fflate` writes the time of the machine's zone: noon of the day by UTC is there in every zone, so the
 * same files are the same bytes on every machine, and the instant stands beside it.
 */
function timesOf(at: Date) {
  const instant = Buffer.alloc(5, HAS_MODIFIED)
  instant.writeUInt32LE(Math.floor(at.getTime() / 1000), 1)
  const mtime = new Date(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), 12)
  return { mtime, extra: { [TIMESTAMP]: new Uint8Array(instant) } }
}

/** So much text is compressed at once. */
const PIECE_CHARS = 65_536

async function* piecesOf(content: ZipFile['content']): AsyncGenerator<Uint8Array> {
  if (content instanceof Uint8Array) return yield content
  let text = ''
  for await (const part of content) {
    text += part
    if (text.length < PIECE_CHARS) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(text)
}

/** Files as one ZIP archive, piece by piece: memory stays flat, whatever its size. */
export async function* zip(
  files: Iterable<ZipFile> | AsyncIterable<ZipFile>,
  at: Date,
): AsyncGenerator<Uint8Array> {
  const ready: Uint8Array[] = []
  const archive = new Zip((error, piece) => {
    if (error) throw error
    ready.push(piece)
  })
  for await (const { name, content, isCompressed = false } of files) {
    const file = isCompressed ? new ZipPassThrough(name) : new ZipDeflate(name)
    archive.add(Object.assign(file, timesOf(at)))
    for await (const piece of piecesOf(content)) {
      file.push(piece)
      yield* ready.splice(0)
    }
    file.push(new Uint8Array(), true)
  }
  archive.end()
  yield* ready
}
