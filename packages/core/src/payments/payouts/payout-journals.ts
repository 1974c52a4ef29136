import { type Paise, paise } from '@svc/kernel/money'
import { accountId } from '../../ledger/accounts.ts'
import type { Journal } from '../../ledger/journals.ts'
import type { JournalKind } from '../../ledger/posting-rules.ts'
import type { Transfer } from '../../ledger/transfers.ts'
import { feesDue, type Payout, type PayoutAccount } from './payout.ts'

type Leg = readonly [debit: PayoutAccount, credit: PayoutAccount, amountPaise: Paise]

/** A leg that is in the ledger, by account. */
export interface PostedLeg {
  readonly debitAccountId: string
  readonly creditAccountId: string
  readonly amountPaise: Paise
}

/** A leg of a negative amount goes the other way; one of nothing is left out. */
const legsOf = (legs: readonly Leg[]): Leg[] =>
  legs
    .filter(([, , amount]) => amount !== 0n)
    .map(([debit, credit, amount]) =>
      amount > 0n ? [debit, credit, amount] : [credit, debit, paise(0n - amount)],
    )

/** From what is payable: accrued fees with their tax, advances that are repaid, and the rest to the merchant. */
const preparedLegs = (payout: Payout): Leg[] =>
  legsOf([
    ['payable', 'accrued_fees', feesDue(payout)],
    ['payable', 'merchant_advances', payout.advancePaise],
    ['payable', 'payouts_in_transit', payout.amountPaise],
  ])

/** The most legs that a journal of a payout has. */
export const LEGS_MAX = 3

const ofMerchant = (merchantId: string, [debit, credit, amountPaise]: Leg): PostedLeg => ({
  debitAccountId: accountId(debit, merchantId),
  creditAccountId: accountId(credit, merchantId),
  amountPaise,
})

/** A journal's id is the payout's under another prefix, with a letter for what happened. */
function journal(
  { merchantId, payoutId }: Payout,
  [kind, suffix, at]: readonly [JournalKind, string, Date],
  legs: readonly Leg[] | readonly PostedLeg[],
  transferIds: readonly string[],
): Journal {
  const transfers = legs.map(
    (leg, i): Transfer => ({
      transferId: transferIds[i]!,
      tenantId: merchantId,
      kind,
      ...('amountPaise' in leg ? leg : ofMerchant(merchantId, leg)),
      objectId: payoutId,
      createdAt: at,
    }),
  )
  return {
    tenantId: merchantId,
    journalId: `jrn_${payoutId.slice(4)}${suffix}`,
    kind,
    reference: payoutId,
    reverses: null,
    reason: null,
    at,
    transfers,
  }
}

export const preparedJournal = (payout: Payout, transferIds: readonly string[]): Journal =>
  journal(payout, ['payout', '', payout.createdAt], preparedLegs(payout), transferIds)

/** The bank has paid it from our account. */
export const paidJournal = (payout: Payout, transferIds: readonly string[], at: Date): Journal => ({
  ...journal(
    payout,
    ['payout_paid', 'p', at],
    [['payouts_in_transit', 'bank', payout.amountPaise]],
    transferIds,
  ),
  reference: payout.utr ?? payout.payoutId,
})

/** What the bank had paid is on our account again. */
export const returnedJournal = (payout: Payout, transferIds: readonly string[], at: Date): Journal => ({
  ...journal(
    payout,
    ['payout_returned', 'b', at],
    [['bank', 'payouts_in_transit', payout.amountPaise]],
    transferIds,
  ),
  reference: payout.returnUtr,
  reverses: `jrn_${payout.payoutId.slice(4)}p`,
  reason: payout.failureReason,
})

/** The journal that a release takes back: the first, or the one that restored it. */
export const releasedBy = ({ failedAt, payoutId }: Payout): string =>
  `jrn_${payoutId.slice(4)}${failedAt === null ? '' : 'a'}`

/**
 * The mirror of what was entered: everything is payable again. Fees and their tax stay in the books (decision R22).
 */
export const releasedJournal = (
  payout: Payout,
  posted: readonly PostedLeg[],
  transferIds: readonly string[],
  at: Date,
): Journal => {
  const isFirst = payout.failedAt === null
  return {
    ...journal(
      payout,
      ['payout_released', isFirst ? 'r' : 'r2', at],
      posted.map(({ debitAccountId, creditAccountId, amountPaise }) => ({
        debitAccountId: creditAccountId,
        creditAccountId: debitAccountId,
        amountPaise,
      })),
      transferIds,
    ),
    reference: isFirst ? payout.payoutId : `${payout.payoutId}~2`,
    reverses: releasedBy(payout),
    reason: payout.failureReason,
  }
}

/** The bank has paid it after all: what it was made of is payable no more. */
export const restoredJournal = (payout: Payout, transferIds: readonly string[], at: Date): Journal =>
  journal(payout, ['payout_restored', 'a', at], preparedLegs(payout), transferIds)

/** The bank has paid it after all, but what it was made of was paid again or spent: the merchant owes it. */
export const paidLateJournal = (payout: Payout, transferIds: readonly string[], at: Date): Journal => ({
  ...journal(
    payout,
    ['payout_paid_late', 'l', at],
    [['payout_exceptions', 'bank', payout.amountPaise]],
    transferIds,
  ),
  reference: payout.utr ?? payout.payoutId,
})
