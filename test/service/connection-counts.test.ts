import { connectionsMax } from '@svc/platform/db/connection-counts'
import { Database, type Tx } from '@svc/platform/db/database'
import { DatabaseClient } from '@svc/platform/db/server-locator'
import { openLog } from '@svc/platform/log'
import { expect, test } from 'vitest'
import { asSuperuser, newDatabase } from '../harness/service.ts'

const POOL_SIZE = 4

test('a process with more requests than it can handle at once opens as many connections as svc admin doctor counts', async () => {
  const db = await newDatabase()
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  let held = 0
  /** Holds the connections that watch whether the database commits. */
  class Client extends DatabaseClient {
    override query(...given: unknown[]): never {
      const query = () => super.query(...(given as [string]))
      if (!String(given[0]).includes('pg_logical_emit_message')) return query() as never
      held++
      return released.then(query) as never
    }
  }
  const address = { url: db.url, operatorUrl: db.url }
  const database = new Database(address, POOL_SIZE, openLog('silent'), { Client })
  const hold = async (tx: Tx) => {
    await tx.query({ name: 'one', text: 'select 1' })
    held++
    await released
  }
  const batch = async (login: 'service' | 'operators' | 'rail') => {
    const lease = await database.lease(login)
    held++
    await released
    lease.release()
  }
  const uses = Promise.allSettled(
    Array.from({ length: 10 }, () => [
      database.read([], hold),
      database.operate(hold),
      database.writeAside([], hold),
      batch('service'),
      batch('operators'),
      batch('rail'),
      database.commits.check(),
    ]).flat(),
  )
  const opened = () =>
    asSuperuser(
      db.database,
      async (admin) =>
        (
          await admin.query<{ n: number }>(
            `select count(*)::int as n from pg_stat_activity
             where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
          )
        ).rows[0]!.n,
    )
  try {
    await expect.poll(() => held, { timeout: 30_000 }).toBe(connectionsMax(POOL_SIZE))
    expect(await opened()).toBe(connectionsMax(POOL_SIZE))
  } finally {
    release()
    await uses
    await database.close()
  }
})
