import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { connectionOptions, type DatabaseAddress } from './connection-options.ts'
import { LOCK_TIMEOUT, sqlState } from './database.ts'
import {
  type MigrationFile,
  migrationNames,
  type Run,
  readMigration,
  statementsOf,
} from './migration-files.ts'
import { DatabaseClient } from './server-locator.ts'
import { takeSetUpLock } from './set-up-lock.ts'

const OLDEST_SERVER = 150_000

// Roles belong to the whole cluster, so several databases may be set up at once and meet here.
const ROLES = `
do $$
declare
  wanted text;
  -- From 16 on, the creator of a role is its member but may not take it on until that is granted too.
  needed text := case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end;
begin
  foreach wanted in array array['svc_owner', 'svc_service', 'svc_operator', 'svc_rail'] loop
    begin
      if not exists (select from pg_roles where rolname = wanted) then
        execute format('create role %I', wanted);
      end if;
    exception
      when duplicate_object or unique_violation then null;
      when insufficient_privilege then
        raise exception 'the role % does not exist, and this login cannot create it', wanted
          using hint = format('As a superuser run: create role %I; docs/guides/operate.md shows which login has it', wanted);
    end;
    if not pg_has_role(current_user, wanted, needed) then
      begin
        execute format('grant %I to current_user', wanted);
      exception when insufficient_privilege then
        -- A login that only migrates needs the owner's role alone.
        if wanted = 'svc_owner' then raise; end if;
      end;
    end if;
  end loop;
  if not exists (select from pg_namespace where nspname = 'svc') then
    execute 'create schema svc authorization svc_owner';
  end if;
  begin
    execute format('revoke temporary on database %I from public', current_database());
  exception when insufficient_privilege then null;
  end;
  if has_database_privilege('svc_service', current_database(), 'temporary') then
    raise exception 'the role svc_service can create temporary tables in this database'
      using hint = format('As its owner run: revoke temporary on database %I from public', current_database());
  end if;
  execute 'grant usage on schema svc to svc_service, svc_operator';
end $$;`

/** SQLSTATE of a database that has no such role, schema or table yet, or a login that has not been granted the role. */
const NOT_SET_UP = new Set(['22023', '42501', '42704', '42P01', '3F000'])
const NO_LOGIN = '28000'

/** The files that were run. The service itself may read them, so that it starts without the owner's login. */
async function migrationsRun(address: DatabaseAddress): Promise<string[]> {
  const client = new DatabaseClient(connectionOptions(address, 'svc_service'))
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ name: string }>('select name from migrations')
    return rows.map(({ name }) => name)
  } catch (error) {
    const state = sqlState(error) ?? ''
    // The embedded server has no logins but the roles.
    if (NOT_SET_UP.has(state) || (state === NO_LOGIN && !('url' in address))) return []
    throw error
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Whether these files are of a version before the first release, whose data no later version upgrades (decision X20). */
export const isBeforeBaseline = (run: readonly string[], all: readonly string[]): boolean =>
  run.length > 0 && !run.includes(all[0]!)

/** Why such a database is refused, and what to do. */
export const beforeBaseline = (run: readonly string[]): string =>
  `This database has the schema of an unreleased version (${run.toSorted()[0]}), which this version cannot upgrade. Back it up with the version that wrote it (svc admin backup), then start with an empty database, or a new DATA_DIR. Nothing was changed.`

/** The database has a schema that this version cannot upgrade. Its message is for people. */
export class SchemaRefused extends Error {
  override name = 'SchemaRefused'
}

/** Roles, the schema and the list of the files that were run. What the session creates afterwards belongs to the owner. */
async function setUp(client: pg.Client, address: DatabaseAddress): Promise<void> {
  await client.query(ROLES)
  // A user who may enter the embedded server's socket directory is trusted, so its roles may log in as themselves.
  if ('host' in address) await client.query('alter role svc_service login; alter role svc_operator login')
  await client.query(`
    set role svc_owner; set search_path = svc;
    create table if not exists migrations (
      name text collate "C" primary key, run_at timestamptz not null default now())`)
}

/** How long a statement waits for a lock: requests for the table wait behind it. */
const LOCK_TIMEOUT_MS = 2_000
const LOCK_TRIES = 150
const LOCK_PAUSE_MS = 1_000
const DEADLOCK = '40P01'

/** Runs again what did not get its lock in time: a report may hold the table for minutes. */
async function withLocks(name: string, work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      await work()
      return
    } catch (error) {
      const state = sqlState(error)
      if (state !== LOCK_TIMEOUT && state !== DEADLOCK) throw error
      if (tries === LOCK_TRIES)
        throw new Error(
          `${name} got no lock in ${tries} attempts of ${LOCK_TIMEOUT_MS / 1_000} s. End the long transactions that pg_stat_activity shows, then run svc admin migrate again: it goes on with this file.`,
          { cause: error },
        )
      await sleep(LOCK_PAUSE_MS)
    }
}

