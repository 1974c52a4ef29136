import { paise } from '@svc/kernel/money'
import type { PreparedCommand } from '@svc/platform/db/batch'
import { type Account, account, accountId } from '../ledger/accounts.ts'
import { notNew, type RailNotice } from '../rails/rail-notice.ts'
import type { QuarantineReason } from '../rails/read-notice.ts'
import { closed } from './close-dispute.ts'
import type { Refundable } from './create-refund.ts'
import type { Dispute, LegIds } from './dispute.ts'
import type { DisputeReport, ReadDisputeNotice } from './dispute-notice.ts'
import { correctedPaise } from './payment.ts'

/** How long a merchant has where the bank names no deadline (decision Q17). */
const EVIDENCE_MS = 7 * 86_400_000

export interface ReceiveDisputeAsk {
  readonly read: ReadDisputeNotice
  /** The notice as the bank signed it. */
  readonly notice: Buffer
}

export interface ReceiveDispute extends PreparedCommand, ReceiveDisputeAsk {
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
}

export interface Received {
  /** Absent when the notice went to quarantine. */
  readonly dispute: Dispute | undefined
  readonly changed: 'opened' | 'closed' | undefined
  readonly payment: Refundable | undefined
  readonly opens: readonly Account[]
  readonly kept: RailNotice | undefined
  readonly command: ReceiveDispute
}

/** What a notice of a dispute changes; pure. */
export function decide(state: State, command: ReceiveDispute, now: Date): Received {
  const { read, report } = command
  const kept = (reason: QuarantineReason): Received => ({
    ...nothing(command),
    kept: keptAs(command, reason, now),
  })
  if (!report) return kept('unreadable' in read ? read.unreadable : 'not_json')
  const first = state.byCase.get(report.caseReference)
  const payment = command.paymentId === undefined ? undefined : state.payments.get(command.paymentId)
  if (first) {
    if (contradicts(first, payment, report)) return kept('contradicts_earlier_notice')
    if (report.outcome === 'OPEN' || first.closedAt !== null || !payment)
      return { ...nothing(command), dispute: first }
    return { ...nothing(command), ...closed(first, payment, report.outcome, now), changed: 'closed' }
  }
  if (state.merchantOfCase.has(report.caseReference)) return kept('contradicts_earlier_notice')
  if (report.outcome !== 'OPEN') return kept('unknown_dispute')
  if (!payment) return kept('unknown_payment')
  if (payment.status !== 'ACCEPTED') return kept('payment_not_accepted')
  const { amountPaise } = report
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

const nothing = (command: ReceiveDispute): Received => ({
  dispute: undefined,
  changed: undefined,
  payment: undefined,
  opens: [],
  kept: undefined,
  command,
})

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
    evidenceDueAt: report.evidenceDueAt ?? new Date(now.getTime() + EVIDENCE_MS),
    createdAt: now,
    evidenceAt: null,
    closedAt: null,
  }
  const needed = [
    account('disputes', merchantId),
    ...(advancedPaise > 0n ? [account('merchant_advances', merchantId)] : []),
  ]
  return {
    ...nothing(command),
    dispute,
    changed: 'opened',
    payment,
    opens: needed.filter(({ accountId }) => !balances.has(accountId)),
  }
}

/** Whether a report contradicts what is recorded of its case. */
function contradicts(dispute: Dispute, payment: Refundable | undefined, report: DisputeReport): boolean {
  const { amountPaise, outcome, utr } = report
  if (payment?.paymentId !== dispute.paymentId) return true
  if (utr !== null && utr !== payment.utr) return true
  if (amountPaise !== undefined && amountPaise !== dispute.amountPaise) return true
  if (outcome === 'OPEN' || dispute.closedAt === null) return false
  return (outcome === 'WON') !== (dispute.status === 'WON')
}

/** A signed notice that changes no dispute, for an operator to read. */
const keptAs = (command: ReceiveDispute, reason: QuarantineReason, now: Date): RailNotice =>
  notNew(
    {
      tenantId: command.tenantId,
      body: command.notice,
      reason,
      utr: command.report?.utr,
      paymentId: command.paymentId,
      flags: ['dispute_notice'],
    },
    now,
  )
