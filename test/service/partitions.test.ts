import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { idFloor } from '@svc/contract/id-kinds'
import fc from 'fast-check'
import type pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import {
  addPartition,
  at,
  bare,
  forgetAll,
  happen,
  keepEvents,
  maintain,
  numberAll,
  partitionAt,
  partitionsOf,
  TENANT,
  whereIs,
} from '../harness/partitions.ts'
import { asSuperuser, MASTER_KEY, newDatabase, openService } from '../harness/service.ts'

test('bounds of partitions are the bounds of ids: the database and the service compute the same', () =>
  bare((db) =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 4_000_000_000_000 }), async (ms) => {
        const { rows } = await db.query<{ id: string }>(
          `select id_floor('evt_', to_timestamp(0) + $1::bigint * interval '1 millisecond') as id`,
          [ms],
        )
        expect(rows[0]!.id).toBe(idFloor('evt', new Date(ms)))
      }),
      { numRuns: 100 },
    ),
  ))

test('no login has rights on a partition, and no policy grants access to one', () =>
  bare(async (db) => {
    const { rows } = await db.query<{ name: string; secured: boolean; policies: number; open: boolean }>(
      `select c.relname as name, c.relrowsecurity as secured,
         (select count(*)::int from pg_policy p where p.polrelid = c.oid) as policies,
         bool_or(has_any_column_privilege(r, c.oid, 'select, insert, update')
           or has_table_privilege(r, c.oid, 'select, insert, update, delete, truncate')) as open
       from pg_class c, unnest(array['svc_service', 'svc_operator', 'public']) r
       where c.relnamespace = 'svc'::regnamespace and c.relispartition and c.relkind = 'r' group by c.oid order by 1`,
    )
    expect(rows.length).toBeGreaterThan(10)
    for (const row of rows) expect(row).toEqual({ ...row, secured: true, policies: 0, open: false })
  }))

test('an event whose day has no partition is stored, and moves when its partition is created', () =>
  bare(async (db) => {
    const later = at(100)
    await happen(db, later, 'early')
    expect(await whereIs(db, 'early')).toEqual(['outbox_default'])
    const created = await maintain(db, later)
    expect(created).toContain(`created ${await partitionAt(db, 'outbox', later)}`)
    expect(await whereIs(db, 'early')).toEqual([await partitionAt(db, 'outbox', later)])
    await numberAll(db)
    const { rows } = await db.query('select sequence from event_numbers')
    expect(rows).toEqual([{ sequence: '1' }])
  }))

test('a partition is dropped once it is older than the retention, all its events are deleted and nothing waits for them', () =>
  bare(async (db) => {
    await keepEvents(db, 30)
    const old = at(-60)
    const name = await partitionAt(db, 'outbox', old)
    await addPartition(db, 'outbox', old)
    await happen(db, old, 'old')
    const isThere = async () => (await partitionsOf(db, 'outbox')).includes(name)
    const still = async () => {
      expect(await maintain(db)).toEqual([])
      expect(await isThere()).toBe(true)
      expect(await whereIs(db, 'old')).toEqual([name])
    }
    // Not numbered yet.
    await still()
    await numberAll(db)
    // Numbered, and not forgotten.
    await still()
    await forgetAll(db)
    // A delivery waits for it.
    await db.query(
      `insert into webhook_endpoints (endpoint_id, tenant_id, url, description, types, enabled, header_names, created_at, modified_at)
         values ('whe_x', $1, 'http://x', '', '{}', false, '{}', now(), now())`,
      [TENANT],
    )
    await db.query(
      `insert into webhook_deliveries (endpoint_id, tenant_id, sequence, event_id, object_id, first, due_at)
         select 'whe_x', tenant_id, 1, event_id, object_id, false, now() from outbox`,
    )
    await still()
    await db.query('delete from webhook_deliveries')
    expect(await maintain(db)).toEqual([`dropped ${name}`])
    expect(await isThere()).toBe(false)
  }))

test('an event whose id is older than its instant keeps its partition until it is deleted', () =>
  bare(async (db) => {
    await keepEvents(db, 30)
    const old = at(-60)
    await addPartition(db, 'outbox', old)
    await happen(db, old, 'late', TENANT, at(0))
    await numberAll(db)
    await forgetAll(db)
    expect(await maintain(db)).toEqual([])
    expect(await whereIs(db, 'late')).toEqual([await partitionAt(db, 'outbox', old)])
  }))

test('expired events without a partition are deleted, all others stay', () =>
  bare(async (db) => {
    await keepEvents(db, 30)
    await happen(db, at(-60), 'forgotten')
    await numberAll(db)
    await forgetAll(db)
    await happen(db, at(-50), 'waiting')
    expect(await maintain(db)).toEqual(['deleted 1 events without a partition'])
    expect(await whereIs(db, 'forgotten')).toEqual([])
    expect(await whereIs(db, 'waiting')).toEqual(['outbox_default'])
  }))