const DONE = (name: string) => `insert into migrations (name) values ('${name}')`

/** Each way goes on where it was broken off when the same file runs again. */
const RUNNERS: Readonly<Record<Run, (client: pg.Client, file: MigrationFile) => Promise<void>>> = {
  async transaction(client, { name, sql }) {
    await withLocks(name, async () => {
      try {
        await client.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}`)
        await client.query(sql)
        await client.query(`${DONE(name)}; commit`)
      } catch (error) {
        await client.query('rollback').catch(() => undefined)
        throw error
      }
    })
  },
  async statements(client, file) {
    // Such statements wait for transactions that began before them, and hold up no request meanwhile.
    await client.query('set lock_timeout = 0')
    // All of them again: a concurrent build that fails leaves an invalid index, which the statement before it drops.
    await withLocks(file.name, async () => {
      for (const text of statementsOf(file)) await client.query(text)
    })
    await client.query(DONE(file.name))
  },
  async batches(client, file) {
    const [text] = statementsOf(file)
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`)
    for (let changed = -1; changed !== 0; )
      await withLocks(file.name, async () => {
        changed = (await client.query(text!)).rowCount ?? 0
      })
    await client.query(DONE(file.name))
  },
}

async function runPending(client: pg.Client, { to, folder }: MigrateOptions): Promise<string[]> {
  const names = await migrationNames(folder)
  const { rows } = await client.query<{ name: string }>('select name from migrations')
  const done = new Set(rows.map(({ name }) => name))
  const pending = names.filter((name) => !done.has(name) && (to === undefined || name <= to))
  for (const name of pending) {
    const file = await readMigration(name, folder)
    await RUNNERS[file.run](client, file).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : 'unknown'
      throw new Error(`migration ${name} failed: ${message}`, { cause: error })
    })
  }
  return pending
}

export interface MigrateOptions {
  /** The last file to run; by default all run. */
  readonly to?: string
  readonly folder?: string
}

/**
 * Brings the database to the newest schema: roles, schema, then every file of `migrations/` that was not run yet, while
 * the service runs. Safe to call from several processes at once, and again after it was broken off. Returns the names
 * of the files that were run.
 */
export async function migrate(address: DatabaseAddress, options: MigrateOptions = {}): Promise<string[]> {
  // Why the service's login cannot read them is of no account here: the owner's migrates.
  const migrated = migrationsRun(address).catch((): string[] => [])
  const [all, run] = await Promise.all([migrationNames(options.folder), migrated])
  if (options.to !== undefined && !all.includes(options.to))
    throw new SchemaRefused(`There is no migration ${options.to}. The newest is ${all.at(-1)}.`)
  if (isBeforeBaseline(run, all)) throw new SchemaRefused(beforeBaseline(run))
  if (all.every((name) => run.includes(name))) return []
  const client = new DatabaseClient(connectionOptions(address, undefined))
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
    if (Number(rows[0]!.server_version_num) < OLDEST_SERVER)
      throw new Error('PostgreSQL 15 or later is needed; this server is older')
    await takeSetUpLock(client)
    await setUp(client, address)
    return await runPending(client, options)
  } finally {
    await client.end()
  }
}

export interface MigrationState {
  readonly name: string
  readonly run: Run
  /** Whether the database has it. */
  readonly isDone: boolean
}

/** This program's migrations, and which of them the database has. */
export async function migrationStates(address: DatabaseAddress): Promise<MigrationState[]> {
  const [names, run] = await Promise.all([migrationNames(), migrationsRun(address)])
  return Promise.all(
    names.map(async (name) => ({ name, run: (await readMigration(name)).run, isDone: run.includes(name) })),
  )
}
