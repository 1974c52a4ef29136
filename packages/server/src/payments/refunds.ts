import { fail } from '@svc/contract/errors'
import { carriedOut } from '@svc/core/ledger/money-command'
import { refundAsOf } from '@svc/core/payments/as-of'
import { looksLikePaymentId } from '@svc/core/payments/payment'
import { createRefund } from '@svc/core/payments/refunds/create-refund'
import {
  looksLikeRefundId,
  type MerchantRefund,
  merchantRefunds,
  RefundRecord,
  refundToWire,
} from '@svc/core/payments/refunds/merchant-refund'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { rfc3339 } from '@svc/kernel/time'
import type { Database } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { amountFilters } from '../http/amount-filters.ts'
import { Rupees, readRupees } from '../http/fields.ts'
import { listWithCsv } from '../http/list-csv.ts'
import { ok, operation, tenantOperations } from '../http/operation.ts'
import {
  choiceFilter,
  createdFilters,
  exactFilter,
  idFilter,
  merchantNameOf,
  type Resource,
  readRows,
  showOf,
} from '../http/resource.ts'

const PATH = '/api/v0/payments/:paymentId/refunds'
const ofRefunds = tenantOperations({ tag: 'Payments', auth: 'merchant', envelope: 'response_code' })
/** Refunds that a payment's own record has. */
export const REFUNDS_SHOWN = 50

const paymentId = Type.String({ description: 'The id of the payment' })
const PaymentParams = Type.Object({ paymentId })
const RefundParams = Type.Object({
  paymentId,
  refundId: Type.String({ description: 'The id of the refund' }),
})

/** A refund, and for operators whose it is. */
export type ListedRefund = MerchantRefund & { readonly merchantName: string }

/** Refunds, as every reader sees and finds them. */
export const refund = {
  titles: { tenant: 'Refund', operator: 'RefundRow' },
  record: { schema: RefundRecord, toWire: refundToWire },
  looksLikeId: looksLikeRefundId,
  from: {
    columns: merchantRefunds.columns,
    table: 'merchant_refunds r',
    alias: 'r',
  },
  operatorFrom: merchantNameOf('r'),
  tenant: 'r.merchant_id',
  keys: [{ sql: 'r.refund_id', type: 'text' }],
  fields: {
    merchantId: { schema: Type.String(), of: ({ merchantId }) => merchantId, operatorOnly: true },
    merchantName: { schema: Type.String(), of: ({ merchantName }) => merchantName, operatorOnly: true },
    requestedBy: {
      schema: Type.Optional(Type.String({ description: 'The operator who made it for the merchant' })),
      of: ({ requestedBy }) => requestedBy,
      operatorOnly: true,
    },
    runId: {
      schema: Type.Optional(Type.String({ description: 'The run that sent it to the bank' })),
      of: ({ runId }) => runId,
      operatorOnly: true,
    },
    refundedLateOn: {
      schema: Type.Optional(
        Type.String({ description: 'When the bank reported that it had made it, after its money was spent' }),
      ),
      of: ({ refundedLateAt }, timeZone) => refundedLateAt && rfc3339(refundedLateAt, timeZone),
      operatorOnly: true,
    },
  },
  filters: {
    q: {
      schema: exactFilter(
        'Id of the refund or of its payment, or the bank’s reference (UTR) of the refund in any case',
      ),
      sql: (filters, q) => {
        if (q.startsWith('pay_')) filters.add('r.payment_id = ?', q)
        else if (q.startsWith('rfd_')) filters.add('r.refund_id = ?', q)
        else filters.add('r.utr = ?', canonicalReference(q))
      },
      operatorOnly: true,
    },
    merchantId: { schema: idFilter('Of this merchant'), sql: 'r.merchant_id = ?', operatorOnly: true },
    paymentId: { schema: idFilter('Of this payment'), sql: 'r.payment_id = ?' },
    status: {
      schema: choiceFilter(['PENDING', 'SENT', 'REFUNDED', 'FAILED']),
      sql: 'r.status = ?',
    },
    referenceNumber: {
      schema: exactFilter('The merchant’s own reference', 255),
      sql: 'r.reference_number = ?',
    },
    utr: {
      schema: exactFilter('The bank’s own reference of the refund, in any case'),
      sql: (filters, utr) => filters.add('r.utr = ?', canonicalReference(utr)),
    },
    ...amountFilters('r.amount_paise', ['merchantId', 'paymentId', 'q', 'createdFrom']),
    ...createdFilters('rfd', 'r.refund_id', 'r.created_at'),
  },
} satisfies Resource<ListedRefund>

