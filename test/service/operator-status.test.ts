import { calendarDay, instantOfDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { creditOf, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let viewer: Browser
beforeAll(async () => {
  service = await openService()
  viewer = await signedIn(service, 'viewer')
})
afterAll(() => service.close())

const sql = (text: string, values: unknown[] = []) =>
  asSuperuser(service.db.database, (db) => db.query(text, values))

/** Counts something in the first minute of a period, and a second time just after its end. */
const counted = async ({ from, to }: Json, what: string, count: number, amount = 0) =>
  sql(
    `insert into minute_sums (minute, what, count, amount) values ($1, $3, $4, $5), ($2, $3, 1000, 0)
     on conflict (minute, what) do update set count = excluded.count, amount = excluded.amount`,
    [from, to, what, count, amount],
  )

test('today’s figures are shown with those of yesterday and of last week until the same time of day', async () => {
  const real = service.clock.now
  const noonMs = instantOfDay(calendarDay(new Date(), 'Asia/Kolkata'), 12 * 60, 'Asia/Kolkata').getTime()
  service.clock.now = () => noonMs + 30_000
  try {
    // Noon may be farther from now than a session lasts.
    const viewer = await signedIn(service, 'viewer')
    const [, yesterday, lastWeek] = (await viewer.get('/status')).json.periods
    expect(yesterday).toMatchObject({
      isComplete: false,
      requests: 0,
      to: expect.stringContaining('T12:00:00.000'),
    })
    await counted(lastWeek, 'request', 70)
    await counted(lastWeek, 'failure rate_limited', 6)
    await counted(yesterday, 'request', 50)
    await counted(yesterday, 'failure rate_limited', 4)
    await counted(yesterday, 'failure internal_error', 2)
    await counted(yesterday, 'event qr_code.credited', 3, 12_345)
    const periods = async () => (await viewer.get('/status')).json.periods
    // The service measures once for all who ask within some seconds.
    await expect.poll(async () => (await periods())[1].requests, { timeout: 20_000 }).toBe(50)
    expect(await periods()).toMatchObject([
      { name: 'today', from: expect.stringContaining('T00:00:00.000+05:30') },
      {
        name: 'yesterday',
        isComplete: true,
        clientErrors: 4,
        serverErrors: 2,
        payments: 3,
        paymentsAmount: '123.45',
      },
      { name: 'lastWeek', isComplete: true, requests: 70, clientErrors: 6, serverErrors: 0, payments: 0 },
    ])
    const { errors } = (await viewer.get('/status')).json
    expect(errors).toContainEqual(
      expect.objectContaining({ error: 'rate_limited', status: 429, yesterday: 4, lastWeek: 6 }),
    )
  } finally {
    service.clock.now = real
  }
})

test('the status shows what waits and since when, which database serves it, and when the books were checked', async () => {
  await notifyCredit(service.client, creditOf('NOSUCHCODE', { amount: 3 }))
  await sql(`update payments set created_at = '2026-01-02T03:04:05Z'::timestamptz where status = 'SUSPENSE'`)
  const queue = async (name: string) =>
    (await viewer.get('/status')).json.queues.find((each: Json) => each.name === name)
  await expect
    .poll(() => queue('suspense'), { timeout: 20_000 })
    .toEqual({
      name: 'suspense',
      waiting: 1,
      oldestOn: '2026-01-02T08:34:05.000+05:30',
    })
  expect(await queue('payouts_to_approve')).toEqual({ name: 'payouts_to_approve', waiting: 0 })
  const books = async () => (await viewer.get('/status')).json.books
  await expect.poll(async () => (await books()).state, { timeout: 20_000 }).toBe('balanced')
  expect(await books()).toMatchObject({ isOverdue: false, everySeconds: 900 })
  const { database, latencies } = (await viewer.get('/status')).json
  expect(database).toMatchObject({ role: 'primary', version: expect.stringMatching(/^\d+/) })
  for (const { count, p50, p95, p99 } of latencies) {
    expect(count).toBeGreaterThan(0)
    expect(p50).toBeLessThanOrEqual(p95)
    expect(p95).toBeLessThanOrEqual(p99)
  }
  await sql(`update console_checks set started_at = started_at - interval '1 hour' where kind = 'ledger'`)
  await expect.poll(async () => (await books()).isOverdue, { timeout: 20_000 }).toBe(true)
})

test('an administrator reads what is in force of each setting, and of a secret only whether it is set', async () => {
  const admin = await signedIn(service, 'admin')
  const { data } = (await admin.get('/settings')).json
  const of = (name: string) => data.find((setting: Json) => setting.name === name)
  expect(of('COMMAND_TIMEOUT_MS')).toMatchObject({ isSet: true, isDefault: true, byDefault: '10000' })
  expect(of('SVC_MASTER_KEY')).toMatchObject({ isSet: true, isDefault: false, isHidden: true })
  expect(data.filter(({ isHidden, value }: Json) => isHidden && value !== undefined)).toEqual([])
  expect((await viewer.get('/settings')).status).toBe(403)
})
