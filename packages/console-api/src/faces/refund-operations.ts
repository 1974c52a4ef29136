import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { enteredReference } from '@svc/core/ledger/entered-reference'
import { completeRefund } from '@svc/core/payments/refunds/complete-refund'
import { findRefund } from '@svc/core/payments/refunds/find-refund'
import { RefundRecord, refundToWire } from '@svc/core/payments/refunds/merchant-refund'
import { followedNotice } from '@svc/core/rails/find-notice'
import type { Tx } from '@svc/platform/db/database'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { query } from '@svc/server/http/operation'
import { fieldsOf, findRow, listOf, toRecord } from '@svc/server/http/resource'
import { type ListedRefund, refund } from '@svc/server/payments/refunds'
import { Type } from 'typebox'
import { actorOf, auditOf } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  maybe,
  reasonText,
  record,
  referenceText,
} from '../console-schema.ts'
import { HistoryEntry, historyItemToWire, readHistory } from '../records/history.ts'
import { refundHistoryItems } from '../records/payment-history.ts'
import { payoutOf } from './payout-record.ts'

const TAG = 'Payments'
const PATH = `${CONSOLE_API}/refunds`
const toWire = toRecord<ListedRefund>(refund, 'operator')

export const listRefundsInConsole = listOf<ListedRefund>(refund, {
  ...consoleOperation,
  id: 'console.listRefunds',
  path: PATH,
  tag: TAG,
  summary: 'List refunds by all merchants',
  permission: 'view',
})

async function readRefund(tx: Tx, refundId: string, timeZone: string) {
  const found =
    (await findRow<ListedRefund>(tx, refund, { reader: 'operator' }, refundId)) ?? fail('refund_not_found')
  const history = await readHistory(tx, {
    tenantId: found.merchantId,
    objectIds: [refundId],
    known: refundHistoryItems(found),
  })
  return {
    ...toWire(found, timeZone),
    payoutId: await payoutOf(tx, found.merchantId, refundId, 'refund'),
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
    ...fieldsOf(refund, 'operator'),
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
    reason: Type.Optional(reasonText('Why it failed. Required then')),
    noticeId: Type.Optional(Type.String({ description: 'The notice in quarantine that says so' })),
  }),
  result: RefundRecord,
  accepted: ApprovalRecord,
  errors: [...completeRefund.approval.failures, 'notice_not_found', 'approval_open', 'moved'],
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
