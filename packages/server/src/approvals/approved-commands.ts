import { fundAccount } from '@svc/core/cards/account/fund-account'
import { reverseJournal } from '@svc/core/cards/account/reverse-posting'
import { withdrawFunds } from '@svc/core/cards/account/withdraw-funds'
import { createGiftCard } from '@svc/core/cards/card/create-gift-card'
import { loadCard, unloadCard } from '@svc/core/cards/card/load-card'
import { enterOpeningBalance } from '@svc/core/ledger/enter-opening-balance'
import type { ApprovalPolicy, WaitingApproval } from '@svc/core/ledger/money-command'
import type { PostingKind } from '@svc/core/ledger/posting'
import { settleBalance } from '@svc/core/ledger/settle-balance'
import { acceptPayment } from '@svc/core/payments/accept-payment'
import { adjustPayment } from '@svc/core/payments/adjustments/adjust-payment'
import { closeDispute } from '@svc/core/payments/disputes/close-dispute'
import { issueCreditNote } from '@svc/core/payments/fees/issue-credit-note'
import { issueDebitNote } from '@svc/core/payments/fees/issue-debit-note'
import { enterYearEnd } from '@svc/core/payments/own-funds/enter-year-end'
import { moveOwnFunds } from '@svc/core/payments/own-funds/move-own-funds'
import { takeBackOwnFunds } from '@svc/core/payments/own-funds/take-back-own-funds'
import { changePayout } from '@svc/core/payments/payouts/change-payout'
import { completeRefund } from '@svc/core/payments/refunds/complete-refund'
import { createRefund } from '@svc/core/payments/refunds/create-refund'
import { recordBatch } from '@svc/core/payments/settlements/record-batch'
import { reverseBatch } from '@svc/core/payments/settlements/reverse-batch'
import { resolveSuspense } from '@svc/core/payments/suspense/resolve-suspense'
import { unassignCredit } from '@svc/core/payments/suspense/unassign-credit'
import { enterTdsCertificate } from '@svc/core/payments/tds/enter-certificate'
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
  recordBatch,
  reverseBatch,
  moveOwnFunds,
  takeBackOwnFunds,
  enterYearEnd,
  enterTdsCertificate,
  issueCreditNote,
  issueDebitNote,
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
