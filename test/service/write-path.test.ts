import { reconcile } from '@svc/core/ledger/reconcile'
import { PAYMENT_CHECKS } from '@svc/core/payments/reconcile-payments'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type ApiResponse, type Client, payloadOf } from '../harness/client.ts'
import { type Cut, CuttingProxy } from '../harness/cutting-proxy.ts'
import {
  type Credit,
  cancel,
  creditOf,
  newCode,
  newCodes,
  newUtr,
  notifyCredit,
} from '../harness/qr-codes.ts'
import { asSuperuser, newDatabase, openService, type TestService } from '../harness/service.ts'

// Processes of their own take long to start on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let service: TestService
let client: Client

beforeAll(async () => {
  service = await openService()
  client = await service.as(await service.newMerchant())
})
afterAll(() => service.close())

const countBatches = async ({ db }: TestService): Promise<number> => {
  const { rows } = await asSuperuser(db.database, (admin) =>
    admin.query<{ n: string }>('select count(*) as n from batches'),
  )
  return Number(rows[0]!.n)
}

const troublesOf = async (trouble: string): Promise<number> => {
  const { values } = await service.app.services.metrics.batchTroubles.get()
  return values
    .filter(({ labels }) => labels['trouble'] === trouble)
    .reduce((sum, { value }) => sum + value, 0)
}

/** Runs statements on the service's database as its superuser. */
const sql = (text: string, { db } = service): Promise<unknown> =>
  asSuperuser(db.database, (admin) => admin.query(text))

const statusesOf = (responses: readonly ApiResponse[]): string[] =>
  responses.map((response) => payloadOf(response).status as string)

test('a single command is its own transaction', async () => {
  const before = await countBatches(service)
  for (let i = 0; i < 10; i++) payloadOf(await client.post('/api/v0/qr-code', { qrName: `${i}` }))
  expect(await countBatches(service)).toBe(before + 10)
})

test('commands that arrive together share transactions', async () => {
  const before = await countBatches(service)
  const codes = await newCodes(service, client, 400)
  expect(new Set(codes.map(({ qrCodeId }) => qrCodeId)).size).toBe(400)
  expect((await countBatches(service)) - before).toBeLessThan(200)
})

test('a command that breaks its batch fails alone, and the rest of the batch succeeds', async () => {
  const clients = [
    client,
    await service.as(await service.newMerchant()),
    await service.as(await service.newMerchant()),
  ]
  const codes = await Promise.all(
    clients.map((merchant) => newCode(service, merchant, { multipleUse: true })),
  )
  await sql(`create function poison() returns trigger language plpgsql as $$ begin
      if new.utr = 'POISON000001' then raise exception 'poisoned' using errcode = '22012'; end if; return new; end $$;
    create trigger poison before insert on payments for each row execute function poison()`)
  const splits = await troublesOf('split')
  const credits = Array.from({ length: 90 }, (_, i) =>
    creditOf(codes[i % 3]!.tr, i === 40 ? { utr: 'POISON000001' } : {}),
  )
  const responses = await Promise.all(credits.map((credit) => notifyCredit(service.client, credit)))
  expect(responses[40]!).toMatchObject({ status: 500, error: 'internal_error' })
  expect(new Set(statusesOf(responses.filter((_, i) => i !== 40)))).toEqual(new Set(['ACCEPTED']))
  expect(await troublesOf('split')).toBeGreaterThan(splits)
  await sql('drop trigger poison on payments')
  expect(payloadOf(await notifyCredit(service.client, credits[40]!)).status).toBe('ACCEPTED')
})

test.each(['40001', '40P01'])('SQLSTATE %s never reaches a caller', async (state) => {
  const { tr } = await newCode(service, client, { multipleUse: true })
  // A sequence does not roll back, so that two transactions of three fail.
  await sql(`create sequence races; grant usage on sequence races to svc_service;
    create function race() returns trigger language plpgsql as $$ begin
      if nextval('races') % 3 <> 0 then raise exception 'race' using errcode = '${state}'; end if; return null; end $$;
    create trigger race before insert on payments for each statement execute function race()`)
  const retried = await troublesOf('retried')
  const responses = await Promise.all(
    Array.from({ length: 200 }, () => notifyCredit(service.client, creditOf(tr))),
  )
  await sql('drop trigger race on payments; drop function race; drop sequence races')
  expect(new Set(statusesOf(responses))).toEqual(new Set(['ACCEPTED']))
  expect(await troublesOf('retried')).toBeGreaterThan(retried)
})

