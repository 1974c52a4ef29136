import { accountId } from '@svc/core/ledger/accounts'
import { readBankDays } from '@svc/core/ledger/bank-holidays'
import { type AcceptedPayment, chargeSettings, readTerms, unaccrued } from '@svc/core/payments/charging'
import { taxOf } from '@svc/core/payments/payout'
import { preparedOn, shownSchedules } from '@svc/core/payments/payout-schedule'
import { businessDay, businessDayOf } from '@svc/core/payments/payout-statement'
import { reckonPayout } from '@svc/core/payments/prepare-payout'
import { findMerchant } from '@svc/core/tenants/merchant'
import { dayAfter } from '@svc/kernel/bank-days'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { maybe, maybeInstant, record, rupeesText, text } from '../console-schema.ts'
import { DAYS, type DayRow, DaySum, daySql, daysUpTo } from './home-days.ts'
import { StepRecord, stepsOf, type Waiting, WaitingRecord, waitingOfPrograms } from './home-waits.ts'

const CountedAmount = record('CountedAmount', { count: Type.Integer(), amount: rupeesText })

export const MerchantHome = record('MerchantOverview', {
  vpa: text('UPI address of payees'),
  nextVpa: maybe('The address that an operator entered in its place; it waits until `nextVpaOn`'),
  nextVpaOn: maybeInstant,
  accessKey: text('`merchantAccessKey` of the API; no secret'),
  payable: rupeesText,
  nextPayout: record('NextPayout', {
    day: text('Business day up to whose end it pays, `YYYY-MM-DD`; the running one without a schedule'),
    isOver: Type.Boolean({ description: 'Whether that day is over: no more payments belong to it' }),
    preparedOn: maybe('Bank day on which it is prepared, `YYYY-MM-DD`; absent without a schedule'),
    account: Type.Optional(
      record('PayoutAccount', { holder: text(), ends: text('Last four digits of its number'), ifsc: text() }),
    ),
    payments: CountedAmount,
    adjustments: CountedAmount,
    refunds: CountedAmount,
    fees: rupeesText,
    tax: rupeesText,
    amount: text('Rupees with two decimals; below zero when refunds and fees exceed payments'),
    minimum: Type.Optional(rupeesText),
    unsettled: CountedAmount,
  }),
  today: record('TakingsOfToday', {
    count: Type.Integer({ description: 'Payments accepted on the running business day' }),
    amount: rupeesText,
    fees: rupeesText,
    tax: rupeesText,
    net: text('Rupees with two decimals'),
    weekBefore: text('Rupees accepted a week before until the same time'),
  }),
  refundsOfMonth: CountedAmount,
  grossOfMonth: rupeesText,
  refundsUnderWay: CountedAmount,
  days: Type.Array(DaySum, { description: 'Payments accepted, by business day; the last one is running' }),
  waits: Type.Array(WaitingRecord),
  setUp: Type.Array(StepRecord),
})

const BALANCE = statement<{ balance: bigint }>(
  'portal_account_balance',
  'select balance from ledger_accounts where tenant_id = $1 and account_id = $2',
)
const BY_DAY = statement<DayRow>(
  'portal_gross_by_day',
  `select ${daySql('p.created_at')}::text as day, count(*)::integer as count, sum(p.amount_paise)::bigint as paise
   from payments p where p.merchant_id = $1 and p.status = 'ACCEPTED' and p.created_at >= $4 group by 1`,
)
const WITHIN = statement<{ paise: bigint }>(
  'portal_gross_within',
  `select coalesce(sum(p.amount_paise), 0)::bigint as paise from payments p
   where p.merchant_id = $1 and p.status = 'ACCEPTED' and p.created_at >= $2 and p.created_at < $3`,
)
const SINCE = statement<AcceptedPayment>(
  'portal_payments_since',
  `select p.payment_id as "objectId", p.created_at as "occurredAt", p.amount_paise as "amountPaise"
   from payments p where p.merchant_id = $1 and p.status = 'ACCEPTED' and p.created_at >= $2`,
)
const REFUNDS = statement<{
  monthCount: number
  monthPaise: bigint
  underWayCount: number
  underWayPaise: bigint
}>(
  'portal_refunds',
  `select count(*) filter (where ofMonth)::integer as "monthCount",
     coalesce(sum(amount_paise) filter (where ofMonth), 0)::bigint as "monthPaise",
     count(*) filter (where isOpen)::integer as "underWayCount",
     coalesce(sum(amount_paise) filter (where isOpen), 0)::bigint as "underWayPaise"
   from (select r.amount_paise, r.created_at >= $2 and r.status <> 'FAILED' as ofMonth,
     r.status in ('PENDING', 'SENT') as isOpen from merchant_refunds r where r.merchant_id = $1) r`,
)
const DISPUTES = statement<{ disputeId: string; paise: bigint; reason: string | null; dueAt: Date }>(
  'portal_disputes_to_answer',
  `select d.dispute_id as "disputeId", d.amount_paise as paise, d.reason, d.evidence_due_at as "dueAt"
   from disputes d where d.merchant_id = $1 and d.status = 'OPEN' and d.evidence_due_at > clock_timestamp()
   order by d.evidence_due_at, d.dispute_id limit 5`,
)
const SET_UP = statement<{ credential: boolean; qr_code: boolean; webhook: boolean; payment: boolean }>(
  'portal_merchant_set_up',
  `select exists (select from api_keys where tenant_id = $1) as credential,
     exists (select from qr_codes where merchant_id = $1) as qr_code,
     exists (select from webhook_endpoints where tenant_id = $1) as webhook,
     exists (select from payments where merchant_id = $1) as payment`,
)

