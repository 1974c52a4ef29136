import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { extract, pack } from 'tar-stream'

/** Increased when an older program could not restore what a newer one writes. */
export const FORMAT_VERSION = 1
export const MANIFEST = 'manifest.json'
export const SIGNATURE = 'signature.json'

/** One file of the archive: rows of a table in PostgreSQL's text format for COPY, compressed with gzip. */
export interface Chunk {
  readonly file: string
  /** Of the compressed bytes, in hex. */
  readonly sha256: string
  /** Before compression. */
  readonly bytes: number
}

export interface ArchivedTable {
  readonly name: string
  readonly columns: readonly string[]
  readonly partitions?: readonly string[]
  readonly rows: number
  readonly chunks: readonly Chunk[]
}

/** What an archive says of itself, the last entry but one. Tables are in an order in which they can be filled. */
export interface Manifest {
  readonly format: 'svc-backup'
  readonly formatVersion: number
  readonly serviceVersion: string
  readonly postgres: string
  /** RFC 3339: the instant of the snapshot. */
  readonly createdAt: string
  /** The schema: every migration that had been run, in order. */
  readonly migrations: readonly string[]
  /** Public names of the master keys without which the data keys cannot be opened. */
  readonly masterKeys: readonly string[]
  /** That of the master key that signed it. */
  readonly signedBy: string
  readonly tables: readonly ArchivedTable[]
  readonly sequences: readonly { readonly name: string; readonly value: string; readonly called: boolean }[]
}

/** The last entry: a digest of everything before it, and its signature with a key derived from the master key. */
export interface BackupSignature {
  readonly sha256: string
  readonly masterKey: string
  readonly hmac: string
}

/** The archive is damaged, is not an archive of svc, or is of a newer version. Its message is for people. */
export class InvalidArchive extends Error {
  override name = 'InvalidArchive'
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const END = Buffer.alloc(1_024)

/** One entry as it lies in the archive: header, content, padding. Nothing in it depends on when or by whom. */
export async function entryBytes(name: string, content: Buffer): Promise<Buffer> {
  const tar = pack()
  tar.entry({ name, mode: 0o600, mtime: new Date(0) }, content)
  tar.finalize()
  const parts: Buffer[] = []
  for await (const part of tar) parts.push(part as Buffer)
  const whole = Buffer.concat(parts)
  return whole.subarray(0, whole.length - END.length)
}

/** The end of an archive: always as long, so that the size of a file determines where it begins. */
export const tailOf = async (signature: BackupSignature): Promise<Buffer> =>
  Buffer.concat([await entryBytes(SIGNATURE, Buffer.from(JSON.stringify(signature))), END])

const LARGEST_ENTRY = 64 * 1024 * 1024
/** Of a million chunks. */
const LARGEST_MANIFEST = 256 * 1024 * 1024

type OnEntry = (name: string, content: Buffer) => Promise<void> | void

/** Reads an archive from beginning to end; an entry at a time is in memory. */
export async function readEntries(file: string, onEntry: OnEntry): Promise<void> {
  const tar = extract()
  tar.on('entry', (header, stream, goOn) => {
    const most = header.name === MANIFEST ? LARGEST_MANIFEST : LARGEST_ENTRY
    if (header.type !== 'file' || (header.size ?? 0) > most)
      return tar.destroy(new InvalidArchive('an entry is of no known table'))
    const parts: Buffer[] = []
    stream.on('data', (part) => parts.push(part as Buffer))
    stream.on('error', goOn)
    stream.on('end', () => {
      Promise.resolve()
        .then(() => onEntry(header.name, Buffer.concat(parts)))
        .then(() => goOn(), goOn)
    })
  })
  try {
    await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), tar)
  } catch (error) {
    if (error instanceof InvalidArchive || (error as NodeJS.ErrnoException).code === 'ENOENT') throw error
    if (error instanceof Error && /tar|Unexpected end/i.test(error.message))
      throw new InvalidArchive(`it is not a whole tar file (${error.message})`)
    throw error
  }
}

/** SHA-256 of the first `length` bytes of a file, and what comes after them. */
export async function digestOf(file: string, length: number): Promise<{ digest: string; rest: Buffer }> {
  const hash = createHash('sha256')
  if (length > 0) await pipeline(createReadStream(file, { end: length - 1, highWaterMark: 1 << 20 }), hash)
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    const rest = Buffer.alloc(size - length)
    await handle.read(rest, 0, rest.length, length)
    return { digest: hash.digest('hex'), rest }
  } finally {
    await handle.close()
  }
}
