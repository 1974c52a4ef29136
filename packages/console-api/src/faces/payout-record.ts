import type { Payout } from '@svc/core/payments/payouts/payout'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { fieldsOf, toRecord } from '@svc/server/http/resource'
import { type ListedPayout, payout } from '@svc/server/payments/payouts'
import { CONSOLE_API, record } from '../console-schema.ts'
import type { HistoryItem } from '../records/history.ts'

export const TAG = 'Payouts'
export const PATH = `${CONSOLE_API}/payouts`

const { merchantName: _, ...fields } = fieldsOf(payout, 'operator')
/** A payout after one of its steps. */
export const PayoutState = record('PayoutState', fields)

export const payoutRowToWire = toRecord<ListedPayout>(payout, 'operator')

export function stateOf(changed: Payout, timeZone: string): object {
  const { merchantName: __, ...state } = payoutRowToWire({ ...changed, merchantName: '' }, timeZone)
  return state
}

const OF_OBJECT = statement<{ payoutId: string }>(
  'console_payout_of_object',
  `select l.payout_id as "payoutId" from payout_lines l
   where l.merchant_id = $1 and l.object_id = $2 and l.kind = $3 and not l.released`,
)

/** The payout that a payment or refund is in, unless that one failed or was cancelled. */
export const payoutOf = async (
  tx: Tx,
  merchantId: string,
  objectId: string,
  kind: 'payment' | 'refund' | 'dispute',
): Promise<string | undefined> => (await tx.query(OF_OBJECT, [merchantId, objectId, kind]))[0]?.payoutId

const OUTCOMES = { PAID: 'paid', FAILED: 'failed', CANCELLED: 'cancelled' } as const
type Outcome = keyof typeof OUTCOMES

/** Prepared, approved, sent to the bank, and what became of it. */
export function payoutHistoryItems(payout: Payout): HistoryItem[] {
  const { accountSetBy, approvedAt, approvedBy, completedAt, createdAt, failureReason, runId, sentAt } =
    payout
  const { failedAt, paidLateAt, returnedAt, returnUtr, utr } = payout
  const fact = { source: 'payout', id: payout.payoutId } as const
  const of = (at: Date | null, what: string, detail?: string | null, actor?: string | null): HistoryItem[] =>
    at ? [{ ...fact, at, what, detail: detail ?? undefined, actor: actor ?? undefined }] : []
  const account = accountSetBy === null ? '' : `, to the bank account set by ${accountSetBy}`
  const outcome = OUTCOMES[(returnedAt ? 'PAID' : payout.status) as Outcome]
  const paidAs = utr && `UTR ${utr}`
  return [
    ...of(createdAt, 'prepared', `for ${payout.businessDay}${account}`, payout.preparedBy),
    ...of(approvedAt, 'approved', undefined, approvedBy),
    ...of(sentAt, 'sent_to_the_bank', runId && `run ${runId}`),
    ...of(failedAt, 'failed'),
    ...(outcome ? of(completedAt, outcome, outcome === 'paid' ? paidAs : failureReason) : []),
    ...of(returnedAt, 'returned_by_the_bank', `UTR ${returnUtr}; ${failureReason}`),
    ...of(paidLateAt, 'paid_late', `UTR ${utr}; its money was paid again or spent`),
  ]
}
