import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { moveSettled, storedConditions } from '@svc/console-api/alerts/conditions'
import { readWaiting } from '@svc/console-api/alerts/waiting'
import { readBankDays } from '@svc/core/ledger/bank-holidays'
import { BankDays, dayAfter } from '@svc/kernel/bank-days'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { onHoliday } from '../harness/bank-holidays.ts'
import { csvStatement } from '../harness/bank-statements.ts'
import { runHere } from '../harness/cli.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { closeAs, newDispute } from '../harness/disputes.ts'
import { creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, MASTER_KEY, openService, RAIL_KEY, type TestService } from '../harness/service.ts'

const HOUR_MS = 3_600_000
const ZONE = 'Asia/Kolkata'
const bankDays = new BankDays([])

let service: TestService
let today: string
beforeAll(async () => {
  service = await openService({ background: false })
  today = calendarDay(new Date(), ZONE)
  await sql(`insert into alert_watch (holder, until) values ('tests', '-infinity')`)
})
afterAll(() => service.close())

const sql = (text: string, values: unknown[] = []): Promise<Json[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows)

/** An hour of a day in the business zone. */
const at = (day: string, hour = 13): Date => new Date(Date.parse(`${day}T00:00:00+05:30`) + hour * HOUR_MS)

/** How bad a condition is at an instant; `undefined`: it is none. */
async function valueAt(kind: string, now: Date): Promise<number | undefined> {
  const { config, database } = service.app.services
  const found = await database.operate((tx) => storedConditions(tx, now, config))
  return found.find((each) => each.kind === kind)?.value
}

/** What is missing of the files of banks at an instant, and until when it was to come. */
async function missingAt(item: 'bank_statements' | 'settlement_files', now: Date) {
  const { config, database } = service.app.services
  const [found] = await database.operate(async (tx) =>
    readWaiting(tx, [item], await readBankDays(tx), now, config),
  )
  return found && { count: found.count, about: found.about, amount: found.amount, due: found.due }
}

async function svc(...args: string[]): Promise<Json> {
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const { code, stderr, stdout } = await runHere(['admin', ...args, '--json'], env)
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

const settle = async (valueDate: string, lines: Json[], netAmount?: string, batchUtr = newUtr()) => {
  const message = { batchUtr, valueDate, lines, ...(netAmount && { netAmount }) }
  payloadOf(await service.client.notify('/rails/upi/settlements', message, RAIL_KEY))
  return batchUtr
}

async function pay(): Promise<string> {
  const { tr } = await newCode(service, await service.as(await service.newMerchant()), { multipleUse: true })
  const utr = newUtr()
  payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 100, utr })))
  return utr
}

/** Until the end of T+1, and from the next day on. */
const lastInTime = (day: string): Date => at(bankDays.after(day, 1), 23)
const firstLate = (day: string): Date => at(dayAfter(bankDays.after(day, 1)), 0)

/** A payment that came before any settlement was imported. */
let first: string

test('while no settlement was imported, none is late', async () => {
  first = await pay()
  expect(await valueAt('settlement_late', firstLate(today))).toBeUndefined()
})

test('a bank day without its statement at noon of the next one, a transfer that no statement shows, and a line that fits nothing open alerts until they are there', async () => {
  const day = bankDays.before(today, 1)
  const next = bankDays.after(day, 1)
  const batchUtr = await settle(day, [{ kind: 'charge', amount: '-7.00' }])
  const of = ['--purpose', 'merchant_escrow', '--name', 'escrow', '--number', '50100012345678']
  const opened = ['--ifsc', 'HDFC0000123', '--opening', '100.00', '--from', day]
  const { bankAccountId } = await svc('bank-account', 'create', ...of, ...opened)
  expect(await valueAt('statement_missing', at(next, 11))).toBeUndefined()
  expect(await valueAt('statement_missing', at(next))).toBe(1)
  expect(await missingAt('bank_statements', at(day, 23))).toBeUndefined()
  for (const hour of [1, 11, 13])
    expect(await missingAt('bank_statements', at(next, hour))).toEqual({
      count: 1,
      about: 'escrow',
      amount: null,
      due: at(next, 12),
    })
  // While banks are closed none is to come.
  await onHoliday(service, next, async () =>
    expect(await missingAt('bank_statements', at(next))).toBeUndefined(),
  )
  const late = at(dayAfter(bankDays.after(day, 2)))
  expect(await valueAt('batch_unconfirmed', at(bankDays.after(day, 2)))).toBeUndefined()
  expect(await valueAt('batch_unconfirmed', late)).toBe(1)
  const file = join(await mkdtemp(join(tmpdir(), 'alerts-')), 'statement.csv')
  const lines = [
    { date: day, paise: -700, reference: batchUtr },
    { date: day, paise: 500, reference: 'INTEREST' },
  ]
  await writeFile(file, csvStatement(10_000, lines))
  const tomorrow = new Date(Date.now() + 25 * HOUR_MS)
  expect(await valueAt('statement_unmatched', tomorrow)).toBeUndefined()
  await svc('statement', 'import', file, '--account', bankAccountId)
  expect(await valueAt('statement_missing', at(next))).toBeUndefined()
  expect(await missingAt('bank_statements', at(next))).toBeUndefined()
  expect(await valueAt('batch_unconfirmed', late)).toBeUndefined()
  expect([
    await valueAt('statement_unmatched', new Date()),
    await valueAt('statement_unmatched', tomorrow),
  ]).toEqual([undefined, 1])
  const [line] = await sql(`select line_id as id from statement_lines where status = 'UNMATCHED'`)
  await svc('statement', 'resolve', line.id, '--as', 'interest', '--reason', 'of the quarter')
  expect(await valueAt('statement_unmatched', tomorrow)).toBeUndefined()
})

