import { fail } from '@svc/contract/errors'
import { fundAccount } from '@svc/core/cards/fund-account'
import { withdrawFunds } from '@svc/core/cards/withdraw-funds'
import {
  type Approval,
  decideApproval,
  findApproval,
  type ManualPosting,
  needsApproval,
  type Posting,
  requestApproval,
} from '@svc/core/ledger/approvals'
import { enterOpeningBalance } from '@svc/core/ledger/enter-opening-balance'
import { OPENED_WITH, type Opened, type OpenedKind } from '@svc/core/ledger/opening-balance'
import { amountOfJournal, type JournalWithLegs, reverseJournal } from '@svc/core/ledger/reverse-journal'
import { adjustPayment } from '@svc/core/qr-codes/adjust-payment'
import { resolveSuspense } from '@svc/core/qr-codes/resolve-suspense'
import { findNotice } from '@svc/core/rails/find-notice'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { required } from '@svc/kernel/invariant'
import { formatRupees, type Paise, paise, parseRupees } from '@svc/kernel/money'
import type { CommandAudit } from '@svc/platform/audit'
import type { Commands, CommandTools } from '@svc/platform/command'
import type { Tx } from '@svc/platform/db/database'
import { postAssignment } from './assignment-posting.ts'

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
export async function askApproval(
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

type Carry = (tools: PostingTools, approval: Approval, audit: CommandAudit<unknown>) => Promise<unknown>

const named = ({ request }: Approval, name: string): string =>
  required(request[name] ?? undefined, 'an approval names what it is of')

/** What moves to or from a card account. */
const movementOf = (approval: Approval) => ({
  partnerId: approval.tenantId,
  cardAccountId: named(approval, 'cardAccountId'),
  amountPaise: paise(approval.amountPaise),
  reference: approval.reference,
  reason: approval.reason,
  approvalId: approval.approvalId,
})

/** How each kind of posting is carried out once it is approved. */
const CARRY: Readonly<Record<ManualPosting, Carry>> = {
  card_funding: async ({ commands, database }, approval, audit) =>
    commands.open(fundAccount).run(
      {
        ...movementOf(approval),
        assigns: await database.operate((tx) => noticeOf(tx, approval)),
      },
      audit,
    ),
  card_withdrawal: ({ commands }, approval, audit) =>
    commands.open(withdrawFunds).run(movementOf(approval), audit),
  payment_adjustment: ({ commands }, approval, audit) => {
    const { amountPaise, approvalId, reason, reference, tenantId } = approval
    const amount = required(parseRupees(named(approval, 'amount')), 'an approval names the new amount')
    return commands.open(adjustPayment).run(
      {
        merchantId: tenantId,
        paymentId: named(approval, 'paymentId'),
        amountPaise: amount,
        reference,
        reason,
        approval: { approvalId, amountPaise },
      },
      audit,
    )
  },
  opening_balance: ({ commands }, approval, audit) => {
    const { amountPaise, approvalId, reason, reference, tenantId } = approval
    const kind = Object.keys(OPENED_WITH).find((known) => known === named(approval, 'account'))
    return commands.open(enterOpeningBalance).run(
      {
        tenantId,
        kind: required(kind, 'an approval names a kind of account') as OpenedKind,
        ownerId: named(approval, 'ownerId'),
        effectiveDate: named(approval, 'effectiveDate'),
        amountPaise: paise(amountPaise),
        reference,
        reason,
        approvalId,
      },
      audit,
    )
  },
  suspense_assigned: resolve,
  suspense_returned: resolve,
  journal_reversal: ({ commands }, { approvalId, reason, reference, tenantId }, audit) =>
    commands.open(reverseJournal).run({ tenantId, journalId: reference, reason, approvalId }, audit),
  notice_assigned: postAssignment,
}

/** The notice that the funding follows; none once it was assigned, when the posting is repeated after a failure. */
async function noticeOf(tx: Tx, { request, requestedBy }: Approval) {
  const noticeId = request['noticeId'] ?? undefined
  const notice = noticeId === undefined ? undefined : await findNotice(tx, noticeId)
  return notice?.status === 'QUARANTINED'
    ? { noticeTenantId: notice.tenantId, noticeId: notice.noticeId, actor: requestedBy }
    : undefined
}

function resolve(
  { commands }: PostingTools,
  approval: Approval,
  audit: CommandAudit<unknown>,
): Promise<unknown> {
  const { approvalId, reason, request, tenantId } = approval
  const merchantId = request['merchantId'] ?? null
  const paymentId = named(approval, 'paymentId')
  return commands.open(resolveSuspense).run({ tenantId, paymentId, merchantId, reason, approvalId }, audit)
}

/**
 * Posts what was approved, and returns the approval as it is then. To be repeated after a failure. What was entered before,
 * say by the bank's own notice, is not posted again: its approval ends as rejected, since no journal will use it.
 */
export async function postApproved(
  tools: PostingTools,
  approval: Approval,
  { actor, requestId }: PostingActor,
): Promise<Approval> {
  const by = { actor, ...(requestId !== undefined && { requestId }) }
  const { approvalId, amountPaise, kind, outcome, requestedBy, reason, reference, tenantId } = approval
  if (outcome !== 'APPROVED') fail('approval_closed')
  const details = { approvalId, amount: formatRupees(amountPaise), reference, reason, requestedBy }
  await CARRY[kind](tools, approval, {
    ...by,
    action: `${kind}.posted`,
    target: approvalId,
    tenantId,
    details,
  })
  const carried = await tools.database.operate((tx) => findApproval(tx, approvalId))
  if (carried.journalId !== null) return carried
  return tools.database.operate(
    (tx) => decideApproval(tx, approvalId, 'REJECTED', actor),
    'read committed',
    by,
  )
}
