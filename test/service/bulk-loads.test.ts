import { reconcile } from '@svc/core/ledger/reconcile'
import { BulkWorker } from '@svc/server/cards/bulk-worker'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundsOf } from '../harness/approvals.ts'
import { done, PATH, progress, results, summary, uploadLoads } from '../harness/bulk.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { startClosingOf } from '../harness/closing.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

const sql = <T>(of: TestService, text: string, values: unknown[] = []): Promise<T[]> =>
  asSuperuser(of.db.database, async (db) => (await db.query(text, values)).rows as T[])

interface World {
  readonly partner: TestPartner
  readonly client: Client
  readonly cards: readonly string[]
}

/** A partner with so many cards of 100 rupees. */
async function newWorld(of: TestService, cards: number, fundsPaise = 1_000_000_00n): Promise<World> {
  const partner = await newPartner(of, { accountType: 'MEAL', fundsPaise })
  const client = await asPartner(of.client, partner)
  const issued = await Promise.all(
    Array.from({ length: cards }, async (_, i) =>
      payloadOf(await createCard(client, partner, { loadAmount: 100, mobile: String(9_000_000_000 + i) })),
    ),
  )
  return { partner, client, cards: issued.map(({ svcCardId }) => svcCardId) }
}

const balances = ({ client, cards }: World): Promise<number[]> =>
  Promise.all(
    cards.map(async (id) => payloadOf(await client.get(`/api/v0/partner/svcCard/${id}`)).accountBalance),
  )
const loadsOf = (of: TestService, { partner: { partnerId } }: World) =>
  sql<Json>(of, 'select load_id from card_loads where partner_id = $1 order by load_id', [partnerId])
const lineOf = (svcCardId: string, referenceNumber: string, more: object = {}) => ({
  svcCardId,
  amount: 1.5,
  referenceNumber,
  ...more,
})

test('of 400 lines each load is made once, its result names the load, and an upload of the same lines again loads nothing', async () => {
  const world = await newWorld(service, 4)
  const { client, cards } = world
  const lines = Array.from({ length: 400 }, (_, i) => lineOf(cards[i % 4]!, `bulk-${i}`))
  const accepted = payloadOf(await uploadLoads(client, lines))
  expect(accepted).toEqual({ jobId: expect.stringMatching(/^blk_/), rows: 400, status: 'QUEUED' })
  expect(await done(client, accepted.jobId)).toMatchObject({
    kind: 'LOADS',
    rows: 400,
    done: 400,
    issued: 0,
    loaded: 400,
    failed: 0,
  })
  const rows = await results(client, accepted.jobId, 150)
  expect(rows.map(({ row, svcCardId }) => [row, svcCardId])).toEqual(
    lines.map(({ svcCardId }, i) => [i + 1, svcCardId]),
  )
  expect(await balances(world)).toEqual([250, 250, 250, 250])
  const again = payloadOf(await uploadLoads(client, lines, { 'idempotency-key': 'another' }))
  expect(await done(client, again.jobId)).toMatchObject({ loaded: 400, failed: 0 })
  expect(await results(client, again.jobId)).toEqual(rows)
  expect((await loadsOf(service, world)).map(({ load_id }) => load_id)).toEqual(
    rows.map(({ loadId }) => loadId).sort(),
  )
  expect(await balances(world)).toEqual([250, 250, 250, 250])
  expect((await reconcile(service.app.services.database)).ok).toBe(true)
})

test('each line that a single load would not pass fails alone, with the same error; those beside it are loaded', async () => {
  const world = await newWorld(service, 2)
  const outsider = await newWorld(service, 1)
  const { client } = world
  const [card, blocked] = world.cards as [string, string]
  const path = `/api/v0/partner/svcCard/${blocked}/status`
  payloadOf(await client.patch(path, { status: 'BL', reason: 'lost' }))
  const lines = [
    [lineOf(card, 'a'), 'LOADED'],
    ['not JSON', 'malformed_body'],
    ['[]', 'validation_failed'],
    [lineOf(card, 'b', { amount: 1.005 }), 'validation_failed'],
    [lineOf(card, 'b', { amount: '1.50' }), 'validation_failed'],
    [lineOf(card, ''), 'validation_failed'],
    [lineOf(card, 'b', { note: 'x' }), 'validation_failed'],
    [{ amount: 1, referenceNumber: 'b' }, 'validation_failed'],
    [lineOf('card_nothing', 'b'), 'card_not_found'],
    [lineOf(outsider.cards[0]!, 'b'), 'card_not_found'],
    [lineOf(blocked, 'b'), 'card_ended'],
    [lineOf(card, 'b', { amount: 10_000.01 }), 'load_over_limit'],
    [lineOf(card, 'a', { amount: 2 }), 'load_reference_in_use'],
    [lineOf(card, 'b', { amount: 9_800, reason: 'bonus' }), 'LOADED'],
    [lineOf(card, 'c', { amount: 99 }), 'load_over_limit'],
    [lineOf(card, 'd', { amount: 98.5 }), 'LOADED'],
  ] as const
  const { jobId, rows } = payloadOf(
    await uploadLoads(
      client,
      lines.map(([line]) => line),
    ),
  )
  expect(rows).toBe(lines.length)
  expect(await done(client, jobId)).toMatchObject({ loaded: 3, failed: 13 })
  expect(summary(await results(client, jobId))).toEqual(lines.map(([, outcome], i) => [i + 1, outcome]))
  expect(await balances(world)).toEqual([10_000, 100])
  expect(await balances(outsider)).toEqual([100])
})

