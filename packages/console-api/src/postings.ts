import { accountId } from '@svc/core/ledger/accounts'
import { type Approval, needsApproval, type Posting, requestApproval } from '@svc/core/ledger/approvals'
import type { Opened } from '@svc/core/ledger/opening-balance'
import { amountOfJournal, type JournalWithLegs } from '@svc/core/ledger/reverse-journal'
import { SETTLEMENTS, type Settlement } from '@svc/core/ledger/settlement'
import type { Dispute } from '@svc/core/payments/dispute'
import type { MerchantRefund } from '@svc/core/payments/merchant-refund'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { formatRupees, type Paise } from '@svc/kernel/money'
import type { Commands, CommandTools } from '@svc/platform/command'

/** What postings need: of the service, or of one call of the command line. */
export type PostingTools = Pick<CommandTools, 'config' | 'database' | 'newId'> & {
  readonly commands: Commands
}

/** Who acts, as the audit names them. */
export interface PostingActor {
  readonly actor: string
  readonly requestId?: string
}

interface Funding {
  readonly partnerId: string
  readonly cardAccountId: string
  readonly amountPaise: Paise
  readonly reference: string
  readonly reason: string
  /** The notice in quarantine that an operator follows. */
  readonly noticeId?: string | undefined
}

export const fundingPosting = ({
  partnerId,
  cardAccountId,
  amountPaise,
  reference,
  reason,
  noticeId,
}: Funding): Posting => ({
  tenantId: partnerId,
  kind: 'card_funding',
  amountPaise,
  reference: canonicalReference(reference),
  request: { cardAccountId, ...(noticeId !== undefined && { noticeId }) },
  reason,
})

/** The same for what is paid back to the partner. */
export const withdrawalPosting = (withdrawal: Omit<Funding, 'noticeId'>): Posting => ({
  ...fundingPosting(withdrawal),
  kind: 'card_withdrawal',
})

interface Resolution {
  readonly tenantId: string
  readonly paymentId: string
  readonly merchantId: string | null
  readonly utr: string
  readonly amountPaise: bigint
  readonly reason: string
}

export const suspensePosting = ({ tenantId, paymentId, merchantId, utr, ...rest }: Resolution): Posting => ({
  tenantId,
  kind: merchantId === null ? 'suspense_returned' : 'suspense_assigned',
  amountPaise: rest.amountPaise,
  reference: utr,
  request: { paymentId, merchantId },
  reason: rest.reason,
})

export const reversalPosting = (found: JournalWithLegs, reason: string): Posting => ({
  tenantId: found.journal.tenantId,
  kind: 'journal_reversal',
  amountPaise: amountOfJournal(found),
  reference: found.journal.journalId,
  request: { journalId: found.journal.journalId },
  reason,
})

interface Opening extends Opened {
  readonly amountPaise: Paise
  readonly effectiveDate: string
  readonly reference: string
  readonly reason: string
}

export const openingPosting = ({ tenantId, kind, ownerId, effectiveDate, ...rest }: Opening): Posting => ({
  tenantId,
  kind: 'opening_balance',
  amountPaise: rest.amountPaise,
  reference: rest.reference,
  request: { account: kind, ownerId, effectiveDate },
  reason: rest.reason,
})

interface Settling extends Settlement {
  readonly amountPaise: Paise
  readonly reference: string
  readonly reason: string
}

/** The side says who owes it; it is posted only while the account still has it open there. */
export const settlementPosting = ({ tenantId, kind, outcome, side, ...rest }: Settling): Posting => ({
  tenantId,
  kind: SETTLEMENTS[kind].kinds[outcome],
  amountPaise: rest.amountPaise,
  reference: canonicalReference(rest.reference),
  request: { ledgerAccountId: accountId(kind, tenantId), outcome, side },
  reason: rest.reason,
})

/** That a refund failed, as an operator says: its money is payable again. */
export const refundFailedPosting = (
  { amountPaise, merchantId, refundId }: Pick<MerchantRefund, 'amountPaise' | 'merchantId' | 'refundId'>,
  { noticeId, reason, utr }: { noticeId?: string | undefined; reason: string; utr: string | null },
): Posting => ({
  tenantId: merchantId,
  kind: 'merchant_refund_failed',
  amountPaise,
  reference: refundId,
  request: { refundId, ...(utr !== null && { utr }), ...(noticeId !== undefined && { noticeId }) },
  reason,
})

/** That a dispute was won, as an operator says: its money is payable again. */
export const disputeWonPosting = (
  { amountPaise, caseReference, disputeId, merchantId, paymentId }: Dispute,
  noticeId?: string,
): Posting => ({
  tenantId: merchantId,
  kind: 'dispute_won',
  amountPaise,
  reference: disputeId,
  request: { disputeId, paymentId, ...(noticeId !== undefined && { noticeId }) },
  reason: `the network decided the case ${caseReference} for the merchant`,
})

interface Adjustment {
  readonly merchantId: string
  readonly paymentId: string
  readonly amountPaise: Paise
  readonly changePaise: bigint
  readonly reference: string
  readonly reason: string
}

/** What is posted is the difference; the amounts before and after it say in which direction. */
export const adjustmentPosting = ({ merchantId, paymentId, changePaise, ...rest }: Adjustment): Posting => ({
  tenantId: merchantId,
  kind: 'payment_adjustment',
  amountPaise: changePaise < 0n ? 0n - changePaise : changePaise,
  reference: rest.reference,
  request: {
    paymentId,
    from: formatRupees(rest.amountPaise - changePaise),
    amount: formatRupees(rest.amountPaise),
  },
  reason: rest.reason,
})

/**
 * The request for a second person where the amount, with what one person posted before, is above the limit; `undefined`
 * where one person may post it.
 */
export async function requestApprovalIfNeeded(
  { config, database, newId }: PostingTools,
  posting: Posting,
  { actor, requestId }: PostingActor,
  beforePaise = 0n,
): Promise<Approval | undefined> {
  return database.operate(
    async (tx) => {
      if (!(await needsApproval(tx, posting.amountPaise + beforePaise))) return undefined
      return requestApproval(tx, posting, {
        approvalId: newId('apv'),
        requestedBy: actor,
        hours: config.APPROVAL_HOURS,
      })
    },
    'read committed',
    { actor, ...(requestId !== undefined && { requestId }) },
  )
}
