import { execFile } from 'node:child_process'
import { chown, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findSystemPostgres, openEmbedded } from '@svc/embedded-postgres/embedded'
import { migrate } from '@svc/platform/db/migrate'
import pg from 'pg'
import { freePort } from './free-port.ts'
import type { TestDatabase } from './service.ts'

const run = promisify(execFile)
// Of the servers at hand, only an installed one has pg_basebackup.
const system = findSystemPostgres().find(({ version }) => version.startsWith('15'))

/** Whether a standby can be made here. */
export const canReplicate = system !== undefined

/** A server of a pair, with a migrated database `svc`. */
export interface Server extends TestDatabase {
  /** A statement of the superuser; returns its first row. */
  run(text: string): Promise<Record<string, unknown> | undefined>
  /** Ends it at once, as a crash would. */
  stop(): Promise<void>
}

export interface Pair {
  readonly primary: Server
  readonly standby: Server
  close(): Promise<void>
}

/** A primary and its streaming standby. */
export async function openPair(): Promise<Pair> {
  const { binDir } = system!
  const folders = {
    primary: await mkdtemp(join(tmpdir(), 'svc-p-')),
    standby: await mkdtemp(join(tmpdir(), 'svc-s-')),
  }
  const servers: Server[] = []
  const close = async () => {
    for (const server of servers) await server.stop()
    for (const folder of Object.values(folders)) await rm(folder, { recursive: true, force: true })
  }
  const open = async (dataDir: string): Promise<Server> => {
    const settings = { listen_addresses: '127.0.0.1', port: `${await freePort()}` }
    const server = await serverAt(dataDir, binDir, settings)
    servers.push(server)
    return server
  }
  try {
    const primary = await open(folders.primary)
    await primary.run('create database svc')
    await migrate({ host: primary.host, port: primary.port, database: 'svc' })
    await copyOf(primary, folders)
    return { primary, standby: await open(folders.standby), close }
  } catch (error) {
    await close()
    throw error
  }
}

export interface Archived {
  readonly primary: Server
  /** Where the data are, and room beside them. */
  readonly folder: string
  /** Of PostgreSQL's programs. */
  readonly binDir: string
  close(): Promise<void>
}

/** A server by itself, with settings that may name places in its folder. */
export async function openArchived(
  settingsAt: (folder: string) => Promise<Record<string, string>>,
): Promise<Archived> {
  const { binDir } = system!
  const folder = await mkdtemp(join(tmpdir(), 'svc-a-'))
  const primary = await serverAt(folder, binDir, await settingsAt(folder))
  await primary.run('create database svc')
  await migrate({ host: primary.host, port: primary.port, database: 'svc' })
  const close = async () => {
    await primary.stop()
    await rm(folder, { recursive: true, force: true })
  }
  return { primary, folder, binDir, close }
}

async function copyOf({ host, port }: Server, folders: Record<'primary' | 'standby', string>): Promise<void> {
  const data = join(folders.standby, 'postgres')
  const { uid, gid } = await stat(join(folders.primary, 'postgres'))
  const from = ['-h', host, '-p', String(port), '-U', 'postgres']
  const options = ['-R', '-X', 'stream', '--checkpoint=fast']
  await run(join(system!.binDir, 'pg_basebackup'), ['-D', data, ...from, ...options])
  if (process.getuid?.() === 0) await run('chown', ['-R', `${uid}:${gid}`, data])
  const owner = await stat(folders.primary)
  await chown(folders.standby, owner.uid, owner.gid)
}

async function serverAt(dataDir: string, binDir: string, settings: Record<string, string>): Promise<Server> {
  const server = await openEmbedded({ dataDir, binaries: { binDir }, settings })
  const { host, port } = server
  let stopped: Promise<unknown> | undefined
  return {
    host,
    port,
    database: 'svc',
    url: `postgresql://postgres@localhost/svc?host=${encodeURIComponent(host)}&port=${port}`,
    async run(text) {
      const client = new pg.Client({ host, port, user: 'postgres', database: 'postgres' })
      await client.connect()
      try {
        return (await client.query<Record<string, unknown>>(text)).rows[0]
      } finally {
        await client.end()
      }
    },
    stop: async () => void (await (stopped ??= server.release())),
  }
}
