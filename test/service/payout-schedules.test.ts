import { changePayout } from '@svc/core/payments/payouts/change-payout'
import { prepareScheduledPayouts } from '@svc/core/payments/payouts/prepare-scheduled-payouts'
import type { TestClocks } from '@svc/core/tenants/test-clocks'
import { dayAfter, monthEnd, weekdayOf } from '@svc/kernel/bank-days'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeBanks } from '../harness/bank-holidays.ts'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { Browser, newOperator, PASSWORD, signedIn } from '../harness/console.ts'
import { onceAwaited } from '../harness/lock-wait.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount } from '../harness/payouts.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { brokenIn } from '../harness/refunds.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

const ZONE = 'Asia/Kolkata'
const env = { PAYOUT_REQUIRES_SETTLEMENT: 'false' }

let service: TestService
let other: TestService
let finance: string
beforeAll(async () => {
  service = await openService({ background: false, env })
  other = await openService({ background: false, db: service.db, env })
  finance = (await newOperator(service, 'finance')).name
})
afterAll(async () => {
  await other?.close()
  await service?.close()
})

interface Shop {
  readonly merchantId: string
  readonly tr: string
}

async function shop(): Promise<Shop> {
  const merchant = await service.newMerchant()
  const { tr } = await newCode(service, await service.as(merchant), { multipleUse: true })
  await giveAccount(service, merchant.merchantId)
  return { merchantId: merchant.merchantId, tr }
}

const pay = async ({ tr }: Shop, amount: number): Promise<void> =>
  void payloadOf(await notifyCredit(service.client, creditOf(tr, { amount })))

/** Ten in the morning of a day, by the merchant's clock. */
const advanceTo = async ({ merchantId }: Shop, day: string): Promise<void> =>
  void payloadOf(
    await service.client.post(`/sandbox/tenants/${merchantId}/clock/advance`, {
      to: `${day}T10:00:00+05:30`,
    }),
  )

const svc = (...args: string[]) =>
  runHere(['admin', ...args], {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    SVC_OPERATOR: finance,
    SVC_OPERATOR_PASSWORD: PASSWORD,
  })
const schedulesAfter = async (...command: string[]): Promise<Json[]> => {
  const { code, stderr, stdout } = await svc('payout', ...command, '--json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout).schedules
}
const schedule = ({ merchantId }: Shop) => schedulesAfter('terms', merchantId)
const set = ({ merchantId }: Shop, ...options: string[]) =>
  schedulesAfter('schedule', merchantId, ...options, '--reason', 'agreed')

const sql = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query<Row>(text, values)).rows)

/** Each payout: the day until whose end it pays, when it was prepared, and its rupees. */
const payoutsOf = async ({ merchantId }: Shop) =>
  (
    await sql<{ until: string; at: Date; paise: string }>(
      `select business_day::text as until, created_at as at, amount_paise::text as paise
       from payouts where merchant_id = $1 order by business_day`,
      [merchantId],
    )
  ).map(({ until, at, paise }) => ({ until, on: calendarDay(at, ZONE), rupees: Number(paise) / 100 }))

const outcomesOf = async ({ merchantId }: Shop): Promise<string[]> =>
  (
    await sql<{ outcome: string }>(
      `select outcome from payout_periods where merchant_id = $1 and outcome is not null order by ends_on`,
      [merchantId],
    )
  ).map(({ outcome }) => outcome)

/** The first day of a month of which nothing is over by any clock. */
const monthAhead = (): string => dayAfter(monthEnd(dayAfter(monthEnd(calendarDay(new Date(), ZONE)))))

const prepareAll = async (on: TestService): Promise<void> => {
  while ((await prepareScheduledPayouts(on.app.services)) > 0);
}

/** A merchant whose period is over and waits for the banks: as many periods as payments, a day each. */
async function waiting(payments: readonly number[], ...options: string[]) {
  const of = await shop()
  const today = calendarDay(new Date(), ZONE)
  const open = await closeBanks(service, today, 30)
  await set(of, '--every', 'day', '--after', '1', ...options)
  for (const [i, amount] of payments.entries()) {
    if (i > 0) await advanceTo(of, dayAfter(today, i))
    await pay(of, amount)
  }
  // Beyond the second of two days on which banks are closed anyway.
  await advanceTo(of, dayAfter(today, 20))
  expect(await payoutsOf(of)).toEqual([])
  await open()
  // What another process moved is known within a second.
  await (other.app.services.clock as TestClocks).load(other.app.services.database)
  return { of, today }
}

