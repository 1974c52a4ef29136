import { idFloor } from '@svc/contract/id-kinds'
import type pg from 'pg'
import { asSuperuser, newDatabase, type TestDatabase } from './service.ts'

const DAY_MS = 86_400_000
/** One for all tests of a file, so that no day begins within one. */
const NOW_MS = Date.now()
export const TENANT = 'mer_partitions'

/** A database without a running service: nothing changes by itself. It has its partitions, whatever the age of the template. */
export async function bare<T>(work: (db: pg.Client, database: TestDatabase) => Promise<T>): Promise<T> {
  const database = await newDatabase()
  return asSuperuser(database.database, async (db) => {
    await db.query(`insert into tenants (tenant_id, kind, created_at) values ($1, 'merchant', now())`, [
      TENANT,
    ])
    await maintain(db)
    return work(db, database)
  })
}

export const at = (daysFromNow: number): Date => new Date(NOW_MS + daysFromNow * DAY_MS)

/** Writes an event as a command does, with the id and the instant of another time. */
export const happen = (db: pg.Client, when: Date, name: string, tenantId = TENANT, createdAt = when) =>
  db.query(
    `with e as (insert into outbox (event_id, tenant_id, type, object_id, payload, created_at)
       values ($1, $2, 'qr_code.created', $3, '{}', $4) returning *)
     insert into unnumbered_events (created_at, tenant_id, event_id, type, object_id)
     select created_at, tenant_id, event_id, type, object_id from e`,
    [`${idFloor('evt', when)}${name}`, tenantId, `qr_${name}`, createdAt],
  )
export const numberAll = (db: pg.Client) => db.query('select number_events(10000, now())')
export const forgetAll = (db: pg.Client) => db.query(`select forget_events('infinity')`)
export const keepEvents = (db: pg.Client, days: number) =>
  db.query(`update retention set keep = make_interval(days => $1) where what = 'events'`, [days])

/** All steps that are due at this time. Returns what was done. */
export async function maintain(db: pg.Client, now = at(0)): Promise<string[]> {
  const all: string[] = []
  for (;;) {
    const { rows } = await db.query<{ done: string | null }>('select maintain_partitions_at($1) as done', [
      now,
    ])
    const { done } = rows[0]!
    if (done === null) return all
    if (done !== 'locked') all.push(done)
  }
}
export const partitionsOf = async (db: pg.Client, table: string): Promise<string[]> =>
  (await db.query<{ partition: string }>('select partition from partitions_of($1)', [table])).rows.map(
    ({ partition }) => partition,
  )
export const partitionAt = async (db: pg.Client, table: string, when: Date): Promise<string> => {
  const { rows } = await db.query<{ name: string }>(
    `select partition_name(name, partition_day($2, days)) as name from partitioned_tables where name = $1`,
    [table, when],
  )
  return rows[0]!.name
}
export const addPartition = (db: pg.Client, table: string, when: Date) =>
  db.query('select add_partition(name, partition_day($2, days)) from partitioned_tables where name = $1', [
    table,
    when,
  ])
export const whereIs = async (db: pg.Client, name: string): Promise<string[]> =>
  (
    await db.query<{ place: string }>(
      'select tableoid::regclass::text as place from outbox where object_id = $1',
      [`qr_${name}`],
    )
  ).rows.map(({ place }) => place)
