import { fail } from '@svc/contract/errors'
import { ADJUSTMENTS_SHOWN, adjustmentsOf } from '@svc/core/payments/adjustments/find-adjustments'
import { adjustmentToWire } from '@svc/core/payments/adjustments/payment-adjustment'
import { PAYMENT_STATUSES } from '@svc/core/payments/payment'
import { RefundRecord, refundToWire } from '@svc/core/payments/refunds/merchant-refund'
import { type FoundCredit, findCredit } from '@svc/core/payments/suspense/find-suspense'
import { formatRupees } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { query } from '@svc/server/http/operation'
import {
  fieldsOf,
  filterSchemas,
  filtersOf,
  findRow,
  listOf,
  readRows,
  toRecord,
} from '@svc/server/http/resource'
import { type ListedPayment, payment } from '@svc/server/payments/payment-resource'
import { type ListedRefund, refund } from '@svc/server/payments/refunds'
import { Type } from 'typebox'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  maybe,
  record,
  rupeesText,
  text,
} from '../console-schema.ts'
import { HistoryEntry, historyItemToWire, readHistory } from '../records/history.ts'
import {
  findSettlementLine,
  paymentHistoryItems,
  SettlementRecord,
  settlementToWire,
} from '../records/payment-history.ts'
import { AdjustmentInConsole } from './adjust-payment.ts'
import { payoutOf } from './payout-record.ts'

const TAG = 'Payments'
const PATH = `${CONSOLE_API}/payments`

const toWire = toRecord<ListedPayment>(payment, 'operator')
const ALL = { reader: 'operator' } as const

export const listPaymentsInConsole = listOf<ListedPayment>(payment, {
  ...consoleOperation,
  id: 'console.listPayments',
  path: PATH,
  tag: TAG,
  summary: 'List payments of all merchants',
  permission: 'view',
})

/** Payments that are added up; a filter that finds more says so. */
const SUMMED_MAX = 200_000

interface SumRow {
  status: (typeof PAYMENT_STATUSES)[number]
  count: bigint
  amount: bigint
  refunded: bigint
}

const summed = Type.Integer({ description: 'Payments' })
const PaymentTotals = record('PaymentTotals', {
  count: summed,
  amount: rupeesText,
  refundedAmount: text('Rupees that merchants refund or have refunded, without failed refunds'),
  exact: Type.Boolean({
    description: `False: the filter finds more than ${SUMMED_MAX} payments, of which so many are added up`,
  }),
  byStatus: Type.Array(
    record('PaymentTotal', { status: Type.Enum([...PAYMENT_STATUSES]), count: summed, amount: rupeesText }),
  ),
})

export const sumPayments = query({
  ...consoleOperation,
  id: 'console.sumPayments',
  method: 'GET',
  path: `${PATH}/totals`,
  tag: TAG,
  summary: 'Add up payments of all merchants',
  permission: 'view',
  query: closed(filterSchemas(payment, 'operator')),
  result: PaymentTotals,
  errors: [],
  mount({ database }) {
    return async ({ query }) => {
      const { conditions, values } = filtersOf<ListedPayment>(payment, ALL, query as Record<string, unknown>)
      const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''
      const text = `select f.status, count(*) as count, sum(f.amount_paise)::bigint as amount,
          sum(f.refund_paise)::bigint as refunded
        from (select p.status, p.amount_paise, p.refund_paise from payments p ${where} limit ${SUMMED_MAX + 1}) f
        group by f.status`
      const rows = await database.report((tx) => tx.query<SumRow>({ name: '', text }, values))
      return { body: JSON.stringify(totalsToWire(rows)) }
    }
  },
})

function totalsToWire(rows: readonly SumRow[]) {
  const sum = (of: (row: SumRow) => bigint) => rows.reduce((total, row) => total + of(row), 0n)
  const count = Number(sum((row) => row.count))
  return {
    count,
    amount: formatRupees(sum(({ amount }) => amount)),
    refundedAmount: formatRupees(sum(({ refunded }) => refunded)),
    exact: count <= SUMMED_MAX,
    byStatus: PAYMENT_STATUSES.flatMap((status) =>
      rows
        .filter((row) => row.status === status)
        .map((row) => ({ status, count: Number(row.count), amount: formatRupees(row.amount) })),
    ),
  }
}

const REFUNDS_SHOWN = 100

const isAssigned = ({ assignedFrom, isReadByHand, resolvedAt, status }: FoundCredit) =>
  status === 'ASSIGNED' ||
  (status === 'ACCEPTED' && (assignedFrom !== null || resolvedAt !== null || isReadByHand))

async function readPayment(tx: Tx, paymentId: string, timeZone: string) {
  const found = (await findRow<ListedPayment>(tx, payment, ALL, paymentId)) ?? fail('payment_not_found')
  const { merchantId } = found
  const { data: refunds } = await readRows<ListedRefund>(
    tx,
    refund,
    { ...ALL, tenantId: merchantId },
    { paymentId, limit: String(REFUNDS_SHOWN), uncounted: true },
  )
  const credit = await findCredit(tx, paymentId, found.utr)
  const settlement = await findSettlementLine(tx, merchantId, found.utr)
  const adjustments = await adjustmentsOf(tx, found)
  const history = await readHistory(tx, {
    tenantId: merchantId,
    objectIds: [
      paymentId,
      ...refunds.map(({ refundId }) => refundId),
      ...adjustments.map(({ adjustmentId }) => adjustmentId),
    ],
    journalIds: settlement?.journalId ? [settlement.journalId] : [],
    known: await paymentHistoryItems(tx, found, refunds, settlement, adjustments),
  })
  return {
    ...toWire(found, timeZone),
    refunds: refunds.map((each) => refundToWire(each, timeZone)),
    adjustments: adjustments.map((each) => ({
      ...adjustmentToWire(each, timeZone),
      reason: each.reason,
    })),
    settlement: settlement && settlementToWire(settlement, timeZone),
    payoutId: await payoutOf(tx, merchantId, paymentId, 'payment'),
    isAssigned: credit !== undefined && isAssigned(credit),
    isReadByHand: credit?.isReadByHand ?? false,
    history: history.map((each) => historyItemToWire(each, timeZone)),
  }
}

export const showPayment = query({
  ...consoleOperation,
  id: 'console.showPayment',
  method: 'GET',
  path: `${PATH}/:paymentId`,
  tag: TAG,
  summary: 'Show payment with everything that happened to it',
  permission: 'view',
  params: idParam('paymentId'),
  result: record('PaymentDetailInConsole', {
    ...fieldsOf(payment, 'operator'),
    refunds: Type.Array(RefundRecord, { description: `Newest first, at most ${REFUNDS_SHOWN}` }),
    adjustments: Type.Array(AdjustmentInConsole, {
      description: `Newest first, at most ${ADJUSTMENTS_SHOWN}`,
    }),
    settlement: Type.Optional(SettlementRecord),
    isAssigned: Type.Boolean({ description: 'An operator assigned it, and may take that back' }),
    isReadByHand: Type.Boolean({
      description: 'An operator read it in a notice: out of suspense it may go to any merchant',
    }),
    payoutId: maybe('The payout that it is in, unless that one failed or was cancelled'),
    history: Type.Array(HistoryEntry, { description: 'Oldest first' }),
  }),
  errors: ['payment_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { paymentId } }) => ({
      body: JSON.stringify(await database.operate((tx) => readPayment(tx, paymentId, timeZone))),
    })
  },
})