/** Not in the specification (decision Q14). */
export const createRefundOperation = operation({
  ...ofRefunds('refunds:write'),
  id: 'createRefund',
  method: 'POST',
  path: PATH,
  summary: 'Refund payment',
  description:
    'Refunds an accepted payment from the balance that is payable to the merchant: all that is left of it, or `amount`. A payment can be refunded several times up to its amount. Repeating a `referenceNumber` with the same request returns its refund as it is now. The bank’s outcome follows as an event: `payment.refunded` or `payment.refund_failed`.',
  params: PaymentParams,
  body: Type.Object(
    {
      amount: Type.Optional(
        Rupees({ minimum: 0.01, description: 'Rupees; by default all that is left of the payment' }),
      ),
      referenceNumber: Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'The merchant’s own reference: names one refund',
      }),
      reason: Type.Optional(
        Type.String({ minLength: 1, maxLength: 255, description: 'For the merchant’s own use' }),
      ),
    },
    { additionalProperties: false },
  ),
  result: RefundRecord,
  errors: [
    'payment_not_found',
    'payment_not_accepted',
    'refund_over_payment',
    'payable_too_low',
    'refund_reference_in_use',
  ],
  run: createRefund,
  args: ({ caller, params, body: { amount, referenceNumber, reason } }) => ({
    merchantId: caller.tenantId,
    paymentId: looksLikePaymentId(params.paymentId) ? params.paymentId : fail('payment_not_found'),
    amountPaise: readRupees('amount', amount),
    referenceNumber,
    reason,
  }),
  reply: (outcome, { timeZone }) => ok(refundToWire(carriedOut(outcome).refund, timeZone)),
})

/** Not in the specification (decision Q14). */
export const getRefund = showOf<ListedRefund>(refund, {
  ...ofRefunds('payments:read'),
  id: 'getRefund',
  path: `${PATH}/:refundId`,
  summary: 'Get refund',
  params: RefundParams,
  errors: ['refund_not_found'],
  notFound: () => fail('refund_not_found'),
  asOf: refundAsOf,
})

const PAYMENT = statement<{ found: boolean }>(
  'payment_of_refunds',
  'select exists (select from payments p where p.merchant_id = $1 and p.payment_id = $2) as found',
)

/** Not in the specification (decision Q14). */
export const listRefunds = listWithCsv<ListedRefund>(refund, {
  ...ofRefunds('payments:read'),
  id: 'listRefunds',
  path: PATH,
  summary: 'List refunds of a payment',
  description: 'Newest first; pass `next` back as `after` for the next page.',
  params: PaymentParams,
  errors: ['payment_not_found'],
  async within(tx, { tenantId }, { paymentId = '' }) {
    const [payment] = looksLikePaymentId(paymentId) ? await tx.query(PAYMENT, [tenantId, paymentId]) : []
    if (!payment?.found) fail('payment_not_found')
  },
})

/** Not in the specification (decision Q14). */
export const findRefunds = listWithCsv<ListedRefund>(refund, {
  ...ofRefunds('payments:read'),
  id: 'findRefunds',
  path: '/api/v0/refunds',
  summary: 'List refunds',
  description:
    'Of all payments. All filters are optional and must all match. Newest first; pass `next` back as `after` for the next page.',
})

/** The newest refunds of a payment, or those that were the newest at the end of an instant, as they were then. */
export async function newestRefunds(
  database: Database,
  merchantId: string,
  paymentId: string,
  at?: Date,
): Promise<MerchantRefund[]> {
  const createdTo = at && new Date(at.getTime() + 1).toISOString()
  const wanted = { paymentId, createdTo, limit: String(REFUNDS_SHOWN) }
  const { data } = await database.read([merchantId], (tx) =>
    readRows<ListedRefund>(tx, refund, { reader: 'tenant', tenantId: merchantId }, wanted),
  )
  return at ? data.flatMap((each) => refundAsOf(each, at) ?? []) : data
}
