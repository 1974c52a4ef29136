import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbedded } from '@svc/embedded-postgres/embedded'
import { hasEnded } from '@svc/embedded-postgres/embedded-postmaster'
import { Secret } from '@svc/kernel/secret'
import { Keyring } from '@svc/platform/crypto/keyring'
import { MasterKeys } from '@svc/platform/crypto/master-keys'
import { Database } from '@svc/platform/db/database'
import { migrate } from '@svc/platform/db/migrate'
import { openLog } from '@svc/platform/log'
import pg from 'pg'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Socket directory and port of the project's PostgreSQL server. */
    postgres: { host: string; port: number }
  }
}

/** Databases that every test's own database is copied from, one before the first start and one with data keys. */
export const TEMPLATE = 'svc_template'
export const TEMPLATE_WITH_KEYS = 'svc_template_with_keys'

/** Wraps the data keys of the template. */
export const MASTER_KEY = createHash('sha256').update('master key of the tests').digest('base64')

const SETTINGS = {
  // Tenants move between two databases of the server.
  wal_level: 'logical',
  max_replication_slots: '50',
  max_wal_senders: '50',
  max_logical_replication_workers: '20',
  max_worker_processes: '32',
  max_sync_workers_per_subscription: '6',
  max_connections: '300',
  // Of hundreds of databases, each a copy of the template, the usual 128 MB hold a few.
  shared_buffers: '1GB',
  max_wal_size: '8GB',
  // A checkpoint syncs the files of all of them. Nor does a test drop its database, which asks for one at once.
  checkpoint_timeout: '1h',
  // A worker would come to each database in turn, and with hundreds of them ten times a second.
  autovacuum_naptime: '1h',
}

/** One PostgreSQL server for all files of a project, gone afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-test-'))
  const binaries = project.config.env['TEST_POSTGRES'] as string
  const isNewest = binaries === 'package'
  const server = await openEmbedded({
    dataDir,
    binaries: isNewest ? 'package' : { binDir: binaries },
    // From 18 on it has a limit of its own, 10, and each table that is copied takes one.
    settings: { ...SETTINGS, ...(isNewest && { max_active_replication_origins: '50' }) },
  })
  const { host, port } = server
  const client = new pg.Client({ host, port, user: 'postgres', database: 'postgres' })
  await client.connect()
  await client.query(`create database ${TEMPLATE}`)
  await migrate({ host, port, database: TEMPLATE })
  await client.query(`create database ${TEMPLATE_WITH_KEYS} template ${TEMPLATE}`)
  await client.end()
  const log = openLog('fatal', process.stderr)
  const database = new Database({ host, port, database: TEMPLATE_WITH_KEYS }, 1, log)
  // Once: to make the RSA key takes as long as all else that a start does.
  await Keyring.open(database, new MasterKeys([new Secret(MASTER_KEY)]))
  await database.close()
  project.provide('postgres', { host, port })
  return async () => {
    // At once: the checkpoint of a fast shutdown writes hundreds of databases that are deleted next.
    process.kill(server.pid, 'SIGQUIT')
    await hasEnded(server.pid, 60_000)
    await server.release()
    await rm(dataDir, { recursive: true, force: true })
  }
}
