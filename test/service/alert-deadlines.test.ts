import { storedConditions } from '@svc/console-api/alerts/conditions'
import { monthBefore } from '@svc/console-api/issue-invoices'
import { accrueDueFees } from '@svc/core/payments/fees/accrue-fees'
import { moveOwnFunds } from '@svc/core/payments/own-funds/move-own-funds'
import { takeBackOwnFunds } from '@svc/core/payments/own-funds/take-back-own-funds'
import { paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { onHoliday } from '../harness/bank-holidays.ts'
import { payloadOf } from '../harness/client.ts'
import { issueMonth, newBilled, payAt } from '../harness/invoices.ts'
import { operatorsOf } from '../harness/operators.ts'
import { giveAccount, giveFee, sendPayoutOf } from '../harness/payouts.ts'
import { cancel, creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let service: TestService
beforeAll(async () => {
  service = await openService({ background: false })
})
afterAll(() => service.close())

/** The deadlines that are over at an instant, with their severity. */
async function overAt(now: Date): Promise<Record<string, string>> {
  const { config, database } = service.app.services
  const found = await database.operate((tx) => storedConditions(tx, now, config))
  const deadlines = new Set<string>([
    'refund_late',
    'merchant_refund_late',
    'payout_late',
    'invoice_missing',
    'close_late',
    'gst_due',
  ])
  return Object.fromEntries(
    found.filter(({ kind }) => deadlines.has(kind)).map(({ kind, severity }) => [kind, severity]),
  )
}
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS)

/** Noon on a day of the month after that of an instant. */
function nextMonth(at: Date, day: number): Date {
  const [year, month] = calendarDay(at, 'Asia/Kolkata').split('-').map(Number) as [number, number]
  return new Date(Date.UTC(year, month, day, 6, 30))
}

test('what the bank or a merchant’s operator did not do in time opens an alert, from the time of its setting on', async () => {
  const merchant = await service.newMerchant()
  const client = await service.as(merchant)
  const { tr } = await newCode(service, client, { multipleUse: true })
  await giveAccount(service, merchant.merchantId)
  const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 100 })))
  const path = `/api/v0/payments/${paymentId}/refunds`
  payloadOf(await client.post(path, { amount: 1, referenceNumber: 'r-1' }))
  await sendPayoutOf(service, merchant.merchantId)
  const ended = await newCode(service, client, { multipleUse: true })
  await cancel(client, ended.qrCodeId)
  const refused = payloadOf(await notifyCredit(service.client, creditOf(ended.tr)))
  expect(refused.status).toBe('REFUND_PENDING')
  const { close_late: _, ...now } = await overAt(new Date())
  expect(now).toEqual({})
  const lateBy = async (hours: number) => {
    const { close_late: _, ...late } = await overAt(inHours(hours))
    return late
  }
  expect(await lateBy(23)).toEqual({})
  const all = { merchant_refund_late: 'warning', payout_late: 'warning' }
  expect(await lateBy(25)).toMatchObject(all)
  expect(await lateBy(4 * 24 + 1)).toEqual({ ...all, refund_late: 'critical' })
})

test('a credit is to be returned within bank days of the bank’s own day, or of that on which a person returns it', async () => {
  const client = await service.as(await service.newMerchant())
  const ended = await newCode(service, client, { multipleUse: true })
  await cancel(client, ended.qrCodeId)
  const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf(ended.tr)))
  const ofDay = (column: string, day: string) =>
    asSuperuser(service.db.database, (db) =>
      db.query(`update payments set ${column} = $2 where payment_id = $1`, [
        paymentId,
        `${day}T23:30:00+05:30`,
      ]),
    )
  await asSuperuser(service.db.database, (db) =>
    db.query(
      `update payments set status = 'REFUNDED', refunded_at = now() where status = 'REFUND_PENDING' and payment_id <> $1`,
      [paymentId],
    ),
  )
  // Friday before a fourth Saturday; it is learned of on the Sunday.
  await ofDay('created_at', '2026-03-29')
  await ofDay('transaction_at', '2026-03-27')
  const at = async (day: string) => (await overAt(new Date(`${day}T00:30:00+05:30`)))['refund_late']
  expect([await at('2026-03-30'), await at('2026-03-31')]).toEqual([undefined, 'critical'])
  // A holiday gives the bank another day, but no fifth day of the calendar.
  await onHoliday(service, '2026-03-30', async () => expect(await at('2026-03-31')).toBe('critical'))
  await ofDay('transaction_at', '2026-03-30')
  await ofDay('created_at', '2026-03-31')
  expect(await Promise.all(['2026-03-31', '2026-04-01', '2026-04-02', '2026-04-03'].map(at))).toEqual([
    undefined,
    'warning',
    'warning',
    'critical',
  ])
  // Out of suspense, where it belonged to no code.
  await ofDay('qr_code_id = null, resolved_at', '2026-04-02')
  expect(await Promise.all(['2026-04-03', '2026-04-04'].map(at))).toEqual([undefined, 'warning'])
})

test('a month without its invoices and one that is not closed open alerts from their days of the next one on', async () => {
  const merchant = await service.newMerchant()
  const { tr } = await newCode(service, await service.as(merchant), { multipleUse: true })
  await giveFee(service, merchant.merchantId, { basisPoints: 100 })
  const paidAt = new Date()
  payloadOf(await notifyCredit(service.client, creditOf(tr, { amount: 100 })))
  const clock = `/sandbox/tenants/${merchant.merchantId}/clock/advance`
  payloadOf(await service.client.post(clock, { bySeconds: DAY_MS / 1_000 }))
  const kinds = async (day: number) =>
    Object.keys(await overAt(nextMonth(paidAt, day))).filter((kind) => /invoice|close/.test(kind))
  expect(await kinds(4)).toEqual([])
  expect(await kinds(5)).toEqual(['invoice_missing'])
  expect((await kinds(10)).sort()).toEqual(['close_late', 'invoice_missing'])
})

test('GST of the month before that is not paid opens an alert from its day on, until it is paid, and again once that was taken back', async () => {
  const today = calendarDay(new Date(), 'Asia/Kolkata')
  const month = monthBefore(today)
  const of = await newBilled(service, '29')
  await payAt(service, of, 100, `${month}-15T12:00:00+05:30`)
  await accrueDueFees(service.app.services)
  const [invoice] = await issueMonth(service, month, of.merchantId, new Date())
  const at = async (day: number) =>
    (await overAt(new Date(`${today.slice(0, 7)}-${day}T12:00:00+05:30`)))['gst_due']
  expect([await at(17), await at(18)]).toEqual([undefined, 'warning'])
  const taxes = (['cgst', 'sgst', 'igst'] as const).map((name) => ({
    account: `output_${name}` as const,
    cashPaise: invoice![`${name}Paise`],
    creditPaise: paise(0n),
  }))
  const { open } = operatorsOf(service.app.services.commands)
  const paid = { reference: 'CPIN26110001', reason: 'return' }
  await open(moveOwnFunds).run({ kind: 'GST', month, taxes, ...paid })
  expect(await at(18)).toBeUndefined()
  await open(takeBackOwnFunds).run(paid)
  expect(await at(18)).toBe('warning')
})
