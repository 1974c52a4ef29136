import { fail } from '@svc/contract/errors'
import { paise } from '@svc/kernel/money'
import type { PreparedCommand } from '@svc/platform/db/batch'
import { type Account, account, accountId } from '../../ledger/accounts.ts'
import type { QuarantineReason } from '../../rails/quarantine-reason.ts'
import { type Assignment, notNew, type RailNotice } from '../../rails/rail-notice.ts'
import type { StoredNotices } from '../../rails/stored-notices.ts'
import { requireWaiting, type WaitingNotices } from '../../rails/waiting-notices.ts'
import type { Origin } from '../../tenants/homes.ts'
import { correctedPaise } from '../payment.ts'
import type { Refundable } from '../refunds/create-refund.ts'
import { closed } from './close-dispute.ts'
import type { Dispute, LegIds } from './dispute.ts'
import type { DisputeReport, ReadDisputeNotice } from './dispute-notice.ts'

/** How long a merchant has where the bank names no deadline (decision Q17). */
const EVIDENCE_MS = 7 * 86_400_000
/** No network waits as long: a deadline beyond is a mistyped year. */
const DUE_AHEAD_MS = 3_653 * 86_400_000
/** How long a merchant has at least where the deadline that the bank names has passed already. */
const LATE_EVIDENCE_MS = 86_400_000

export interface ReceiveDisputeArgs extends Origin {
  readonly read: ReadDisputeNotice
  /** The notice as the bank signed it. */
  readonly notice: Buffer
  /** The notice was in quarantine, and an operator has it carried out again. */
  readonly assigns?: Omit<Assignment, 'paymentId'> | undefined
}

export interface ReceiveDispute extends PreparedCommand, ReceiveDisputeArgs {
  readonly report: DisputeReport | undefined
  readonly merchantId: string
  readonly caseReference: string
  readonly paymentId: string | undefined
  readonly ids: { readonly dispute: string; readonly legs: LegIds; readonly event: string }
  readonly timeZone: string
}

export interface State {
  readonly payments: Map<string, Refundable>
  readonly byCase: Map<string, Dispute>
  readonly balances: Map<string, bigint>
  /** By the reference of a case, the merchant who has it. */
  readonly merchantOfCase: Map<string, string>
  /** Those that the network can still decide for the merchant. */
  readonly lostUnreported: Set<string>
  readonly stored: StoredNotices
  readonly waiting: WaitingNotices
}

export interface Received {
  /** Absent when the notice went to quarantine. */
  readonly dispute: Dispute | undefined
  readonly changed: 'opened' | 'closed' | undefined
  readonly isOverturned: boolean
  readonly payment: Refundable | undefined
  readonly opens: readonly Account[]
  readonly kept: RailNotice | undefined
  readonly at: Date
  readonly command: ReceiveDispute
}

/** What a notice of a dispute changes; pure. */
export function decide(state: State, command: ReceiveDispute, now: Date): Received {
  const { assigns, read, report } = command
  requireWaiting(state.waiting, assigns)
  const unchanged = nothing(command, now)
  const kept = (reason: QuarantineReason, field?: string): Received =>
    assigns
      ? fail('notice_not_applied', { description: `The notice still changes no dispute: ${reason}` })
      : { ...unchanged, kept: toNotice(command, reason, now, field) }
  if (!report) return kept('unreadable' in read ? read.unreadable : 'not_json')
  const first = state.byCase.get(report.caseReference)
  const payment = command.paymentId === undefined ? undefined : state.payments.get(command.paymentId)
  if (first) {
    const isUnreported = state.lostUnreported.has(first.disputeId)
    const isOverturned = isUnreported && report.outcome === 'WON'
    const field = payment ? contradiction(first, payment, report, isUnreported) : 'caseReference'
    if (!payment || field !== undefined) return kept('contradicts_earlier_notice', field)
    // Kept beside the dispute: the network says the same, so it cannot be won any more.
    if (isUnreported && report.outcome === 'LOST')
      return { ...unchanged, dispute: first, kept: toNotice(command, null, now) }
    if (report.outcome === 'OPEN' || (first.closedAt !== null && !isOverturned))
      return { ...unchanged, dispute: first }
    const ended = closed(first, payment, report.outcome, now)
    return { ...unchanged, ...ended, changed: 'closed', isOverturned }
  }
  if (state.merchantOfCase.has(report.caseReference)) return kept('contradicts_earlier_notice')
  if (report.outcome !== 'OPEN') return kept('unknown_dispute')
  if (!payment) return kept('unknown_payment')
  if (payment.status !== 'ACCEPTED') return kept('payment_not_accepted')
  const { amountPaise, evidenceDueAt } = report
  if (evidenceDueAt && evidenceDueAt.getTime() - now.getTime() > DUE_AHEAD_MS)
    return kept('time_unreadable', 'respondBy')
  if (amountPaise === undefined) return kept('amount_unreadable')
  if (amountPaise > correctedPaise(payment) - payment.refundPaise - payment.disputePaise)
    return kept('dispute_over_payment')
  return opened(
    state,
    command,
    report,
    { ...payment, disputePaise: paise(payment.disputePaise + amountPaise) },
    now,
  )
}