const counted = (count: number, paise: bigint) => ({ count, amount: formatRupees(paise) })

type Tools = Pick<Services, 'clock' | 'config'>

interface Now {
  readonly at: Date
  readonly today: string
}

export async function homeOfMerchant(tx: Tx, merchantId: string, { clock, config }: Tools) {
  const { BUSINESS_DAY_CUTOFF: cutOff, BUSINESS_TIME_ZONE: zone } = config
  const at = new Date(clock.of(merchantId).now())
  const now = { at, today: businessDayOf(at, cutOff, zone) }
  const merchant = await findMerchant(tx, merchantId)
  const [payable] = await tx.query(BALANCE, [merchantId, accountId('payable', merchantId)])
  const firstDay = businessDay(dayAfter(now.today, 1 - DAYS), cutOff, zone).from
  const rows = await tx.query(BY_DAY, [merchantId, 1_440 - cutOff, zone, firstDay])
  const nextPayout = await nextPayoutOf(tx, merchantId, now, config)
  return {
    vpa: merchant?.vpa,
    nextVpa: merchant?.nextVpa ?? undefined,
    nextVpaOn: merchant?.nextVpaFrom ? rfc3339(merchant.nextVpaFrom, zone) : undefined,
    accessKey: merchant?.accessKey,
    payable: formatRupees(payable?.balance ?? 0n),
    nextPayout,
    today: await takingsOf(tx, merchantId, now, config),
    ...(await ofMonth(tx, merchantId, now, config)),
    days: daysUpTo(now.today, rows),
    waits: await waitsOf(tx, merchantId, zone),
    setUp: stepsOf({ ...(await tx.query(SET_UP, [merchantId]))[0], bank_account: 'account' in nextPayout }),
  }
}

async function nextPayoutOf(tx: Tx, merchantId: string, { today }: Now, config: Services['config']) {
  const { BUSINESS_DAY_CUTOFF: cutOff, BUSINESS_TIME_ZONE: zone } = config
  const schedules = await shownSchedules(tx, merchantId, today)
  const next = schedules.find(({ endsOn }) => endsOn !== undefined)
  const day = next?.endsOn ?? today
  const bankDays = await readBankDays(tx)
  const { to: until } = businessDay(day, cutOff, zone)
  const sums = await reckonPayout(tx, { merchantId, until }, chargeSettings(config))
  return {
    day,
    isOver: day < today,
    preparedOn: next?.endsOn && preparedOn(next.endsOn, next.schedule, bankDays),
    ...(sums.details && {
      account: {
        holder: sums.details.accountHolder,
        ends: sums.details.accountNumber.slice(-4),
        ifsc: sums.details.ifsc,
      },
    }),
    payments: counted(sums.paymentCount, sums.paymentPaise),
    adjustments: counted(sums.adjustmentCount, sums.adjustmentPaise),
    refunds: counted(sums.refundCount, sums.refundPaise),
    fees: formatRupees(sums.feePaise),
    tax: formatRupees(taxOf(sums)),
    amount: formatRupees(sums.amountPaise),
    minimum: next && formatRupees(next.schedule.minimumPaise),
    unsettled: counted(sums.unsettledCount, sums.unsettledPaise),
  }
}

const WEEK_MS = 7 * 86_400_000

async function takingsOf(tx: Tx, merchantId: string, { at, today }: Now, config: Services['config']) {
  const { from } = businessDay(today, config.BUSINESS_DAY_CUTOFF, config.BUSINESS_TIME_ZONE)
  const payments = await tx.query(SINCE, [merchantId, from])
  const terms = (await readTerms(tx, [merchantId]))(merchantId)
  const settings = chargeSettings(config)
  let [gross, fees, tax] = [0n, 0n, 0n]
  for (const payment of payments) {
    const charge = unaccrued(payment, terms, settings)
    gross += payment.amountPaise
    fees += charge.feePaise
    tax += taxOf(charge)
  }
  const before = [from, at].map((each) => new Date(each.getTime() - WEEK_MS))
  const [sameTime] = await tx.query(WITHIN, [merchantId, ...before])
  return {
    ...counted(payments.length, gross),
    fees: formatRupees(fees),
    tax: formatRupees(tax),
    net: formatRupees(gross - fees - tax),
    weekBefore: formatRupees(sameTime?.paise ?? 0n),
  }
}

async function ofMonth(tx: Tx, merchantId: string, { at, today }: Now, config: Services['config']) {
  const first = `${today.slice(0, 8)}01`
  const { from } = businessDay(first, config.BUSINESS_DAY_CUTOFF, config.BUSINESS_TIME_ZONE)
  const [refunds] = await tx.query(REFUNDS, [merchantId, from])
  const [gross] = await tx.query(WITHIN, [merchantId, from, at])
  return {
    grossOfMonth: formatRupees(gross?.paise ?? 0n),
    refundsOfMonth: counted(refunds!.monthCount, refunds!.monthPaise),
    refundsUnderWay: counted(refunds!.underWayCount, refunds!.underWayPaise),
  }
}

async function waitsOf(tx: Tx, merchantId: string, zone: string): Promise<Waiting[]> {
  const disputes = await tx.query(DISPUTES, [merchantId])
  return [
    ...disputes.map(
      ({ disputeId, dueAt, paise, reason }): Waiting => ({
        kind: 'dispute',
        id: disputeId,
        name: reason ?? '',
        amount: formatRupees(paise),
        due: rfc3339(dueAt, zone),
      }),
    ),
    ...(await waitingOfPrograms(tx, merchantId, zone)),
  ]
}
