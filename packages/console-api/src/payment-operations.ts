import { fail } from '@svc/contract/errors'
import { ADJUSTMENTS_SHOWN, adjustmentsOf } from '@svc/core/payments/find-adjustments'
import { type FoundCredit, READ_BY_HAND } from '@svc/core/payments/find-suspense'
import {
  type MerchantRefund,
  merchantRefunds,
  RefundRecord,
  refundToWire,
} from '@svc/core/payments/merchant-refund'
import {
  CODE_FACTS,
  type CodeFacts,
  PAYMENT_STATUSES,
  type Payment,
  PaymentRecord,
  paymentRecordToWire,
  payments,
} from '@svc/core/payments/payment'
import { adjustmentToWire } from '@svc/core/payments/payment-adjustment'
import { formatRupees } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type ListPlan, readList } from '@svc/server/http/list'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { AdjustmentInConsole } from './adjust-payment.ts'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  listOf,
  listQuery,
  maybe,
  record,
  rupeesText,
  text,
} from './console-schema.ts'
import { HistoryEntry, historyItemToWire, readHistory } from './history.ts'
import { PAYMENT_FILTERS, paymentFilters } from './payment-filters.ts'
import {
  findSettlementLine,
  paymentHistoryItems,
  SettlementRecord,
  settlementToWire,
} from './payment-history.ts'
import { payoutOf } from './payout-record.ts'

const TAG = 'Payments'
const PATH = `${CONSOLE_API}/payments`

const PaymentRow = record('PaymentRow', {
  payment: PaymentRecord,
  merchantId: text('`house`, the platform, for a credit that fits no merchant'),
  merchantName: maybe('Absent for a credit that fits no merchant'),
  tr: text('Reference of the code, as the bank sent it'),
})

type ListedPayment = Payment & CodeFacts & { readonly merchantName: string | null }

const COLUMNS = `${payments.columns}, ${CODE_FACTS}, m.name as "merchantName"`
const JOINS = `left join qr_codes q on q.merchant_id = p.merchant_id and q.qr_code_id = p.qr_code_id
  left join merchants m on m.merchant_id = p.merchant_id`

const rowToWire = (row: ListedPayment, timeZone: string) => ({
  payment: paymentRecordToWire(row, timeZone),
  merchantId: row.merchantId,
  merchantName: row.merchantName ?? undefined,
  tr: row.tr,
})

export const listPaymentsInConsole = query({
  ...consoleOperation,
  id: 'console.listPayments',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List payments of all merchants',
  permission: 'view',
  query: listQuery(BY_TIME, PAYMENT_FILTERS),
  result: listOf(PaymentRow),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const byId = { sql: 'p.payment_id', type: 'text' } as const
      const plan: ListPlan = {
        columns: COLUMNS,
        table: 'payments p',
        alias: 'p',
        joins: JOINS,
        filters: paymentFilters(query),
        keys: query.merchantId === undefined ? [byId] : [{ sql: 'p.created_at', type: 'timestamptz' }, byId],
        descending: query.sort !== 'created',
      }
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: ListedPayment) => rowToWire(row, timeZone)),
      )
      return { body: JSON.stringify(page) }
    }
  },
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
  query: closed(PAYMENT_FILTERS),
  result: PaymentTotals,
  errors: [],
  mount({ database }) {
    return async ({ query }) => {
      const { conditions, values } = paymentFilters(query)
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

const FIND = statement<ListedPayment & Pick<FoundCredit, 'isReadByHand'>>(
  'console_payment',
  `select ${COLUMNS}, ${READ_BY_HAND} from payments p ${JOINS} where p.payment_id = $1`,
)
const REFUNDS_SHOWN = 100
const REFUNDS = statement<MerchantRefund>(
  'console_refunds_of_payment',
  `select ${merchantRefunds.columns} from merchant_refunds r where r.merchant_id = $1 and r.payment_id = $2
   order by r.created_at desc, r.refund_id desc limit ${REFUNDS_SHOWN}`,
)

const isAssigned = ({
  assignedFrom,
  isReadByHand,
  resolvedAt,
  status,
}: Payment & { isReadByHand: boolean }) =>
  status === 'ASSIGNED' ||
  (status === 'ACCEPTED' && (assignedFrom !== null || resolvedAt !== null || isReadByHand))

async function readPayment(tx: Tx, paymentId: string, timeZone: string) {
  const [payment] = await tx.query(FIND, [paymentId])
  if (!payment) return fail('payment_not_found')
  const { merchantId } = payment
  const refunds = await tx.query(REFUNDS, [merchantId, paymentId])
  const settlement = await findSettlementLine(tx, merchantId, payment.utr)
  const adjustments = await adjustmentsOf(tx, payment)
  const history = await readHistory(tx, {
    tenantId: merchantId,
    objectIds: [
      paymentId,
      ...refunds.map(({ refundId }) => refundId),
      ...adjustments.map(({ adjustmentId }) => adjustmentId),
    ],
    journalIds: settlement?.journalId ? [settlement.journalId] : [],
    known: await paymentHistoryItems(tx, payment, refunds, settlement, adjustments),
  })
  return {
    row: rowToWire(payment, timeZone),
    refunds: refunds.map((refund) => refundToWire(refund, timeZone)),
    adjustments: adjustments.map((each) => ({
      ...adjustmentToWire(each, timeZone),
      reason: each.reason,
    })),
    settlement: settlement && settlementToWire(settlement, timeZone),
    payoutId: await payoutOf(tx, merchantId, paymentId, 'payment'),
    isAssigned: isAssigned(payment),
    isReadByHand: payment.isReadByHand,
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
    row: PaymentRow,
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
