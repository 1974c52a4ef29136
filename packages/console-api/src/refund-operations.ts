import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { completeRefund } from '@svc/core/qr-codes/complete-refund'
import { findRefund, followedNotice } from '@svc/core/qr-codes/find-refund'
import {
  type MerchantRefund,
  merchantRefunds,
  RefundRecord,
  refundToWire,
} from '@svc/core/qr-codes/merchant-refund'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { auditOf } from './as-operator.ts'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  exact,
  idParam,
  listOf,
  listQuery,
  oneOf,
  record,
  text,
} from './console-schema.ts'
import { Filters, type ListPlan, readList } from './list.ts'

const TAG = 'Payments'
const PATH = `${CONSOLE_API}/refunds`
const RefundRow = record('RefundRow', { refund: RefundRecord, merchantId: text() })

export const listRefundsInConsole = query({
  ...consoleOperation,
  id: 'console.listRefunds',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List refunds by all merchants',
  role: 'viewer',
  query: listQuery(BY_TIME, {
    q: exact('Id of the refund or of its payment', 64),
    merchantId: exact('Of this merchant'),
    status: oneOf(['PENDING', 'SENT', 'REFUNDED', 'FAILED'], 'Only these'),
  }),
  result: listOf(RefundRow),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const { q, merchantId, status, sort } = query
      const filters = new Filters().add('r.merchant_id = ?', merchantId).add('r.status = ?', status)
      if (q !== undefined) filters.add(q.startsWith('pay_') ? 'r.payment_id = ?' : 'r.refund_id = ?', q)
      const plan: ListPlan = {
        columns: merchantRefunds.columns,
        table: 'merchant_refunds r',
        alias: 'r',
        filters,
        keys: [{ sql: 'r.refund_id', type: 'text' }],
        descending: sort !== 'created',
      }
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: MerchantRefund) => ({
          refund: refundToWire(row, timeZone),
          merchantId: row.merchantId,
        })),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const completeRefundByOperator = query({
  ...consoleOperation,
  id: 'console.completeRefund',
  method: 'POST',
  path: `${PATH}/:refundId/complete`,
  tag: TAG,
  summary: 'Record the bank’s outcome of a refund',
  description:
    'Where no notice says so, or one in quarantine that an operator has read. A failed refund is payable to the merchant again.',
  role: 'operator',
  params: idParam('refundId'),
  body: closed({
    status: Type.Enum(['REFUNDED', 'FAILED']),
    utr: Type.Optional(Type.String({ minLength: 6, maxLength: 64, description: 'The bank’s own reference' })),
    reason: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'Why it failed; required then' }),
    ),
    noticeId: Type.Optional(Type.String({ maxLength: 64, description: 'The notice in quarantine' })),
  }),
  result: RefundRecord,
  errors: ['refund_not_found', 'refund_closed', 'notice_not_found', 'notice_not_in_quarantine'],
  mount({ commands, config, database }) {
    const { run } = commands.open(completeRefund)
    return async (input) => {
      const { refundId } = input.params
      const { status, utr, reason, noticeId } = input.body
      if (status === 'FAILED' && reason === undefined) failField('reason', 'required', 'is required')
      const actor = `operator ${input.caller.actor!.name}`
      const [found, assigns] = await database.operate(async (tx) => [
        await findRefund(tx, refundId),
        noticeId === undefined ? undefined : await followedNotice(tx, noticeId, actor),
      ])
      const { merchantId } = found ?? fail('refund_not_found')
      const outcome = {
        refundId,
        utr: utr === undefined ? null : canonicalReference(utr),
        amountPaise: undefined,
        failureReason: status === 'FAILED' ? reason! : null,
      }
      const audit = auditOf(merchantId, input, { action: 'refund.completed', target: refundId })
      const { refund } = await run({ read: { outcome }, assigns }, audit)
      return { body: JSON.stringify(refundToWire(refund!, config.BUSINESS_TIME_ZONE)) }
    }
  },
})
