import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Kysely, Migration } from 'kysely'
import pg from 'pg'
import { PACKAGE_ROOT } from '../package.ts'
import { connectionOptions, type DatabaseAddress } from './connection-options.ts'
import { DatabaseClient } from './server-locator.ts'

const FOLDER = join(PACKAGE_ROOT, 'migrations')
const OLDEST_SERVER = 150_000

// Roles belong to the whole cluster, so several databases may be set up at once and meet here.
const ROLES = `
do $$
declare
  wanted text;
  -- From 16 on, whoever makes a role is its member but may not take it on until that is granted too.
  needed text := case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end;
begin
  foreach wanted in array array['svc_owner', 'svc_service', 'svc_operator'] loop
    begin
      if not exists (select from pg_roles where rolname = wanted) then
        execute format('create role %I', wanted);
      end if;
    exception when duplicate_object or unique_violation then null;
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

/** Every migration of this program, in order. */
export const migrationNames = async (): Promise<string[]> =>
  (await readdir(FOLDER))
    .filter((name) => /^\d{4}_.+\.sql$/.test(name))
    .sort()
    .map((name) => name.replace('.sql', ''))

/** The files that were run. The service itself may ask, so that it starts without the owner's login. */
async function migrationsRun(address: DatabaseAddress): Promise<string[]> {
  const client = new DatabaseClient(connectionOptions(address, 'svc_service'))
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ name: string }>('select name from migrations')
    return rows.map(({ name }) => name)
  } catch {
    // No such role, schema or table yet; what else is wrong, the migration itself will say.
    return []
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Whether these files are of a version before the first release, whose data no later version upgrades (decision X20). */
export const isBeforeBaseline = (run: readonly string[], all: readonly string[]): boolean =>
  run.length > 0 && !run.includes(all[0]!)

/** The database has a schema that this version cannot upgrade. Its message is for people. */
export class SchemaRefused extends Error {
  override name = 'SchemaRefused'
}

export const migrationSql = (name: string): Promise<string> => readFile(`${FOLDER}/${name}.sql`, 'utf8')

async function plainSqlFiles(): Promise<Record<string, Migration>> {
  const { sql } = await import('kysely')
  return Object.fromEntries(
    (await migrationNames()).map((name) => [
      name,
      {
        up: async (db: Kysely<unknown>) => {
          await sql.raw(await migrationSql(name)).execute(db)
        },
      },
    ]),
  )
}

async function setUpRoles(pool: pg.Pool, address: DatabaseAddress): Promise<void> {
  const client = await pool.connect()
  try {
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
    if (Number(rows[0]!.server_version_num) < OLDEST_SERVER)
      throw new Error('PostgreSQL 15 or later is needed; this server is older')
    await client.query(`select pg_advisory_lock(hashtext('svc set-up'))`)
    await client.query(ROLES)
    // Whoever may enter the embedded server's socket directory is trusted, so its roles may log in as themselves.
    if ('host' in address) await client.query('alter role svc_service login; alter role svc_operator login')
    await client.query(`select pg_advisory_unlock(hashtext('svc set-up'))`)
    // Settings of the session: what the migrations make belongs to the owner, in the service's schema.
    await client.query('set role svc_owner; set search_path = svc')
  } finally {
    client.release()
  }
}

/**
 * Brings the database to the newest schema: roles, schema, then every file of `migrations/` that was not run yet, in
 * one transaction. Safe to call from several processes at once. Answers the names of the files that were run.
 */
export async function migrate(address: DatabaseAddress): Promise<string[]> {
  const [all, run] = await Promise.all([migrationNames(), migrationsRun(address)])
  if (isBeforeBaseline(run, all))
    throw new SchemaRefused(
      `This database has the schema of an unreleased version (${run.toSorted()[0]}), which this version cannot upgrade. Back it up with the version that wrote it (svc backup), then start with an empty database, or a new DATA_DIR. Nothing was changed.`,
    )
  if (all.every((name) => run.includes(name))) return []
  const { Kysely, Migrator, PostgresDialect } = await import('kysely')
  // One connection, so that the role and the schema set on it hold for the migrations.
  const config: object = { ...connectionOptions(address, undefined), max: 1, Client: DatabaseClient }
  const pool = new pg.Pool(config)
  pool.on('error', () => undefined)
  try {
    await setUpRoles(pool, address)
    const migrator = new Migrator({
      db: new Kysely({ dialect: new PostgresDialect({ pool }) }),
      provider: { getMigrations: plainSqlFiles },
      migrationTableName: 'migrations',
      migrationLockTableName: 'migrations_lock',
      migrationTableSchema: 'svc',
    })
    const { error, results = [] } = await migrator.migrateToLatest()
    const failed = results.find((result) => result.status === 'Error')
    if (error)
      throw new Error(
        `migration ${failed?.migrationName ?? ''} failed: ${error instanceof Error ? error.message : 'unknown'}`,
        { cause: error },
      )
    return results.map((result) => result.migrationName)
  } finally {
    await pool.end()
  }
}