test('what schedules plan is shown by its bank day: what is payable now, of merchants who have at least their minimum', async () => {
  const [one, other, few] = [await shop(), await shop(), await shop()]
  for (const of of [one, other]) await set(of, '--every', 'week', '--on', 'mon', '--after', '2')
  await set(few, '--every', 'week', '--on', 'mon', '--after', '2', '--minimum', '500')
  const [{ preparedOn }] = await schedule(one)
  const console = await signedIn(service, 'viewer')
  const planned = async () =>
    (await console.get('/waiting')).json.planned.find((each: Json) => each.preparedOn === preparedOn)
  expect(await planned()).toBeUndefined()
  await pay(one, 120)
  await pay(other, 80.5)
  await pay(few, 499)
  expect(await planned()).toEqual({ preparedOn, count: 2, amount: 200_50 })
  await pay(few, 1)
  expect(await planned()).toEqual({ preparedOn, count: 3, amount: 700_50 })
})

test('a month of weekly payouts is prepared on the bank days after Mondays, over a holiday, by the merchant’s clock', async () => {
  const of = await shop()
  const first = Array.from({ length: 7 }, (_, i) => dayAfter(monthAhead(), i)).find(
    (day) => weekdayOf(day) === 2,
  )!
  const mondays = [6, 13, 20, 27].map((days) => dayAfter(first, days))
  await advanceTo(of, first)
  const [shown] = await set(of, '--every', 'week', '--on', 'mon', '--after', '1')
  expect(shown).toMatchObject({
    every: 'week',
    on: 'mon',
    after: 1,
    minimum: '0.00',
    from: first,
    periodEnds: mondays[0],
    preparedOn: dayAfter(mondays[0]!),
    setBy: `operator ${finance}`,
  })
  const holiday = dayAfter(mondays[1]!)
  const open = await closeBanks(service, holiday, 1)
  for (let day = first; day <= dayAfter(mondays[3]!, 2); day = dayAfter(day)) {
    await advanceTo(of, day)
    await pay(of, 10)
  }
  await open()
  // Each pays for the seven days until its Monday, whenever it is prepared.
  expect(await payoutsOf(of)).toEqual(
    mondays.map((until, i) => ({ until, on: dayAfter(until, i === 1 ? 2 : 1), rupees: 70 })),
  )
  expect(await brokenIn(service)).toEqual([])
})

test('less than the minimum waits for the next period', async () => {
  const { of, today } = await waiting([30, 30], '--minimum', '50')
  await prepareAll(service)
  expect((await payoutsOf(of)).map(({ until, rupees }) => [until, rupees])).toEqual([[dayAfter(today), 60]])
  expect((await outcomesOf(of)).slice(0, 3)).toEqual(['BELOW_MINIMUM', 'PREPARED', 'NOTHING_DUE'])
  expect(await brokenIn(service)).toEqual([])
})

test('periods that were missed are decided once each, in their order, whichever processes do it', async () => {
  const { of, today } = await waiting([10, 20, 30])
  await Promise.all([service, other, service, other].map(prepareAll))
  expect((await payoutsOf(of)).map(({ until, rupees }) => [until, rupees])).toEqual([
    [today, 10],
    [dayAfter(today), 20],
    [dayAfter(today, 2), 30],
  ])
  const again = sql(
    `update payout_periods set outcome = 'NOTHING_DUE', payout_id = null where merchant_id = $1 and outcome = 'PREPARED'`,
    [of.merchantId],
  )
  await expect(again).rejects.toThrow('decided once')
  expect(await brokenIn(service)).toEqual([])
})

test('a process that is killed while it prepares leaves a period that is decided once', async () => {
  const { of, today } = await waiting([40])
  await asSuperuser(service.db.database, async (holder) => {
    await holder.query('begin')
    await holder.query(`select from ledger_accounts where tenant_id = $1 for update`, [of.merchantId])
    const run = prepareScheduledPayouts(service.app.services).catch(() => undefined)
    await onceAwaited(holder)
    await holder.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    await holder.query('rollback')
    await run
  })
  await prepareAll(other)
  expect((await payoutsOf(of)).map(({ until, rupees }) => [until, rupees])).toEqual([[today, 40]])
  expect(await brokenIn(service)).toEqual([])
})

