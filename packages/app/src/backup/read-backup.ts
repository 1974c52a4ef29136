import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { MasterKeys } from '@svc/platform/crypto/master-keys'
import {
  type BackupSignature,
  type Chunk,
  digestOf,
  FORMAT_VERSION,
  InvalidArchive,
  MANIFEST,
  type Manifest,
  readEntries,
  SIGNATURE,
  sha256,
  tailOf,
} from './archive.ts'

export interface Verified {
  readonly manifest: Manifest
  /** `false`: the master key that signed it is not among ours, so its origin is unknown. */
  readonly signed: boolean
}

const decompress = promisify(gunzip)

function parsed(text: Buffer, what: string): unknown {
  try {
    return JSON.parse(text.toString())
  } catch {
    throw new InvalidArchive(`its ${what} cannot be read`)
  }
}

/** Reads every byte of an archive. Throws `InvalidArchive` when one is not as it was written. */
export async function verifyBackup(file: string, masterKeys: MasterKeys): Promise<Verified> {
  const seen = new Map<string, string>()
  let manifest: Manifest | undefined
  let signature: BackupSignature | undefined
  await readEntries(file, (name, content) => {
    if (signature) throw new InvalidArchive('something comes after its end')
    if (name === SIGNATURE) signature = parsed(content, 'signature') as BackupSignature
    else if (name === MANIFEST) manifest = parsed(content, 'manifest') as Manifest
    else seen.set(name, sha256(content))
  })
  if (!manifest || !signature) throw new InvalidArchive('it is no backup of svc, or not a whole one')
  await checkSignature(file, signature)
  const signed = masterKeys.signed(signature.sha256, signature.masterKey, signature.hmac)
  // What a key that is unknown here has signed cannot be checked; its name stands in the manifest, too.
  if (signed === false || manifest.signedBy !== signature.masterKey)
    throw new InvalidArchive('its signature is wrong: it was changed')
  if (manifest.format !== 'svc-backup') throw new InvalidArchive('it is no backup of svc')
  if (manifest.formatVersion > FORMAT_VERSION)
    throw new InvalidArchive(
      `it has format ${manifest.formatVersion}, and this program knows formats up to ${FORMAT_VERSION}. Use svc ${manifest.serviceVersion} or later`,
    )
  const chunks = manifest.tables.flatMap((table) => table.chunks)
  if (chunks.length !== seen.size || chunks.some((chunk) => seen.get(chunk.file) !== chunk.sha256))
    throw new InvalidArchive('its tables are not those of its manifest')
  return { manifest, signed: signed === true }
}

/** Every byte counts: those before the signature by their digest, those of the signature because there is one way to write it. */
async function checkSignature(file: string, signature: BackupSignature): Promise<void> {
  const tail = await tailOf(signature)
  const { size } = await stat(file)
  const { digest, rest } = await digestOf(file, Math.max(0, size - tail.length))
  if (digest !== signature.sha256 || !rest.equals(tail))
    throw new InvalidArchive('its checksum is wrong: it was damaged or changed')
}

/** The rows of the archive, chunk by chunk, each checked once more: the file may have been changed since. */
export function readRows(
  file: string,
  { tables }: Manifest,
  onRows: (table: string, text: Buffer) => Promise<void>,
): Promise<void> {
  const known = new Map<string, { table: string; chunk: Chunk }>(
    tables.flatMap(({ name, chunks }) => chunks.map((chunk) => [chunk.file, { table: name, chunk }])),
  )
  return readEntries(file, async (name, content) => {
    if (name === MANIFEST || name === SIGNATURE) return
    const entry = known.get(name)
    if (!entry || sha256(content) !== entry.chunk.sha256)
      throw new InvalidArchive('it has changed since it was verified')
    const text = await decompress(content, { maxOutputLength: Math.max(1, entry.chunk.bytes) })
    if (text.length !== entry.chunk.bytes) throw new InvalidArchive('it has changed since it was verified')
    await onRows(entry.table, text)
  })
}
