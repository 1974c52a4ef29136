import { setTimeout as sleep } from 'node:timers/promises'
import { connectionOptions, type DatabaseAddress } from '@svc/platform/db/connection-options'
import { LOCK_TIMEOUT, sqlState } from '@svc/platform/db/database'
import { migrationNames, readMigration, runOffline } from '@svc/platform/db/migration-files'
import { DatabaseClient } from '@svc/platform/db/server-locator'
import { takeSetUpLock } from '@svc/platform/db/set-up-lock'
import pg from 'pg'
import { AS_OWNER, ownReferencesOf, quoted, tablesOf } from './catalogue.ts'

/** Above the service's own patience for a lock, below the server's for a deadlock: transactions that wait for it give way first. */
const LOCK_WAIT_MS = 900
const LOCK_TRIES = 100
const DEADLOCK = '40P01'

export class NotEmpty extends Error {
  override name = 'NotEmpty'
}

export interface Replacement {
  readonly address: DatabaseAddress
  /** The schema in which the new data comes; the newest by default. */
  readonly migrations?: readonly string[]
  /** Whether data that is there may be lost. */
  readonly replace: boolean
  /** Fills the empty tables, all of them in the schema that the migrations named. */
  readonly fill?: (client: pg.Client) => Promise<void>
  /** Tokens and sessions of the data stay valid: it comes to a place of its own, for the same people. */
  readonly keepsAccess?: boolean
}

/**
 * Puts other data in the place of all that the database holds, in one transaction: beside the schema that is in use
 * another one is made, filled and brought to the newest version, and at the end the one is dropped for the other. Until
 * then the service goes on as before; whatever breaks it off leaves the previous data.
 */
export async function replaceData({
  address,
  migrations,
  replace,
  fill,
  keepsAccess = false,
}: Replacement): Promise<void> {
  const client = new DatabaseClient(connectionOptions(address, undefined))
  client.on('error', () => undefined)
  try {
    await client.connect()
    await takeSetUpLock(client)
    await client.query('begin')
    if (!replace) await requireEmpty(client)
    await client.query(
      `alter schema svc rename to svc_former;
       create schema svc authorization svc_owner;
       grant usage on schema svc to svc_service, svc_operator;
       ${AS_OWNER};
       create table migrations (like svc_former.migrations including all)`,
    )
    const all = await migrationNames()
    const first = migrations ?? all
    for (const name of first) await runMigration(client, name)
    if (fill) await fillTables(client, fill)
    for (const name of all.filter((known) => !first.includes(known))) await runMigration(client, name)
    if (fill && !keepsAccess) await client.query('select end_all_access()')
    await client.query(`analyze ${(await tablesOf(client)).map(({ name }) => quoted(name)).join(', ')}`)
    await lockPrevious(client)
    await client.query('drop schema svc_former cascade; commit')
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function requireEmpty(client: pg.Client): Promise<void> {
  const { rows } = await client
    .query<{ tenants: number }>(
      `set local role svc_owner; select count(*)::integer as tenants from svc.tenants where kind <> 'house'; reset role`,
    )
    .then((results) => (results as unknown as pg.QueryResult<{ tenants: number }>[])[1]!)
  const { tenants } = rows[0]!
  if (tenants > 0) throw new NotEmpty(`The database holds the data of ${tenants} merchants and partners`)
}

/**
 * Fills the tables with rows that are whole already: what triggers would add to them, such as lines of the audit, is
 * among them. What the migrations themselves put there comes with the data.
 */
async function fillTables(client: pg.Client, fill: (client: pg.Client) => Promise<void>): Promise<void> {
  const names = (await tablesOf(client)).map(({ name }) => quoted(name))
  const triggers = (state: 'disable' | 'enable') =>
    client.query(names.map((name) => `alter table ${name} ${state} trigger user`).join('; '))
  const withinTables = await ownReferencesOf(client)
  await triggers('disable')
  await client.query(`truncate ${names.join(', ')} cascade`)
  for (const { table, name } of withinTables)
    await client.query(`alter table ${table} drop constraint ${name}`)
  await fill(client)
  await client.query('set constraints all immediate')
  for (const { table, name, text } of withinTables)
    await client.query(`alter table ${table} add constraint ${name} ${text}`)
  await triggers('enable')
}

async function runMigration(client: pg.Client, name: string): Promise<void> {
  await runOffline(client, await readMigration(name))
  await client.query('insert into migrations (name) values ($1)', [name])
}

/**
 * Waits for transactions that are under way on the previous data, so that none begins there and ends in the new. A request
 * that meets the lock is retried by its commit queue.
 */
async function lockPrevious(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'svc_former'::regnamespace and relkind in ('r', 'p') and not relispartition order by relname`,
  )
  const tables = rows.map(({ name }) => `svc_former.${quoted(name)}`).join(', ')
  await client.query(`set local lock_timeout = ${LOCK_WAIT_MS}`)
  for (let tries = 1; ; tries++) {
    try {
      await client.query('savepoint before_locks')
      await client.query(`lock table ${tables} in access exclusive mode`)
      return
    } catch (error) {
      const held = [LOCK_TIMEOUT, DEADLOCK].includes(sqlState(error) ?? '')
      if (!held || tries === LOCK_TRIES) throw error
      await client.query('rollback to savepoint before_locks')
      await sleep(200)
    }
  }
}