test('without a schedule, and with never, nothing is prepared by itself', async () => {
  const [of, ended] = [await shop(), await shop()]
  expect(await schedule(of)).toEqual([])
  const today = calendarDay(new Date(), ZONE)
  await set(ended, '--every', 'day')
  const [running, next] = await set(ended, '--every', 'never')
  // The period that runs ends as it was agreed.
  expect([running, next]).toMatchObject([
    { every: 'day', periodEnds: today },
    { every: 'never', from: dayAfter(today) },
  ])
  for (const each of [of, ended]) {
    await pay(each, 10)
    await advanceTo(each, dayAfter(today, 12))
    await pay(each, 20)
    await advanceTo(each, dayAfter(today, 40))
  }
  expect(await payoutsOf(of)).toEqual([])
  expect(await payoutsOf(ended)).toMatchObject([{ until: today, rupees: 10 }])
  expect(await schedule(ended)).toMatchObject([{ every: 'never' }])
  const [again] = await set(ended, '--every', 'month', '--on', '31')
  expect(again).toMatchObject({ from: dayAfter(today, 40), periodEnds: monthEnd(dayAfter(today, 40)) })
})

test('a schedule is changed from the next period on; the same again changes nothing', async () => {
  const of = await shop()
  const today = calendarDay(new Date(), ZONE)
  const [first] = await set(of, '--every', 'month', '--on', '31', '--after', '2')
  expect(first).toMatchObject({ from: today, periodEnds: monthEnd(today), on: '31' })
  expect(await set(of, '--every', 'month', '--on', '31', '--after', '2')).toEqual([first])
  const from = dayAfter(monthEnd(today))
  const changed = await set(of, '--every', 'day', '--after', '0', '--minimum', '10.50')
  expect(changed).toMatchObject([first, { every: 'day', from, periodEnds: from, minimum: '10.50' }])
  expect(await schedule(of)).toEqual(changed)
  const rows = await sql('select from payout_schedules where merchant_id = $1', [of.merchantId])
  expect(rows).toHaveLength(2)
  await expect(
    sql('update payout_schedules set after_days = 0 where merchant_id = $1', [of.merchantId]),
  ).rejects.toThrow('a schedule is not changed')
  const browser = new Browser(service)
  await browser.signIn(finance)
  const { schedules } = (await browser.get(`/merchants/${of.merchantId}/payout-terms`)).json
  expect(schedules).toMatchObject([
    { every: 'month', on: '31', after: 2, periodEnds: monthEnd(today) },
    { every: 'day', from, minimum: '10.50' },
  ])
})

test('who set a schedule cannot approve what is prepared by it', async () => {
  const { of } = await waiting([25])
  await prepareAll(service)
  const [payout] = await sql<{ id: string; by: string }>(
    'select payout_id as id, prepared_by as by from payouts where merchant_id = $1',
    [of.merchantId],
  )
  expect(payout!.by).toBe(`operator ${finance}`)
  const approve = (by: string) =>
    operatorsOf(service.app.services.commands)
      .open(changePayout)
      .run({ merchantId: of.merchantId, payoutId: payout!.id, step: { to: 'APPROVED', by } })
  await expect(approve(`operator ${finance}`)).rejects.toMatchObject({ code: 'payout_same_person' })
  await approve('operator ravi')
})

test.each([
  [['--on', 'mon', '--reason', 'x'], '--every <text>'],
  [['--every', 'week', '--reason', 'x'], '--on must be mon'],
  [['--every', 'month', '--on', '32', '--reason', 'x'], '--on must be a day of the month'],
  [['--every', 'day', '--on', 'mon', '--reason', 'x'], '--on must be absent'],
  [['--every', 'never', '--after', '1', '--reason', 'x'], '--after must be absent'],
  [['--every', 'day'], "'--reason <text>' not specified"],
  [['--every', 'day', '--after', '31', '--reason', 'x'], '--after must be'],
])('payout schedule %j is refused with what would be right', async (options, message) => {
  const { code, stderr } = await svc('payout', 'schedule', 'mer_none', ...options)
  expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
})
