import { createHash, randomBytes } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { MasterKeys } from '@svc/platform/crypto/master-keys'
import { connectionOptions, type DatabaseAddress } from '@svc/platform/db/connection-options'
import { DatabaseClient } from '@svc/platform/db/server-locator'
import { syncFolder } from '@svc/platform/write-whole'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import {
  type ArchivedTable,
  type Chunk,
  entryBytes,
  FORMAT_VERSION,
  MANIFEST,
  type Manifest,
  sha256,
  tailOf,
} from './archive.ts'
import { AS_OWNER, quoted, sequencesOf, type Table, tablesOf } from './catalogue.ts'

/** Before compression; with a row more in memory at a time, whatever the size of the tables. */
const CHUNK_BYTES = 4 * 1024 * 1024
const NEWLINE = 10
const compress = promisify(gzip)

/** How far a backup or a restore is. */
export interface Progress {
  readonly table: string
  /** So far, of all tables. */
  readonly bytes: number
}

export interface BackupOptions {
  readonly address: DatabaseAddress
  readonly masterKeys: MasterKeys
  readonly serviceVersion: string
  readonly file: string
  readonly onProgress?: (progress: Progress) => void
}

/**
 * Writes everything that the database holds, as it was at one instant, while the service runs: it takes no lock that a
 * request would wait for. The file is there whole, readable to its owner only, or not at all.
 */
export async function writeBackup(options: BackupOptions): Promise<Manifest> {
  const { address, file } = options
  const part = `${file}.${randomBytes(4).toString('hex')}.part`
  const client = new DatabaseClient(connectionOptions(address, undefined))
  client.on('error', () => undefined)
  const handle = await open(part, 'wx', 0o600)
  try {
    await client.connect()
    const archive = new ArchiveFile(handle)
    const manifest = await copyOut(client, archive, options)
    await archive.end(options.masterKeys)
    await handle.sync()
    await handle.close()
    await rename(part, file)
    await syncFolder(dirname(file))
    return manifest
  } catch (error) {
    await handle.close().catch(() => undefined)
    await rm(part, { force: true })
    throw error
  } finally {
    await client.end().catch(() => undefined)
  }
}

class ArchiveFile {
  readonly #handle: FileHandle
  readonly #hash = createHash('sha256')

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  async add(name: string, content: Buffer): Promise<void> {
    const bytes = await entryBytes(name, content)
    this.#hash.update(bytes)
    await this.#handle.writeFile(bytes)
  }

  async end(masterKeys: MasterKeys): Promise<void> {
    const digest = this.#hash.digest('hex')
    const signature = { sha256: digest, masterKey: masterKeys.currentId, hmac: masterKeys.sign(digest) }
    await this.#handle.writeFile(await tailOf(signature))
  }
}

async function copyOut(client: pg.Client, archive: ArchiveFile, options: BackupOptions): Promise<Manifest> {
  await client.query(`begin isolation level repeatable read read only; ${AS_OWNER}`)
  const { rows: about } = await client.query<{
    now: Date
    postgres: string
    migrations: string[]
    master_keys: string[]
  }>(
    `select clock_timestamp() as now, current_setting('server_version') as postgres,
       array(select name::text from migrations order by name) as migrations,
       array(select distinct wrapped_by from keyring order by 1) as master_keys`,
  )
  const { now, postgres, migrations, master_keys: masterKeys } = about[0]!
  const tables: ArchivedTable[] = []
  let bytes = 0
  for (const table of await tablesOf(client)) {
    const copied = await copyTable(client, archive, table, (size) => {
      bytes += size
      options.onProgress?.({ table: table.name, bytes })
    })
    tables.push(copied)
  }
  const sequences = []
  for (const name of await sequencesOf(client)) {
    const { rows } = await client.query<{ value: string; called: boolean }>(
      `select last_value::text as value, is_called as called from ${quoted(name)}`,
    )
    sequences.push({ name, ...rows[0]! })
  }
  await client.query('commit')
  const manifest: Manifest = {
    format: 'svc-backup',
    formatVersion: FORMAT_VERSION,
    serviceVersion: options.serviceVersion,
    postgres,
    createdAt: now.toISOString(),
    migrations,
    masterKeys,
    signedBy: options.masterKeys.currentId,
    tables,
    sequences,
  }
  await archive.add(MANIFEST, Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`))
  return manifest
}

async function copyTable(
  client: pg.Client,
  archive: ArchiveFile,
  { name, columns, partitions }: Table,
  onChunk: (bytes: number) => void,
): Promise<ArchivedTable> {
  const chunks: Chunk[] = []
  const list = columns.map(quoted).join(', ')
  // Of a partitioned table, COPY reads queries only.
  const source = partitions ? `(select ${list} from ${quoted(name)})` : `${quoted(name)} (${list})`
  const rows = client.query(copyTo(`copy ${source} to stdout`))
  let adding: Promise<void> = Promise.resolve()
  const add = async (text: Buffer): Promise<void> => {
    // The next rows arrive while these are compressed, and no further.
    await adding
    adding = (async () => {
      const packed = await compress(text, { level: 3 })
      const file = `tables/${name}/${String(chunks.length).padStart(6, '0')}.copy.gz`
      await archive.add(file, packed)
      chunks.push({ file, sha256: sha256(packed), bytes: text.length })
      onChunk(text.length)
    })()
    adding.catch(() => undefined)
  }
  let waiting: Buffer[] = []
  let size = 0
  for await (const part of rows as AsyncIterable<Buffer>) {
    waiting.push(part)
    size += part.length
    if (size < CHUNK_BYTES) continue
    const text = Buffer.concat(waiting)
    // A line break inside of a value is escaped, so every one ends a row.
    const end = text.lastIndexOf(NEWLINE) + 1
    waiting = [text.subarray(end)]
    size = text.length - end
    if (end > 0) await add(text.subarray(0, end))
  }
  if (size > 0) await add(Buffer.concat(waiting))
  await adding
  return { name, columns, ...(partitions && { partitions }), rows: rows.rowCount, chunks }
}