test('of 40 loads from two processes for an account that has enough for 25, exactly 25 are made', async () => {
  const other = await openService({ db: service.db })
  const world = await newWorld(service, 2, 225_00n)
  const { client, cards, partner } = world
  const lines = Array.from({ length: 40 }, (_, i) => lineOf(cards[i % 2]!, `last-${i}`, { amount: 1 }))
  const { jobId } = payloadOf(await uploadLoads(client, lines))
  expect(await done(client, jobId)).toMatchObject({ loaded: 25, failed: 15 })
  const errors = (await results(client, jobId)).flatMap(({ error }) => (error ? [error] : []))
  expect(new Set(errors)).toEqual(new Set(['insufficient_funds']))
  expect(await fundsOf(service, partner)).toBe('0')
  expect((await balances(world)).reduce((sum, balance) => sum + balance, 0)).toBe(225)
  await other.close()
})

test('an upload of other lines under the same Idempotency-Key is rejected, and so are empty uploads and lines that are too long', async () => {
  const { client, cards } = await newWorld(service, 1)
  const key = { 'idempotency-key': 'april' }
  const first = await uploadLoads(client, [lineOf(cards[0]!, 'once')], key)
  payloadOf(first)
  expect((await uploadLoads(client, [lineOf(cards[0]!, 'once')], key)).text).toBe(first.text)
  expect((await uploadLoads(client, [lineOf(cards[0]!, 'twice')], key)).error).toBe('idempotency_key_reused')
  expect((await uploadLoads(client, [' '])).error).toBe('validation_failed')
  const long = await uploadLoads(client, ['{}', 'x'.repeat(4_097)])
  expect(long.errorDescription).toBe('Line 2 must have at most 4096 bytes')
  expect((await client.post(`${PATH}/loads`, lineOf(cards[0]!, 'json'))).status).toBe(415)
})

/** Without a worker of its own: what the test starts works. */
const idleService = (): Promise<TestService> => openService({ background: false })

async function working(of: TestService, until: () => Promise<boolean>): Promise<void> {
  const { loop } = new BulkWorker(of.app.services)
  loop.start()
  await expect.poll(until, { timeout: 20_000 }).toBe(true)
  await loop.stop()
}

test('rows whose load was made before the process died are reported with that load, also when their partner is closing by then; the others of a closing partner fail', async () => {
  const idle = await idleService()
  const world = await newWorld(idle, 1)
  const { client, cards, partner } = world
  const { partnerId } = partner
  const lines = Array.from({ length: 6 }, (_, i) => lineOf(cards[0]!, `dies-${i}`))
  const { jobId } = payloadOf(await uploadLoads(client, lines))
  const rows = () =>
    sql<Json>(
      idle,
      'select line, status, load_id, error from bulk_rows where partner_id = $1 order by line',
      [partnerId],
    )
  const isDone = async () => (await rows()).every(({ status }) => status !== 'PENDING')
  const contents = await sql<Json>(idle, 'select line, content from bulk_rows where partner_id = $1', [
    partnerId,
  ])
  await working(idle, isDone)
  const first = await rows()
  expect(first.map(({ status }) => status)).toEqual(lines.map(() => 'LOADED'))

  /** As a process leaves the job that dies between loads and their results. */
  const die = async () => {
    for (const { line, content: kept } of contents)
      await sql(
        idle,
        `update bulk_rows set status = 'PENDING', content = $3, svc_card_id = null, load_id = null,
           leased_until = '-infinity' where partner_id = $1 and line = $2`,
        [partnerId, line, kept],
      )
    await sql(idle, 'update bulk_jobs set issued = 0, finished_at = null where partner_id = $1', [partnerId])
    await sql(idle, 'delete from idempotency_keys where tenant_id = $1', [partnerId])
  }
  await die()
  await working(idle, isDone)
  expect(await rows()).toEqual(first)
  expect(await progress(client, jobId)).toMatchObject({ status: 'DONE', loaded: 6, failed: 0 })
  expect(await balances(world)).toEqual([109])

  await die()
  // One more, whose load was not made.
  payloadOf(await uploadLoads(client, [lineOf(cards[0]!, 'late')]))
  await startClosingOf(idle, partnerId)
  await working(idle, isDone)
  const late = (await rows()).find(({ status }) => status === 'FAILED')
  expect(late).toMatchObject({ error: 'tenant_closing' })
  expect((await rows()).filter(({ load_id }) => load_id).map(({ load_id }) => load_id)).toEqual(
    first.map(({ load_id }) => load_id),
  )
  expect(await loadsOf(idle, world)).toHaveLength(6)
  await idle.close()
})

test('a process of the previous version finds no job of loads, which it could only fail', async () => {
  const idle = await idleService()
  const { client, cards, partner } = await newWorld(idle, 1)
  payloadOf(await uploadLoads(client, [lineOf(cards[0]!, 'new')]))
  const jobsOf = (name: string) =>
    sql<Json>(idle, `select * from ${name}(100) where partner_id = $1`, [partner.partnerId])
  expect(await jobsOf('directory_bulk_jobs')).toEqual([])
  expect(await jobsOf('directory_bulk_loads')).toHaveLength(1)
  await startClosingOf(idle, partner.partnerId)
  expect(await jobsOf('directory_bulk_jobs_closing')).toEqual([])
  expect(await jobsOf('directory_bulk_loads')).toMatchObject([{ is_closing: true }])
  await idle.close()
})
