import {
  CODE_FACTS,
  type CodeFacts,
  looksLikePaymentId,
  PAYMENT_STATUSES,
  type Payment,
  PaymentRecord,
  paymentRecordToWire,
  payments,
} from '@svc/core/payments/payment'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { Type } from 'typebox'
import { amountFilters } from '../http/amount-filters.ts'
import type { Filters } from '../http/list.ts'
import {
  choiceFilter,
  exactFilter,
  idFilter,
  merchantNameOf,
  type Resource,
  sinceFilter,
} from '../http/resource.ts'

/** A payment with what its code says, and for operators whose it is. */
export type ListedPayment = Payment &
  CodeFacts & { readonly merchantName: string | null; readonly qrName: string | null }

// An index leads from the merchant to its payments by time; among all merchants only ids are in that order.
const IN_TIME = { prefix: 'pay', id: 'p.payment_id', at: 'p.created_at', owner: 'merchantId' } as const

function byStatus(filters: Filters, status: string): void {
  filters.add('p.status = ?', status)
  // So that the index of the few payments that were not accepted fits, whatever the parameter is.
  if (status !== 'ACCEPTED') filters.conditions.push(`p.status <> 'ACCEPTED'`)
}

/** Payments, as every reader sees and finds them. */
export const payment = {
  titles: { tenant: 'PaymentRecord', operator: 'PaymentRow' },
  record: { schema: PaymentRecord, toWire: paymentRecordToWire },
  looksLikeId: looksLikePaymentId,
  from: {
    columns: `${payments.columns}, ${CODE_FACTS}, q.qr_name as "qrName"`,
    table: 'payments p',
    alias: 'p',
    joins: 'left join qr_codes q on q.merchant_id = p.merchant_id and q.qr_code_id = p.qr_code_id',
  },
  operatorFrom: merchantNameOf('p'),
  tenant: 'p.merchant_id',
  keys: [{ sql: 'p.payment_id', type: 'text' }],
  tenantKeys: [
    { sql: 'p.created_at', type: 'timestamptz' },
    { sql: 'p.payment_id', type: 'text' },
  ],
  fields: {
    merchantId: {
      schema: Type.String({ description: '`house`, the platform, for a credit that fits no merchant' }),
      of: ({ merchantId }) => merchantId,
      operatorOnly: true,
    },
    merchantName: {
      schema: Type.Optional(Type.String({ description: 'Absent for a credit that fits no merchant' })),
      of: ({ merchantName }) => merchantName,
      operatorOnly: true,
    },
    qrName: {
      schema: Type.Optional(Type.String({ description: 'Name of its code, where it has one' })),
      of: ({ qrName }) => qrName,
      operatorOnly: true,
    },
    tr: {
      schema: Type.String({ description: 'Reference of the code, as the bank sent it' }),
      of: ({ tr }) => tr,
      operatorOnly: true,
    },
  },
  filters: {
    q: {
      schema: exactFilter('Id of the payment, or the bank’s reference (UTR) in any case'),
      sql: (filters, q) =>
        q.startsWith('pay_')
          ? filters.add('p.payment_id = ?', q)
          : filters.add('p.utr = ?', canonicalReference(q)),
      operatorOnly: true,
    },
    merchantId: { schema: idFilter('Of this merchant'), sql: 'p.merchant_id = ?', operatorOnly: true },
    utr: {
      schema: exactFilter('The bank’s reference'),
      sql: (filters, utr) => filters.add('p.utr = ?', canonicalReference(utr)),
    },
    referenceNumber: {
      schema: exactFilter('Of the code', 255),
      sql: '(p.merchant_id, p.qr_code_id) in (select q.merchant_id, q.qr_code_id from qr_codes q where q.reference_number = ?)',
    },
    qrCodeId: { schema: exactFilter('Of this code', 100), sql: 'p.qr_code_id = ?' },
    status: { schema: choiceFilter(PAYMENT_STATUSES, 'Only this status'), sql: byStatus },
    ...amountFilters('p.amount_paise', ['merchantId', 'q', 'from', 'createdFrom']),
    from: sinceFilter(IN_TIME, 'from', 'Recorded at this instant or later'),
    to: sinceFilter(IN_TIME, 'to', 'Recorded before this instant'),
    createdFrom: sinceFilter(IN_TIME, 'createdFrom', 'The same as `from`, as other lists name it'),
    createdTo: sinceFilter(IN_TIME, 'createdTo', 'The same as `to`, as other lists name it'),
  },
} satisfies Resource<ListedPayment>
