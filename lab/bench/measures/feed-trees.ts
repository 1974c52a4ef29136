import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { newId } from '@svc/contract/id-kinds'
import { proveConsistency, proveInclusion } from '@svc/core/webhooks/feed-proofs'
import { growSomeTrees } from '@svc/core/webhooks/grow-trees'
import { additionsOf, leafHash, openTiles, type Tiles, tileName } from '@svc/platform/crypto/merkle'
import { Database } from '@svc/platform/db/database'
import { migrate } from '@svc/platform/db/migrate'
import { openLog } from '@svc/platform/log'
import pg from 'pg'
import { newServer } from '../bed.ts'
import { median } from '../contest.ts'
import type { Measure, Result, Setting } from './measure.ts'

const TENANTS = 20
const EVENTS_A_ROUND = 2_000
const ROUNDS = 15
const LEAVES = 1_000_000
const LEAVES_A_BATCH = 20_000
const PROOFS = 200

/** A database of its own, without a service whose loops would take part. */
async function openFeeds() {
  const { server, dataDir } = await newServer()
  const { host, port } = server
  const root = new pg.Client({ host, port, user: 'postgres', database: 'postgres' })
  await root.connect()
  await root.query('create database svc')
  await root.end()
  const address = { host, port, database: 'svc' }
  await migrate(address)
  const admin = new pg.Client({ ...address, user: 'postgres', options: '-c search_path=svc' })
  await admin.connect()
  await admin.query(
    `insert into tenants select 'mer_feed' || n, 'merchant', now() from generate_series(0, ${TENANTS}) n`,
  )
  const database = new Database(address, 2, openLog('warn'))
  return {
    admin,
    database,
    async close() {
      await database.close()
      await admin.end()
      await server.release()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

type Feeds = Awaited<ReturnType<typeof openFeeds>>

/** Events as payments write them, not numbered yet. */
async function insertEvents({ admin }: Feeds): Promise<void> {
  const ids = Array.from({ length: EVENTS_A_ROUND }, () => newId('evt', Date.now(), randomBytes))
  await admin.query(
    `with events as (
       insert into outbox (event_id, tenant_id, type, object_id, payload, created_at)
       select e.id, 'mer_feed' || e.n % ${TENANTS}, 'qr_code.credited', 'qr_' || lpad(e.n::text, 26, '0'),
         jsonb_build_object('qrCodeId', 'qr_' || lpad(e.n::text, 26, '0'), 'paymentId', 'pay_' || lpad(e.n::text, 26, '0'),
           'utr', 'B' || lpad(e.n::text, 19, '0'), 'amount', 249.5, 'payerVpa', 'payer@bank', 'status', 'ACCEPTED',
           'payerName', repeat('x', 40), 'customParams', jsonb_build_object('till', '12', 'order', e.n::text),
           'createdOn', '2026-01-01T00:00:00.000+05:30'), date_trunc('milliseconds', clock_timestamp())
       from unnest($1::text[]) with ordinality as e (id, n) returning *)
     insert into unnumbered_events (created_at, tenant_id, event_id, type, object_id, amount)
     select created_at, tenant_id, event_id, type, object_id, payload -> 'amount' from events`,
    [ids],
  )
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}

/** Microseconds for an event: numbering and growing of the trees in turns. */
async function measureGrowth(feeds: Feeds): Promise<{ numbering: number; growing: number }> {
  const [numbering, growing]: [number[], number[]] = [[], []]
  const services = { database: feeds.database, random: (size: number) => randomBytes(size) }
  for (let round = 0; round < ROUNDS; round++) {
    await insertEvents(feeds)
    const number = { name: 'bench_number', text: 'select number_events($1, now())' }
    numbering.push(await msOf(() => feeds.database.directory(number, [EVENTS_A_ROUND])))
    growing.push(await msOf(() => growSomeTrees(services, '')))
  }
  const perEvent = (all: readonly number[]) => (median(all) / EVENTS_A_ROUND) * 1_000
  return { numbering: perEvent(numbering), growing: perEvent(growing) }
}

/** Gives the last tenant a tree of a million leaves, with one event whose number is in its middle. */
async function growMillion({ admin }: Feeds, progress: Setting['progress']): Promise<string> {
  const tenantId = `mer_feed${TENANTS}`
  const all = new Map<string, Buffer>()
  for (let size = 0; size < LEAVES; size += LEAVES_A_BATCH) {
    progress(`hashing leaves: ${size} of ${LEAVES}`)
    const open: Tiles = new Map(openTiles(size).map((key) => [tileName(key), all.get(tileName(key))!]))
    const leaves = Array.from({ length: LEAVES_A_BATCH }, (_, n) => leafHash(Buffer.from(String(size + n))))
    for (const { hashes, ...key } of additionsOf(size, open, leaves))
      all.set(tileName(key), Buffer.concat([all.get(tileName(key)) ?? Buffer.alloc(0), hashes]))
  }
  const rows = [...all].map(([name, hashes]) => ({ key: name.split('/').map(Number), hashes }))
  await admin.query(
    `insert into feed_tiles select $1, k.level, k.tile, k.hashes
     from unnest($2::smallint[], $3::bigint[], $4::bytea[]) as k (level, tile, hashes)`,
    [
      tenantId,
      rows.map(({ key }) => key[0]),
      rows.map(({ key }) => key[1]),
      rows.map(({ hashes }) => hashes),
    ],
  )
  const eventId = newId('evt', Date.now(), randomBytes)
  await admin.query(
    `insert into event_counters (tenant_id, last_sequence, proven_sequence) values ($1, ${LEAVES}, ${LEAVES})`,
    [tenantId],
  )
  await admin.query(`insert into outbox values ($1, $2, 'qr_code.expired', 'qr_1', '{}', now())`, [
    eventId,
    tenantId,
  ])
  await admin.query(
    `insert into event_numbers select tenant_id, ${LEAVES / 2 + 7}, 0, created_at, event_id, type from outbox
     where event_id = $1`,
    [eventId],
  )
  await admin.query('vacuum analyze')
  return eventId
}

async function measureProofs(feeds: Feeds, eventId: string) {
  const tenantId = `mer_feed${TENANTS}`
  const [inclusion, consistency]: [number[], number[]] = [[], []]
  for (let n = 0; n < PROOFS; n++) {
    const read = <T>(work: Parameters<typeof feeds.database.read<T>>[1]) =>
      feeds.database.read([tenantId], work)
    inclusion.push(await msOf(() => read((tx) => proveInclusion(tx, tenantId, eventId, LEAVES - n))))
    consistency.push(
      await msOf(() => read((tx) => proveConsistency(tx, tenantId, Math.floor(LEAVES / 3) + n, LEAVES))),
    )
  }
  return { inclusion: median(inclusion), consistency: median(consistency) }
}

/** What the trees of feeds cost beside numbering, and a proof of a large one. */
export const feedTrees: Measure = {
  id: 'feed-trees',
  title: 'Trees of event feeds',
  onlyWith: '--only',
  async run({ progress }): Promise<Result> {
    const feeds = await openFeeds()
    try {
      const { numbering, growing } = await measureGrowth(feeds)
      const proofs = await measureProofs(feeds, await growMillion(feeds, progress))
      return {
        figures: [],
        comparisons: [],
        notes: [
          { name: 'Numbering an event', value: numbering, unit: 'µs' },
          { name: 'Adding it to its tree', value: growing, unit: 'µs' },
          { name: 'Inclusion proof, 1,000,000 leaves', value: proofs.inclusion, unit: 'ms', atMost: 5 },
          { name: 'Consistency proof, 1,000,000 leaves', value: proofs.consistency, unit: 'ms', atMost: 5 },
        ],
      }
    } finally {
      await feeds.close()
    }
  },
}
