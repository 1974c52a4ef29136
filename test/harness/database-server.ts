import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbedded } from '@svc/embedded-postgres/embedded'
import { migrate } from '@svc/platform/db/migrate'
import pg from 'pg'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Socket directory and port of the project's PostgreSQL server. */
    postgres: { host: string; port: number }
  }
}

/** Database that every test's own database is copied from. */
export const TEMPLATE = 'svc_template'

/** One PostgreSQL server for all files of a project, gone afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-test-'))
  const binaries = project.config.env['TEST_POSTGRES'] as string
  const server = await openEmbedded({
    dataDir,
    binaries: binaries === 'package' ? 'package' : { binDir: binaries },
    settings: { max_connections: '300' },
  })
  const { host, port } = server
  const client = new pg.Client({ host, port, user: 'postgres', database: 'postgres' })
  await client.connect()
  await client.query(`create database ${TEMPLATE}`)
  await client.end()
  await migrate({ host, port, database: TEMPLATE })
  project.provide('postgres', { host, port })
  return async () => {
    await server.release()
    await rm(dataDir, { recursive: true, force: true })
  }
}
