import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { replaceData } from '@svc/app/backup/replace-data'
import { migrate } from '@svc/platform/db/migrate'
import { migrationNames, readMigration, runOffline } from '@svc/platform/db/migration-files'
import type pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { asSuperuser, MASTER_KEY, newDatabase, type TestDatabase } from '../harness/service.ts'

let folder: string
let db: TestDatabase

// This program's migrations, which the database has, and then some that it has not.
beforeEach(async () => {
  db = await newDatabase()
  folder = await mkdtemp(join(tmpdir(), 'svc-migrations-'))
  for (const name of await migrationNames()) await add(name, (await readMigration(name)).sql)
  await sql(`create table things (id integer primary key, name text); alter table things owner to svc_owner;
    insert into things select n, 'thing ' || n from generate_series(1, 1000) n`)
})
afterEach(() => rm(folder, { recursive: true }))

const add = (name: string, text: string) => writeFile(join(folder, `${name}.sql`), text)
const run = (to?: string) => migrate(db, { folder, ...(to !== undefined && { to }) })

async function sql<T extends pg.QueryResultRow>(text: string): Promise<T[]> {
  return asSuperuser(db.database, async (admin) => (await admin.query<T>(text)).rows)
}

const waitsForLock = async (query: string) => {
  for (;;) {
    const waiting = await sql(`select from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock' and query like '%${query}%'`)
    if (waiting.length > 0) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const NAMES_INDEX = `-- run: statement by statement
drop index concurrently if exists things_by_name;
create index concurrently things_by_name on things (name);
`

test('behind a report that locks a table, a migration of it waits, and inserts into the table do not', async () => {
  await add('8001_color', 'alter table things add column color text;')
  await asSuperuser(db.database, async (report) => {
    await report.query('begin; select count(*) from things')
    const migrated = run()
    let id = 2_000
    // Twice: the migration gives way and comes again.
    for (let round = 0; round < 2; round++) {
      await waitsForLock('add column color')
      await sql(`insert into things values (${id++}, 'behind the migration')`)
    }
    await report.query('commit')
    expect(await migrated).toEqual(['8001_color'])
  })
  expect(await sql('select count(color)::integer as n from things')).toEqual([{ n: 0 }])
})

test('an index is built concurrently: behind an open transaction it waits, and writes continue', async () => {
  await add('8001_index', NAMES_INDEX)
  await asSuperuser(db.database, async (writer) => {
    await writer.query(`begin; insert into things values (2000, 'open')`)
    const migrated = run()
    await waitsForLock('create index concurrently')
    await sql(`insert into things values (2001, 'beside the index')`)
    await writer.query('commit')
    expect(await migrated).toEqual(['8001_index'])
  })
  expect(await sql(`select indisvalid from pg_index where indexrelid = 'things_by_name'::regclass`)).toEqual([
    { indisvalid: true },
  ])
})

test('an interrupted batched migration resumes where it was, and others see its batches meanwhile', async () => {
  await add(
    '8001_names',
    `-- run: in batches
update things set name = upper(name)
where id in (select id from things where name like 'thing%' order by id limit 100);
`,
  )
  const left = () => sql<{ n: number }>(`select count(*)::integer as n from things where name like 'thing%'`)
  await asSuperuser(db.database, async (holder) => {
    await holder.query('begin; select from things where id = 500 for update')
    const migrated = run()
    migrated.catch(() => undefined)
    await waitsForLock('upper(name)')
    expect(await left()).toEqual([{ n: 600 }])
    await sql(`select pg_terminate_backend(pid) from pg_stat_activity where query like '%upper(name)%'
      and datname = current_database() and pid <> pg_backend_pid()`)
    await expect(migrated).rejects.toThrow('8001_names')
    await holder.query('rollback')
  })
  expect(await run()).toEqual(['8001_names'])
  expect(await left()).toEqual([{ n: 0 }])
})

test('a file that fails leaves nothing behind, those before it stay, and once fixed it runs', async () => {
  await add('8001_good', 'create table good (id integer primary key);')
  await add('8002_bad', 'create table bad (id integer primary key); select 1 / 0;')
  await expect(run()).rejects.toThrow('migration 8002_bad failed: division by zero')
  expect(
    await sql(`select to_regclass('svc.good') is null as good, to_regclass('svc.bad') is null as bad`),
  ).toEqual([{ good: false, bad: true }])
  await add('8002_bad', 'create table bad (id integer primary key);')
  expect(await run()).toEqual(['8002_bad'])
  expect(await run()).toEqual([])
})

test('of several processes that migrate at once, one runs each file, also those that build indexes concurrently', async () => {
  await add('8001_one', 'create table one (id integer primary key);')
  await add('8002_index', NAMES_INDEX)
  await add('8003_two', 'create table two (id integer primary key);')
  await add(
    '8004_index',
    NAMES_INDEX.replaceAll('things_by_name', 'things_backwards').replace('(name)', '(id desc)'),
  )
  const runs = await Promise.all(Array.from({ length: 4 }, () => run()))
  expect(runs.flat().sort()).toEqual(['8001_one', '8002_index', '8003_two', '8004_index'])
  const indexes = await sql(
    `select count(*)::integer as n from pg_index where indrelid = 'things'::regclass and indisvalid and not indisprimary`,
  )
  expect(indexes).toEqual([{ n: 2 }])
})

const isValid = () =>
  sql(`select indisvalid from pg_index where indexrelid = to_regclass('svc.things_by_name')`)

/** Migrates two files: the first has the lock already and waits for a table, until `meanwhile` is done. */
async function behindMigration<T>(
  meanwhile: () => Promise<T>,
): Promise<{ migrated: Promise<string[]>; result: T }> {
  await add('8001_color', 'alter table things add column color text;')
  await add('8002_index', NAMES_INDEX)
  return asSuperuser(db.database, async (report) => {
    await report.query('begin; select count(*) from things')
    const migrated = run()
    migrated.catch(() => undefined)
    await waitsForLock('add column color')
    const result = await meanwhile()
    await report.query('commit')
    return { migrated, result }
  })
}

const seen = async (condition: string) => {
  const found = async () =>
    (
      await sql(
        `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and ${condition}`,
      )
    ).length
  await expect.poll(found, { timeout: 60_000, interval: 20 }).toBeGreaterThan(0)
}

test('a restore that waits for a migration does not block its concurrent index build', async () => {
  const { migrated, result } = await behindMigration(async () => {
    const restored = replaceData({ address: db, replace: true })
    restored.catch(() => undefined)
    await seen(`query like '%advisory%lock%'`)
    return { restored }
  })
  expect(await migrated).toEqual(['8001_color', '8002_index'])
  await result.restored
})

test('after a deadlock with a process of an older version, which waits inside a statement, an index is built from the start', async () => {
  await asSuperuser(db.database, async (older) => {
    await older.query(`set deadlock_timeout = '5min'`)
    const { migrated, result } = await behindMigration(async () => {
      const waiting = older.query(`select pg_advisory_lock(hashtext('svc set-up'))`)
      waiting.catch(() => undefined)
      await seen(`wait_event_type = 'Lock' and query like 'select pg_advisory_lock%'`)
      return { waiting }
    })
    // The server ends the build, and leaves the index invalid.
    await seen(`state = 'idle' and query like 'create index concurrently%'`)
    expect(await isValid()).toEqual([{ indisvalid: false }])
    await sql(`select pg_cancel_backend(pid) from pg_stat_activity where query like 'select pg_advisory_lock%'
      and datname = current_database() and pid <> pg_backend_pid()`)
    await expect(result.waiting).rejects.toThrow('canceling statement')
    expect(await migrated).toEqual(['8001_color', '8002_index'])
  })
  expect(await isValid()).toEqual([{ indisvalid: true }])
})

test('a restore repeats a migration in batches until it changes no row', async () => {
  await add(
    '8001_names',
    `-- run: in batches
update things set name = upper(name) where id in (select id from things where name like 'thing%' limit 100);
`,
  )
  const file = await readMigration('8001_names', folder)
  await asSuperuser(db.database, async (admin) => runOffline(admin, file))
  expect(await sql(`select count(*)::integer as n from things where name like 'thing%'`)).toEqual([{ n: 0 }])
})

test('a migration stops after the named file, and rejects one that does not exist', async () => {
  await add('8001_one', 'create table one (id integer primary key);')
  await add('8002_two', 'create table two (id integer primary key);')
  await expect(run('8003_three')).rejects.toThrow('There is no migration 8003_three. The newest is 8002_two.')
  expect(await run('8001_one')).toEqual(['8001_one'])
  expect(await run()).toEqual(['8002_two'])
})

test('svc admin migrate lists what is applied, prints what is missing, and then has nothing to do', async () => {
  const newest = (await migrationNames()).at(-1)!
  const runs = {
    transaction: 'in one transaction',
    statements: 'statement by statement',
    batches: 'in batches',
  }[(await readMigration(newest)).run]
  const env = { DATABASE_URL: db.url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: folder }
  const svc = async (...args: string[]) => {
    const { code, stdout, stderr } = await runHere(['admin', 'migrate', ...args], env)
    expect(code, stderr).toBe(0)
    return stdout
  }
  await sql(`delete from migrations where name = '${newest}'`)
  const states = JSON.parse(await svc('--status', '--json')) as { migration: string; state: string }[]
  expect(states.filter(({ state }) => state === 'missing')).toEqual([
    { migration: newest, runs, state: 'missing' },
  ])
  expect(await svc('--dry-run')).toContain(`-- ${newest}, ${runs}\n${(await readMigration(newest)).sql}`)
  await sql(`insert into migrations (name) values ('${newest}')`)
  expect(await svc('--dry-run')).toBe('The schema is up to date.\n')
  expect(await svc()).toBe('The schema is up to date.\n')
})
