import { Zip, ZipDeflate, ZipPassThrough } from 'fflate'

/** A file of an archive. */
export interface ZipFile {
  readonly name: string
  readonly content: Uint8Array | AsyncIterable<string>
  /** Compressed already, such as a picture: stored as it is. */
  readonly isCompressed?: boolean
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
    file.mtime = at
    archive.add(file)
    for await (const piece of piecesOf(content)) {
      file.push(piece)
      yield* ready.splice(0)
    }
    file.push(new Uint8Array(), true)
  }
  archive.end()
  yield* ready
}