test('while others hold a lock, maintenance yields and loses nothing', () =>
  bare(async (db, database) => {
    const later = at(60)
    await asSuperuser(database.database, async (holder) => {
      await holder.query('begin')
      await happen(holder, later, 'held')
      const { rows } = await db.query('select maintain_partitions_at($1) as done', [later])
      expect(rows).toEqual([{ done: 'locked' }])
      // Others write on, also while the lock is held.
      await happen(db, at(0), 'beside')
      await holder.query('commit')
    })
    await maintain(db, later)
    await db.query('begin; select maintain_partitions_at(now())')
    expect((await db.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '100ms' }])
    await db.query('commit')
    expect(await whereIs(db, 'held')).toEqual([await partitionAt(db, 'outbox', later)])
    expect(await whereIs(db, 'beside')).toEqual([await partitionAt(db, 'outbox', at(0))])
  }))

test('a backup has the rows of all partitions, and a restore puts them into the same ones', () =>
  bare(async (db, database) => {
    const old = at(-60)
    const name = await partitionAt(db, 'outbox', old)
    await addPartition(db, 'outbox', old)
    await happen(db, old, 'old')
    await happen(db, at(0), 'new')
    const places = (client: pg.Client) =>
      client
        .query('select tableoid::regclass::text as place, event_id from outbox order by event_id')
        .then(({ rows }) => rows)
    const dir = await mkdtemp(join(tmpdir(), 'svc-partitions-'))
    onTestFinished(() => rm(dir, { recursive: true }))
    const file = join(dir, 'backup.tar')
    const copy = await newDatabase()
    for (const [{ url }, command] of [
      [database, 'backup'],
      [copy, 'restore'],
    ] as const) {
      const done = await runHere(['admin', command, file], {
        DATABASE_URL: url,
        SVC_MASTER_KEY: MASTER_KEY,
        DATA_DIR: dir,
      })
      expect(done.code, done.stderr).toBe(0)
    }
    const before = await places(db)
    expect(before.map(({ place }) => place)).toEqual([name, await partitionAt(db, 'outbox', at(0))])
    await asSuperuser(copy.database, async (client) => {
      expect(await places(client)).toEqual(before)
      expect(await partitionsOf(client, 'outbox')).toEqual(await partitionsOf(db, 'outbox'))
      expect(await maintain(client)).toEqual([])
    })
  }))

test('missing partitions are reported by /readyz, the metrics and svc admin doctor; the next process creates them', async () => {
  const database = await newDatabase()
  const open = () => openService({ db: database })
  const gauge = async ({ client }: Awaited<ReturnType<typeof open>>) =>
    /^svc_partitions_missing\{table="outbox"\} (\d+)$/m.exec((await client.get('/metrics')).text)?.[1]
  await asSuperuser(database.database, async (db) => {
    // Those of tomorrow too: a day may begin while this runs.
    await maintain(db, new Date(Date.now() + 86_400_000))
    const partitions = await partitionsOf(db, 'outbox')
    // Needed today and tomorrow.
    await db.query(`drop table ${await partitionAt(db, 'outbox', new Date(Date.now() + 21 * 86_400_000))}`)
    // Keeps everybody from creating it again.
    await db.query('begin; lock table outbox_default in row exclusive mode')
    const service = await open()
    onTestFinished(() => service.close())
    await expect.poll(() => gauge(service), { timeout: 30_000 }).toBe('1')
    const ready = await service.client.get('/readyz')
    expect(ready).toMatchObject({
      status: 200,
      json: {
        status: 'ready',
        roles: ['api', 'jobs', 'console'],
        warnings: ['The table outbox lacks partitions for the days ahead'],
      },
    })
    const env = { DATABASE_URL: database.url, SVC_MASTER_KEY: MASTER_KEY }
    const doctor = async () => {
      const { findings } = JSON.parse((await runHere(['admin', 'doctor', '--json'], env)).stdout)
      return findings.filter(({ check }: { check: string }) => check === 'partitions')
    }
    expect(await doctor()).toEqual([
      {
        check: 'partitions',
        status: 'WARN',
        detail: 'outbox lacks 1 partitions for today and the days ahead: is a process running?',
      },
    ])
    await db.query('commit')
    const second = await open()
    onTestFinished(() => second.close())
    await expect.poll(() => gauge(second), { timeout: 30_000 }).toBe('0')
    expect((await second.client.get('/readyz')).json).toEqual({
      status: 'ready',
      roles: ['api', 'jobs', 'console'],
    })
    expect(await partitionsOf(db, 'outbox')).toEqual(partitions)
    expect(await doctor()).toMatchObject([{ status: 'PASS' }])
  })
})
