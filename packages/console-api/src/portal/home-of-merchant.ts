import { accountId } from '@svc/core/ledger/accounts'
import { readBankDays } from '@svc/core/ledger/bank-holidays'
import { chargeSettings } from '@svc/core/payments/fees/charging'
import { taxOf } from '@svc/core/payments/payouts/payout'
import { preparedOn, shownSchedules } from '@svc/core/payments/payouts/payout-schedule'
import { businessDay } from '@svc/core/payments/payouts/payout-statement'
import { reckonPayout } from '@svc/core/payments/payouts/prepare-payout'
import { findMerchant } from '@svc/core/tenants/merchant'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { maybe, maybeInstant, record, rupeesText, text } from '../console-schema.ts'
import type { Metric } from '../faces/figures.ts'
import {
  counted,
  DaySum,
  daysOf,
  figuresOf,
  firstDayOf,
  type HomeTools,
  type Now,
  nowOf,
  rangeSince,
  rupeesOf,
} from './home-days.ts'
import { merchantSteps } from './home-steps.ts'
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
const UNDER_WAY = statement<{ count: number; paise: bigint }>(
  'portal_refunds_under_way',
  `select count(*)::integer as count, coalesce(sum(r.amount_paise), 0)::bigint as paise
   from merchant_refunds r where r.merchant_id = $1 and r.status in ('PENDING', 'SENT')`,
)
const DISPUTES = statement<{ disputeId: string; paise: bigint; reason: string | null; dueAt: Date }>(
  'portal_disputes_to_answer',
  `select d.dispute_id as "disputeId", d.amount_paise as paise, d.reason, d.evidence_due_at as "dueAt"
   from disputes d where d.merchant_id = $1 and d.evidence_due_at > clock_timestamp()
     and (d.status = 'OPEN' or d.status = 'EVIDENCE_SUBMITTED' and d.evidence_requested_at > d.evidence_at)
   order by d.evidence_due_at, d.dispute_id limit 5`,
)
const sum = (count: number, paise: bigint) => ({ count, amount: formatRupees(paise) })

export async function homeOfMerchant(tx: Tx, merchantId: string, tools: HomeTools) {
  const { config } = tools
  const zone = config.BUSINESS_TIME_ZONE
  const now = nowOf(merchantId, tools)
  const merchant = await findMerchant(tx, merchantId)
  const [payable] = await tx.query(BALANCE, [merchantId, accountId('payable', merchantId)])
  const ask = (firstDay: string, metrics: readonly Metric[]) =>
    figuresOf(
      tx,
      { tenantId: merchantId, metrics, range: rangeSince(now, firstDay, tools), comparison: 'week' },
      tools,
    )
  const byDay = await ask(firstDayOf(now), ['payments'])
  const today = await ask(now.today, ['payments', 'fees'])
  const month = await ask(`${now.today.slice(0, 8)}01`, ['payments', 'refunds'])
  const [payments, fees] = [today('payments'), today('fees')]
  const [underWay] = await tx.query(UNDER_WAY, [merchantId])
  const { link: _link, payout: _payout, ...steps } = (await merchantSteps(tx, merchantId)).steps
  return {
    vpa: merchant?.vpa,
    nextVpa: merchant?.nextVpa ?? undefined,
    nextVpaOn: merchant?.nextVpaFrom ? rfc3339(merchant.nextVpaFrom, zone) : undefined,
    accessKey: merchant?.accessKey,
    payable: formatRupees(payable?.balance ?? 0n),
    nextPayout: await nextPayoutOf(tx, merchantId, now, config),
    today: {
      ...counted(payments),
      fees: rupeesOf(fees.amount),
      tax: rupeesOf(fees.tax ?? 0),
      net: rupeesOf(payments.amount - fees.amount - (fees.tax ?? 0)),
      weekBefore: rupeesOf(payments.compared?.amount ?? 0),
    },
    grossOfMonth: rupeesOf(month('payments').amount),
    refundsOfMonth: counted(month('refunds')),
    refundsUnderWay: sum(underWay!.count, underWay!.paise),
    days: daysOf(byDay('payments')),
    waits: await waitsOf(tx, merchantId, zone),
    setUp: stepsOf(steps),
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
    payments: sum(sums.paymentCount, sums.paymentPaise),
    adjustments: sum(sums.adjustmentCount, sums.adjustmentPaise),
    refunds: sum(sums.refundCount, sums.refundPaise),
    fees: formatRupees(sums.feePaise),
    tax: formatRupees(taxOf(sums)),
    amount: formatRupees(sums.amountPaise),
    minimum: next && formatRupees(next.schedule.minimumPaise),
    unsettled: sum(sums.unsettledCount, sums.unsettledPaise),
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