const nothing = (command: ReceiveDispute, at: Date): Received => ({
  dispute: undefined,
  changed: undefined,
  isOverturned: false,
  payment: undefined,
  opens: [],
  kept: undefined,
  at,
  command,
})

/** Until when the merchant, who hears of the dispute now, can submit evidence. */
function dueAt({ evidenceDueAt: reported }: DisputeReport, now: Date): Date {
  if (reported && reported > now) return reported
  return new Date(now.getTime() + (reported ? LATE_EVIDENCE_MS : EVIDENCE_MS))
}

function opened(
  { balances }: State,
  command: ReceiveDispute,
  report: DisputeReport,
  payment: Refundable,
  now: Date,
): Received {
  const { merchantId, ids } = command
  const amountPaise = report.amountPaise ?? paise(0n)
  const payable = balances.get(accountId('payable', merchantId)) ?? 0n
  const advancedPaise = paise(amountPaise > payable ? amountPaise - payable : 0n)
  const dispute: Dispute = {
    merchantId,
    disputeId: ids.dispute,
    paymentId: payment.paymentId,
    caseReference: report.caseReference,
    amountPaise,
    advancedPaise,
    reason: report.reason,
    status: 'OPEN',
    evidence: null,
    evidenceDueAt: dueAt(report, now),
    createdAt: now,
    evidenceAt: null,
    evidenceSentAt: null,
    evidenceReceipt: null,
    evidenceRequest: null,
    evidenceRequestedAt: null,
    closedAt: null,
  }
  const needed = [
    account('disputes', merchantId),
    ...(advancedPaise > 0n ? [account('merchant_advances', merchantId)] : []),
  ]
  return {
    ...nothing(command, now),
    dispute,
    changed: 'opened',
    payment,
    opens: needed.filter(({ accountId }) => !balances.has(accountId)),
  }
}

/** The field by which a report contradicts what is recorded of its case. */
function contradiction(
  dispute: Dispute,
  payment: Refundable,
  report: DisputeReport,
  isUnreported: boolean,
): string | undefined {
  const { amountPaise, outcome, utr } = report
  if (payment.paymentId !== dispute.paymentId) return 'caseReference'
  if (utr !== null && utr !== payment.utr) return 'utr'
  if (amountPaise !== undefined && amountPaise !== dispute.amountPaise) return 'amount'
  if (outcome === 'OPEN') return otherTerms(dispute, report)
  if (dispute.closedAt === null || isUnreported) return undefined
  return (outcome === 'WON') === (dispute.status === 'WON') ? undefined : 'status'
}

/** The network may give its decision a reason of its own; the terms of an open case do not change. */
function otherTerms(
  { createdAt, evidenceDueAt, reason }: Dispute,
  report: DisputeReport,
): string | undefined {
  if (report.reason !== null && reason !== null && report.reason !== reason) return 'reason'
  const due = report.evidenceDueAt
  return due && due > createdAt && due.getTime() !== evidenceDueAt.getTime() ? 'respondBy' : undefined
}

/** A signed notice that changes no dispute: for an operator to read, or beside what it repeats. */
const toNotice = (
  command: ReceiveDispute,
  reason: QuarantineReason | null,
  now: Date,
  field?: string,
): RailNotice =>
  notNew(
    {
      tenantId: command.tenantId,
      body: command.notice,
      reason,
      field,
      ...('unreadable' in command.read && { field: command.read.field, detail: command.read.detail }),
      utr: command.report?.utr ?? ('unreadable' in command.read ? command.read.utr : undefined),
      paymentId: command.paymentId,
      flags: ['dispute_notice'],
    },
    now,
  )
