import { paise } from '@svc/kernel/money'
import type { BatchTx } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { type Account, account, accountId } from '../../ledger/accounts.ts'
import type { Journal } from '../../ledger/journals.ts'
import { correctedPaise } from '../payment.ts'
import type { Refundable } from './create-refund.ts'
import {
  type LegIds,
  lateJournal,
  type MerchantRefund,
  paidJournal,
  restoredJournal,
} from './merchant-refund.ts'
import type { RefundOutcome } from './refund-notice.ts'

type Key = Pick<MerchantRefund, 'merchantId' | 'refundId'>

const GIVEN_BACK = statement<Key>(
  'merchant_refunds_given_back',
  `select l.merchant_id as "merchantId", l.object_id as "refundId"
   from unnest($1::text[], $2::text[]) as w (merchant_id, refund_id)
     join payout_lines l on l.merchant_id = w.merchant_id and l.object_id = w.refund_id
       and l.kind = 'refund_failed' and not l.released`,
)

/**
 * Failed refunds of which a payout gave back what an earlier one had deducted. To be read once the accounts of the
 * merchants are locked: nothing then changes which payout has what.
 */
export const givenBack = (tx: BatchTx, refunds: readonly Key[]): Promise<Key[]> =>
  tx.query(
    GIVEN_BACK,
    columns(
      refunds,
      ({ merchantId }) => merchantId,
      ({ refundId }) => refundId,
    ),
  )

/** What decides whether the money of a failed refund can be taken again; of one merchant. */
export interface Funds {
  /** Refunds that a payout gave back to the merchant. */
  readonly givenBack: ReadonlySet<string>
  /** Of the accounts that exist. */
  readonly balances: Map<string, bigint>
}

/** A refund that has come to an end, or to another one. */
export interface Changed {
  readonly refund: MerchantRefund & { readonly status: 'REFUNDED' | 'FAILED' }
  readonly payment: Refundable
  readonly journals: readonly Journal[]
  readonly opens: readonly Account[]
}

type OfRefund = Pick<Changed, 'refund'>

/** An exception is a matter of the platform: to the merchant the refund stays failed. */
export const isNotified = ({ refund }: OfRefund): boolean => refund.refundedLateAt === null

/** Whether what is refunded of the payment has just changed. */
export const changesPayment = ({ refund }: OfRefund): boolean =>
  refund.status === 'FAILED' ? refund.refundedLateAt === null : refund.failedAt !== null

type Made = RefundOutcome & { readonly utr: string }

/** The bank names the transfer by which it made a refund that it had reported as failed. */
export const isMadeAfterFailure = (
  { status, refundedLateAt }: MerchantRefund,
  outcome: RefundOutcome,
): outcome is Made =>
  status === 'FAILED' && refundedLateAt === null && outcome.failureReason === null && outcome.utr !== null

/**
 * The field by which a report contradicts what is recorded of a refund. `taken`: by the bank's reference, the refund that
 * has it.
 */
export function contradiction(
  refund: MerchantRefund,
  outcome: RefundOutcome,
  taken: ReadonlyMap<string, string>,
): string | undefined {
  const { utr, amountPaise, failureReason } = outcome
  if (amountPaise !== undefined && amountPaise !== refund.amountPaise) return 'amount'
  if (utr !== null && (taken.get(utr) ?? refund.refundId) !== refund.refundId) return 'utr'
  if (!refund.completedAt || isMadeAfterFailure(refund, outcome)) return undefined
  const isOther = utr !== null && refund.utr !== null && utr !== refund.utr
  const wasMade = refund.status === 'REFUNDED' || refund.refundedLateAt !== null
  if (isOther) return 'utr'
  return (failureReason === null) === wasMade ? undefined : 'status'
}

interface Report {
  readonly legs: LegIds
  /** Of the third leg. */
  readonly third: string
  readonly utr: string
  readonly now: Date
}

export const refundExceptions = (merchantId: string): Account => account('refund_exceptions', merchantId)

/**
 * A failed refund that the bank has made after all. If it is left of its payment and its money is still payable, it is
 * refunded, as if it had never failed. If not, it stays failed, and what the bank paid is an exception.
 */
export function madeAfterFailure(
  failed: MerchantRefund,
  payment: Refundable,
  { balances, givenBack: given }: Funds,
  { legs, third, utr, now }: Report,
): Changed {
  const { amountPaise, advancedPaise, merchantId, refundId } = failed
  const refundPaise = paise(payment.refundPaise + amountPaise)
  const payable = balances.get(accountId('payable', merchantId)) ?? 0n
  const isLeft = refundPaise + payment.disputePaise <= correctedPaise(payment)
  if (isLeft && !given.has(refundId) && payable >= amountPaise - advancedPaise) {
    const made = { status: 'REFUNDED', failureReason: null, failedAt: failed.completedAt } as const
    const refund = { ...failed, ...made, utr, completedAt: now }
    return {
      refund,
      payment: { ...payment, refundPaise },
      journals: [restoredJournal(refund, legs, now), paidJournal(refund, [third, third], now)],
      opens: [],
    }
  }
  const refund = { ...failed, status: 'FAILED', utr, refundedLateAt: now } as const
  const exceptions = refundExceptions(merchantId)
  return {
    refund,
    payment,
    journals: [lateJournal(refund, third, now)],
    opens: balances.has(exceptions.accountId) ? [] : [exceptions],
  }
}
