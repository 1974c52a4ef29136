import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { enteredReference } from '@svc/core/ledger/entered-reference'
import { completeRefund } from '@svc/core/payments/complete-refund'
import { findRefund } from '@svc/core/payments/find-refund'
import {
  type MerchantRefund,
  merchantRefunds,
  RefundRecord,
  refundToWire,
} from '@svc/core/payments/merchant-refund'
import { followedNotice } from '@svc/core/rails/find-notice'
import { canonicalReference } from '@svc/kernel/bank-reference'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { readInstant } from '@svc/server/http/fields'
import { Filters, type ListPlan, readList } from '@svc/server/http/list'
import { query } from '@svc/server/http/operation'
import { type Static, Type } from 'typebox'
import { actorOf, auditOf } from './as-operator.ts'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  createdRange,
  exact,
  idParam,
  listOf,
  listQuery,
  maybe,
  oneOf,
  reasonText,
  record,
  referenceText,
  text,
} from './console-schema.ts'
import { HistoryEntry, historyItemToWire, readHistory } from './history.ts'
import { refundHistoryItems } from './payment-history.ts'
import { payoutOf } from './payout-record.ts'

const TAG = 'Payments'
const PATH = `${CONSOLE_API}/refunds`
const RefundRow = record('RefundRow', { refund: RefundRecord, merchantId: text(), merchantName: text() })

type ListedRefund = MerchantRefund & { readonly merchantName: string }

const COLUMNS = `${merchantRefunds.columns}, m.name as "merchantName"`

const rowToWire = (row: ListedRefund, timeZone: string) => ({
  refund: refundToWire(row, timeZone),
  merchantId: row.merchantId,
  merchantName: row.merchantName,
})

const REFUND_QUERY = listQuery(BY_TIME, {
  q: exact('Id of the refund or of its payment, or the bank’s reference (UTR) of the refund in any case', 64),
  merchantId: exact('Of this merchant'),
  status: oneOf(['PENDING', 'SENT', 'REFUNDED', 'FAILED'], 'Only these'),
  referenceNumber: exact('The merchant’s own reference; needs `merchantId`', 255),
  ...createdRange,
})

export const listRefundsInConsole = query({
  ...consoleOperation,
  id: 'console.listRefunds',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List refunds by all merchants',
  permission: 'view',
  query: REFUND_QUERY,
  result: listOf(RefundRow),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const plan: ListPlan = {
        columns: COLUMNS,
        table: 'merchant_refunds r',
        alias: 'r',
        joins: 'join merchants m on m.merchant_id = r.merchant_id',
        filters: refundFilters(query),
        keys: [{ sql: 'r.refund_id', type: 'text' }],
        descending: query.sort !== 'created',
      }
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: ListedRefund) => rowToWire(row, timeZone)),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

/** What a refund has to do with: conditions on refunds `r`. */
function refundFilters(query: Static<typeof REFUND_QUERY>): Filters {
  const { createdFrom, createdTo, merchantId, q, referenceNumber, status } = query
  if (referenceNumber !== undefined && merchantId === undefined)
    failField('referenceNumber', 'not_allowed', 'can only be sent together with merchantId', 'query')
  const filters = new Filters()
    .add('r.merchant_id = ?', merchantId)
    .add('r.status = ?', status)
    .add('r.reference_number = ?', referenceNumber)
    .createdExactly(
      'r.refund_id',
      'rfd',
      'r.created_at',
      readInstant('createdFrom', createdFrom),
      readInstant('createdTo', createdTo),
    )
  if (q?.startsWith('pay_')) filters.add('r.payment_id = ?', q)
  else if (q?.startsWith('rfd_')) filters.add('r.refund_id = ?', q)
  else if (q !== undefined) filters.add('r.utr = ?', canonicalReference(q))
  return filters
}

const FIND = statement<ListedRefund>(
  'console_refund',
  `select ${COLUMNS} from merchant_refunds r join merchants m using (merchant_id) where r.refund_id = $1`,
)

async function readRefund(tx: Tx, refundId: string, timeZone: string) {
  const [refund] = await tx.query(FIND, [refundId])
  if (!refund) return fail('refund_not_found')
  const history = await readHistory(tx, {
    tenantId: refund.merchantId,
    objectIds: [refundId],
    known: refundHistoryItems(refund),
  })
  return {
    row: rowToWire(refund, timeZone),
    payoutId: await payoutOf(tx, refund.merchantId, refundId, 'refund'),
    history: history.map((each) => historyItemToWire(each, timeZone)),
  }
}

export const showRefund = query({
  ...consoleOperation,
  id: 'console.showRefund',
  method: 'GET',
  path: `${PATH}/:refundId`,
  tag: TAG,
  summary: 'Show refund with everything that happened to it',
  permission: 'view',
  params: idParam('refundId'),
  result: record('RefundDetail', {
    row: RefundRow,
    payoutId: maybe('The payout that deducts it, unless that one failed or was cancelled'),
    history: Type.Array(HistoryEntry, { description: 'Oldest first' }),
  }),
  errors: ['refund_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { refundId } }) => ({
      body: JSON.stringify(await database.operate((tx) => readRefund(tx, refundId, timeZone))),
    })
  },
})

export const completeRefundByOperator = query({
  ...consoleOperation,
  id: 'console.completeRefund',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:refundId/complete`,
  tag: TAG,
  summary: 'Record the bank’s outcome of a refund',
  description:
    'Where no notice says so, or one in quarantine that an operator has read. A failed refund is payable to the merchant again: above the limit of APPROVAL_ABOVE_RUPEES, and at any amount once it was sent to the bank, it waits for a second person (202), unless the notice itself states that it failed, with its amount. A failed one that the bank has made after all, with its `utr`, is refunded if its amount is left of the payment and payable; else it stays failed, and what the bank paid is on the account `refund_exceptions`.',
  permission: 'finance',
  params: idParam('refundId'),
  body: closed({
    status: Type.Enum(['REFUNDED', 'FAILED']),
    utr: Type.Optional(referenceText('The bank’s own reference')),
    reason: Type.Optional(reasonText('Why it failed; required then')),
    noticeId: Type.Optional(Type.String({ description: 'The notice in quarantine' })),
  }),
  result: RefundRecord,
  accepted: ApprovalRecord,
  errors: [...completeRefund.approval.failures, 'notice_not_found', 'approval_open'],
  mount(services) {
    const { commands, config, database } = services
    const { run } = commands.open(completeRefund)
    return async (input) => {
      const { refundId } = input.params
      const { status, utr, reason, noticeId } = input.body
      if (status === 'FAILED' && reason === undefined) failField('reason', 'required', 'is required')
      const actor = actorOf(input.caller)
      const [found, assigns] = await database.operate(async (tx) => [
        await findRefund(tx, refundId),
        noticeId === undefined ? undefined : await followedNotice(tx, noticeId, actor, 'refund_notice'),
      ])
      const { merchantId } = found ?? fail('refund_not_found')
      const outcome = {
        refundId,
        utr: utr === undefined ? null : enteredReference(utr, 'utr'),
        amountPaise: undefined,
        failureReason: status === 'FAILED' ? reason! : null,
      }
      const audit = auditOf(merchantId, input, { action: 'refund.completed', target: refundId })
      const done = await run({ read: { outcome }, assigns }, audit)
      return wireOrWait(done, config.BUSINESS_TIME_ZONE, ({ refund }) =>
        refundToWire(refund!, config.BUSINESS_TIME_ZONE),
      )
    }
  },
})