test('only the tenant over its share of waiting commands is rejected, with 503 and Retry-After, and without a log line for each', async () => {
  const small = await openService({ env: { TENANT_QUEUE_MAX: '10' } })
  const [busy, other] = [await small.as(await small.newMerchant()), await small.as(await small.newMerchant())]
  const [held, free] = [await newCode(small, busy), await newCode(small, other)]
  const responses = await asSuperuser(small.db.database, async (admin) => {
    await admin.query('begin')
    await admin.query('select from qr_codes where qr_code_id = $1 for update', [held.qrCodeId])
    const waiting = Array.from({ length: 60 }, () => cancel(busy, held.qrCodeId))
    // The first refusal shows that the queue is full.
    const refused = Promise.any(
      waiting.map(async (response) =>
        (await response).status === 503 ? response : Promise.reject(new Error('taken')),
      ),
    )
    expect(await refused).toMatchObject({ error: 'overloaded', headers: { 'retry-after': '1' } })
    expect(payloadOf(await cancel(other, free.qrCodeId)).status).toBe('CANCELLED')
    await admin.query('rollback')
    return Promise.all(waiting)
  })
  const taken = responses.filter(({ status }) => status === 200)
  expect(taken.length).toBeGreaterThanOrEqual(10)
  expect(new Set(taken.map(({ text }) => text)).size).toBe(1)
  expect(responses.filter(({ error }) => error === 'overloaded').length + taken.length).toBe(60)
  expect(small.logged()).toContain('requests are refused')
  expect(small.logged()).not.toContain('a request failed')
  await small.close()
})

test('connections cut around COMMIT: no caller sees an error, every acknowledged write is there exactly once', async () => {
  const db = await newDatabase()
  const proxy = await CuttingProxy.open(db)
  const cut = await openService({ db: { ...db, host: '127.0.0.1', port: proxy.port } })
  const merchant = await cut.as(await cut.newMerchant())
  const codes = await newCodes(cut, merchant, 8, { multipleUse: true })
  // Every other COMMIT of a batch, first before and then after it was carried out.
  const plan: (Cut | undefined)[] = [
    'before COMMIT',
    undefined,
    'after COMMIT',
    undefined,
    'after COMMIT',
    'before COMMIT',
  ]
  let commits = 0
  proxy.cut(() => plan[commits++ % plan.length])
  const credits: Credit[] = []
  const cancelled = await newCodesWhile(cut, merchant)
  const pay = async (caller: number) => {
    for (let i = 0; i < 40 || proxy.cuts['before COMMIT'] + proxy.cuts['after COMMIT'] < 100; i++) {
      const credit = creditOf(codes[caller % codes.length]!.tr, { utr: newUtr(), amount: i + 1 })
      credits.push(credit)
      expect(payloadOf(await notifyCredit(cut.client, credit)).status).toBe('ACCEPTED')
    }
  }
  await Promise.all([
    ...Array.from({ length: 16 }, (_, caller) => pay(caller)),
    ...cancelled.map((id) => cancel(merchant, id).then(payloadOf)),
  ])
  proxy.cut(() => undefined)
  expect(proxy.cuts['before COMMIT']).toBeGreaterThan(30)
  expect(proxy.cuts['after COMMIT']).toBeGreaterThan(30)
  const { rows } = await asSuperuser(db.database, (admin) =>
    admin.query(
      'select utr, count(*)::int as n from payments p join ledger_transfers t on t.object_id = p.payment_id group by utr',
    ),
  )
  expect(new Map(rows.map((row) => [row.utr, row.n]))).toEqual(new Map(credits.map(({ utr }) => [utr, 1])))
  const events = await asSuperuser(db.database, (admin) =>
    admin.query(`select from outbox where type = 'qr_code.credited'`),
  )
  expect(events.rowCount).toBe(credits.length)
  expect((await reconcile(cut.app.services.database, PAYMENT_CHECKS)).ok).toBe(true)
  await cut.close()
  await proxy.close()
})

const newCodesWhile = async (cut: TestService, merchant: Client) =>
  (await newCodes(cut, merchant, 40)).map(({ qrCodeId }) => qrCodeId)
