import { createGiftCard } from '@svc/core/cards/create-gift-card'
import { fundAccount } from '@svc/core/cards/fund-account'
import { loadCard, unloadCard } from '@svc/core/cards/load-card'
import { reverseJournal } from '@svc/core/cards/reverse-posting'
import { withdrawFunds } from '@svc/core/cards/withdraw-funds'
import { enterOpeningBalance } from '@svc/core/ledger/enter-opening-balance'
import type { ApprovalPolicy, WaitingApproval } from '@svc/core/ledger/money-command'
import type { PostingKind } from '@svc/core/ledger/posting'
import { settleBalance } from '@svc/core/ledger/settle-balance'
import { acceptPayment } from '@svc/core/payments/accept-payment'
import { adjustPayment } from '@svc/core/payments/adjust-payment'
import { changePayout } from '@svc/core/payments/change-payout'
import { closeDispute } from '@svc/core/payments/close-dispute'
import { completeRefund } from '@svc/core/payments/complete-refund'
import { createRefund } from '@svc/core/payments/create-refund'
import { issueCreditNote } from '@svc/core/payments/issue-credit-note'
import { enterYearEnd } from '@svc/core/payments/own-funds/enter-year-end'
import { moveOwnFunds } from '@svc/core/payments/own-funds/move-own-funds'
import { takeBackOwnFunds } from '@svc/core/payments/own-funds/take-back-own-funds'
import { resolveSuspense } from '@svc/core/payments/resolve-suspense'
import { reverseBatch } from '@svc/core/payments/settlements/reverse-batch'
import { enterTdsCertificate } from '@svc/core/payments/tds/enter-certificate'
import { unassignCredit } from '@svc/core/payments/unassign-credit'
import { resolveLine } from '@svc/core/statements/resolve-line'
import { required } from '@svc/kernel/invariant'
import type { MayWait } from '@svc/platform/command'

type AnyMoneyCommand = MayWait<never, unknown, WaitingApproval> & {
  readonly name: string
  readonly approval: ApprovalPolicy<unknown, never>
}

/** Every command by which a person moves money: up to the limit alone, above it with a second one (decision R10). */
export const APPROVED_COMMANDS: readonly AnyMoneyCommand[] = [
  fundAccount,
  withdrawFunds,
  reverseJournal,
  enterOpeningBalance,
  settleBalance,
  resolveLine,
  reverseBatch,
  moveOwnFunds,
  takeBackOwnFunds,
  enterYearEnd,
  enterTdsCertificate,
  issueCreditNote,
  acceptPayment,
  adjustPayment,
  resolveSuspense,
  unassignCredit,
  createRefund,
  completeRefund,
  closeDispute,
  changePayout,
  createGiftCard,
  loadCard,
  unloadCard,
]

/** The command whose approvals are of this kind. */
export const commandOf = (kind: PostingKind): AnyMoneyCommand =>
  required(
    APPROVED_COMMANDS.find(({ approval }) => approval.kinds.includes(kind)),
    'each kind of approval is of one command',
  )
