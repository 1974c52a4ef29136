import {
  CODE_FACTS,
  type CodeFacts,
  PAYMENT_STATUSES,
  type Payment,
  PaymentRecord,
  paymentRecordToWire,
  payments,
} from '@svc/core/qr-codes/payment'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { readInstant } from '@svc/server/http/fields'
import { query } from '@svc/server/http/operation'
import {
  BY_TIME,
  CONSOLE_API,
  consoleOperation,
  createdRange,
  exact,
  listOf,
  listQuery,
  oneOf,
  record,
  text,
} from './console-schema.ts'
import { Filters, type ListPlan, readList } from './list.ts'

const PaymentRow = record('PaymentRow', {
  payment: PaymentRecord,
  merchantId: text('`house` for a credit that fits no merchant'),
})

type ListedPayment = Payment & CodeFacts

export const listPaymentsInConsole = query({
  ...consoleOperation,
  id: 'console.listPayments',
  method: 'GET',
  path: `${CONSOLE_API}/payments`,
  tag: 'Payments',
  summary: 'List payments of all merchants',
  role: 'viewer',
  query: listQuery(BY_TIME, {
    q: exact('Id of the payment, or the bank’s reference', 64),
    merchantId: exact('Of this merchant'),
    status: oneOf([...PAYMENT_STATUSES], 'Only these'),
    ...createdRange,
  }),
  result: listOf(PaymentRow),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const { q, merchantId, status, createdFrom, createdTo, sort } = query
      const filters = new Filters()
        .add('p.merchant_id = ?', merchantId)
        .add('p.status = ?', status)
        .created(
          'p.payment_id',
          'pay',
          readInstant('createdFrom', createdFrom),
          readInstant('createdTo', createdTo),
        )
      if (q?.startsWith('pay_')) filters.add('p.payment_id = ?', q)
      else if (q !== undefined) filters.add('p.utr = ?', canonicalReference(q))
      const byId = { sql: 'p.payment_id', type: 'text' } as const
      const plan: ListPlan = {
        columns: `${payments.columns}, ${CODE_FACTS}`,
        table: 'payments p',
        alias: 'p',
        joins: 'left join qr_codes q on q.merchant_id = p.merchant_id and q.qr_code_id = p.qr_code_id',
        filters,
        keys: merchantId === undefined ? [byId] : [{ sql: 'p.created_at', type: 'timestamptz' }, byId],
        descending: sort !== 'created',
      }
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: ListedPayment) => ({
          payment: paymentRecordToWire(row, timeZone),
          merchantId: row.merchantId,
        })),
      )
      return { body: JSON.stringify(page) }
    }
  },
})
