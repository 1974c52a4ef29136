import { failField } from '@svc/contract/fail-fields'
import { PAYOUT_STATUSES, type Payout, PayoutRecord, payouts, payoutToWire } from '@svc/core/payments/payout'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { isDay, rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Filters } from '@svc/server/http/list'
import { type Static, Type } from 'typebox'
import { CONSOLE_API, closed, exact, maybeInstant, oneOf, record, text } from './console-schema.ts'
import type { HistoryItem } from './history.ts'

export const TAG = 'Payouts'
export const PATH = `${CONSOLE_API}/payouts`

const fields = {
  payout: PayoutRecord,
  merchantId: text(),
  preparedBy: text('Who may not approve it'),
  approvedBy: Type.Optional(text()),
  approvedOn: maybeInstant,
}
/** A payout after one of its steps. */
export const PayoutState = record('PayoutState', fields)
export const PayoutRow = record('PayoutRow', { ...fields, merchantName: text() })

export const stateOf = (payout: Payout, timeZone: string) => ({
  payout: payoutToWire(payout, timeZone),
  merchantId: payout.merchantId,
  preparedBy: payout.preparedBy,
  approvedBy: payout.approvedBy ?? undefined,
  approvedOn: payout.approvedAt ? rfc3339(payout.approvedAt, timeZone) : undefined,
})

export type ListedPayout = Payout & { readonly merchantName: string }
export const COLUMNS = `${payouts.columns}, m.name as "merchantName"`
export const rowOf = (row: ListedPayout, timeZone: string) => ({
  ...stateOf(row, timeZone),
  merchantName: row.merchantName,
})

export const PAYOUT_FILTERS = {
  q: exact('Id of the payout, or the bank’s reference of it or of its return', 64),
  merchantId: exact('To this merchant'),
  status: oneOf([...PAYOUT_STATUSES], 'Only these'),
  businessDay: exact('Of this business day, `YYYY-MM-DD`', 10),
}
const PayoutFilters = closed(PAYOUT_FILTERS)

export function readBusinessDay(day: string, where: 'body' | 'query'): string {
  if (!isDay(day)) failField('businessDay', 'format', 'must be a day, such as 2026-04-01', where)
  return day
}

/** Conditions on payouts `y`. */
export function payoutFilters({ q, merchantId, status, businessDay }: Static<typeof PayoutFilters>): Filters {
  const filters = new Filters()
    .add('y.merchant_id = ?', merchantId)
    .add('y.status = ?', status)
    .add('y.business_day = ?::date', businessDay && readBusinessDay(businessDay, 'query'))
  if (q?.startsWith('pyo_')) return filters.add('y.payout_id = ?', q)
  const reference = q && canonicalReference(q)
  return filters.add('? in (y.utr, y.return_utr)', reference)
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
  kind: 'payment' | 'refund',
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