test('a payment that the bank has not settled is late once its T+1 is over, until it is settled', async () => {
  const { config, database } = service.app.services
  const utr = first
  await settle(today, [{ kind: 'charge', amount: '-1.00' }])
  expect(await valueAt('settlement_late', lastInTime(today))).toBeUndefined()
  expect(await valueAt('settlement_late', firstLate(today))).toBe(1)
  const valueDate = bankDays.after(today, 1)
  const missing = { count: 1, about: valueDate, amount: 10_000n, due: at(dayAfter(valueDate), 0) }
  expect(await missingAt('settlement_files', at(today, 23))).toBeUndefined()
  expect(await missingAt('settlement_files', at(valueDate, 1))).toEqual(missing)
  expect(await missingAt('settlement_files', firstLate(today))).toEqual(missing)
  const second = await pay()
  await settle(today, [{ kind: 'payment', reference: utr, amount: '100.00' }])
  await database.operate((tx) => moveSettled(tx, firstLate(today), config))
  const [{ settled_to: to }] = await sql('select settled_to from alert_watch')
  expect((await sql('select utr from payments where payment_id = $1', [to]))[0]).toEqual({ utr })
  expect(await valueAt('settlement_late', firstLate(today))).toBe(1)
  expect(await missingAt('settlement_files', firstLate(today))).toEqual(missing)
  await settle(today, [{ kind: 'payment', reference: second, amount: '100.00' }])
  expect(await valueAt('settlement_late', firstLate(today))).toBeUndefined()
  expect(await missingAt('settlement_files', firstLate(today))).toBeUndefined()
})

test('a transfer whose lines do not add up is late once its T+1 is over, over holidays, until its lines come', async () => {
  const batchUtr = await settle(today, [{ kind: 'charge', amount: '-1.00' }], '-1.18')
  expect(await valueAt('batch_incomplete', lastInTime(today))).toBeUndefined()
  expect(await valueAt('batch_incomplete', firstLate(today))).toBe(1)
  await onHoliday(service, bankDays.after(today, 1), async () => {
    expect(await valueAt('batch_incomplete', firstLate(today))).toBeUndefined()
    expect(await valueAt('batch_incomplete', at(dayAfter(bankDays.after(today, 2))))).toBe(1)
  })
  await settle(today, [{ kind: 'charge_gst', amount: '-0.18' }], '-1.18', batchUtr)
  expect(await valueAt('batch_incomplete', firstLate(today))).toBeUndefined()
})

test('a shortfall of an escrow account, and what is unexplained, are alerts until a later proof is in order', async () => {
  const prove = (version: number, unexplained: number, shortfall: number) =>
    sql(
      `insert into funds_proofs (tenant_id, proven_on, version, provisional, unexplained_paise, shortfall_paise, signed, created_at)
       values ('house', $1, $2, false, $3, $4, 'x', now())`,
      [today, version, unexplained, shortfall],
    )
  await prove(1, 125, 250)
  expect(await valueAt('proof_failed', new Date())).toBe(125)
  expect(await valueAt('escrow_shortfall', new Date())).toBe(250)
  await prove(2, 0, 0)
  expect(await valueAt('proof_failed', new Date())).toBeUndefined()
  expect(await valueAt('escrow_shortfall', new Date())).toBeUndefined()
})

test('a dispute without evidence is an alert in the last 48 hours, until it ends', async () => {
  const utr = await pay()
  const [payment] = await sql('select payment_id as id from payments where utr = $1', [utr])
  const disputeId = await newDispute(service, payment.id)
  const [{ due }] = await sql('select evidence_due_at as due from disputes where dispute_id = $1', [
    disputeId,
  ])
  const before = (hours: number) => new Date(due.getTime() - hours * HOUR_MS)
  expect(await valueAt('dispute_due', before(49))).toBeUndefined()
  expect(await valueAt('dispute_due', before(47))).toBe(47)
  await closeAs(service, disputeId, 'WON')
  expect(await valueAt('dispute_due', before(47))).toBeUndefined()
})
