import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { required } from '@svc/kernel/invariant'
import { paise } from '@svc/kernel/money'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { saveEvents } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { lockAccounts } from '../../ledger/accounts.ts'
import { saveJournals } from '../../ledger/journals.ts'
import { moneyCommand, personOf } from '../../ledger/money-command.ts'
import type { Posting } from '../../ledger/posting.ts'
import { storedArgs } from '../../ledger/stored-args.ts'
import { type FollowedNotice, StoredFollowed } from '../../rails/find-notice.ts'
import { assignNotices } from '../../rails/rail-notice.ts'
import { lockWaiting, requireWaiting, type WaitingNotices } from '../../rails/waiting-notices.ts'
import { payments } from '../payment.ts'
import { LOCK_PAYMENT, type Refundable } from '../refunds/create-refund.ts'
import { statingWon, storeWonNotices } from '../refunds/outcome-notice.ts'
import {
  closedJournals,
  type Dispute,
  type DisputeEnd,
  disputeAccounts,
  disputeEvent,
  disputes,
  type LegIds,
} from './dispute.ts'
import { lostCaseOf, lostUnreported } from './lost-unreported.ts'

export interface CloseDispute {
  readonly merchantId: string
  readonly disputeId: string
  /** Of the dispute; needed to win it, since the payment then counts it no more. */
  readonly paymentId?: string
  /** `OVERDUE`: lost, if there is no evidence and the deadline has passed. */
  readonly outcome: DisputeEnd | 'OVERDUE'
  /** The notice in quarantine that an operator follows. */
  readonly assigns?: FollowedNotice | undefined
}

interface Prepared extends CloseDispute, PreparedCommand {
  readonly ids: { readonly legs: LegIds; readonly event: string }
  readonly timeZone: string
}

interface State {
  readonly payments: Map<string, Refundable>
  readonly disputes: Map<string, Dispute>
  /** Those that the network can still decide for the merchant. */
  readonly lostUnreported: Set<string>
  readonly waiting: WaitingNotices
}

export interface Closed {
  readonly dispute: Dispute
  /** The payment after it, when it was won. */
  readonly payment: Refundable | undefined
  readonly isNew: boolean
  readonly isOverturned: boolean
  readonly at: Date
  readonly command: Prepared
}

const LOCK = disputes.lock('to_close')
export const saveClosed = disputes.updates(['status', 'closedAt'], 'close')
const saveWon = payments.updates(['disputePaise'], 'dispute_won')

/** The dispute with its end, and its payment, which no longer counts one that was won. */
export const closed = (
  dispute: Dispute,
  payment: Refundable,
  status: DisputeEnd,
  now: Date,
): { readonly dispute: Dispute; readonly payment: Refundable } => ({
  dispute: { ...dispute, status, closedAt: now },
  payment:
    status === 'WON'
      ? { ...payment, disputePaise: paise(payment.disputePaise - dispute.amountPaise) }
      : payment,
})

/**
 * Ends a dispute (decision Q17): its merchant accepts it, an operator records what the network decided, or its deadline
 * has passed. A repeat changes nothing. One that was lost by its deadline can still be won.
 */
export const closeDispute = moneyCommand({
  name: 'closeDispute',

  approval: {
    kinds: ['dispute_won', 'dispute_lost'],
    args: storedArgs(
      Type.Object({
        merchantId: Type.String(),
        disputeId: Type.String(),
        paymentId: Type.Optional(Type.String()),
        outcome: Type.Enum(['WON', 'LOST', 'ACCEPTED']),
        assigns: Type.Optional(StoredFollowed),
      }),
    ),
    moves: decidedByHand,
    failures: ['dispute_not_found', 'dispute_closed', 'notice_not_in_quarantine'],
  },

  prepare:
    ({ config, newId }) =>
    (args: CloseDispute): Prepared => {
      return {
        ...args,
        tenantId: args.merchantId,
        otherTenantId: args.assigns?.noticeTenantId,
        ids: { legs: [newId('trf'), newId('trf'), newId('trf')], event: newId('evt') },
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  lock,
  decide,

  apply(state, { dispute, payment, isNew, command }) {
    const { assigns, outcome } = command
    const isWord = outcome === 'OVERDUE' || personOf(command) !== undefined
    if (assigns) state.waiting.delete(assigns.noticeId)
    state.disputes.set(dispute.disputeId, dispute)
    if (isWord && isNew) state.lostUnreported.add(dispute.disputeId)
    if (dispute.status === 'WON' || (assigns && lostCaseOf(assigns.body) === dispute.caseReference))
      state.lostUnreported.delete(dispute.disputeId)
    if (payment) state.payments.set(payment.paymentId, payment)
  },

  save(tx, decisions) {
    const made = decisions.filter(({ isNew }) => isNew)
    saveWon(
      tx,
      made.flatMap(({ payment }) => payment ?? []),
    )
    saveClosed(
      tx,
      made.map(({ dispute }) => dispute),
    )
    const won = made.filter(({ dispute }) => dispute.status === 'WON')
    storeWonNotices(
      tx,
      won.map(({ dispute, command: { assigns } }) => ({
        merchantId: dispute.merchantId,
        id: dispute.disputeId,
        notice: statingWon(assigns, dispute),
      })),
    )
    saveJournals(tx, decisions[0]!.command.timeZone, made.flatMap(journalsOf))
    saveEvents(
      tx,
      made.map(({ dispute, command: { ids, timeZone } }) => disputeEvent(dispute, ids.event, timeZone)),
    )
    const assigned = decisions.flatMap(({ dispute: { paymentId }, at, command: { assigns } }) =>
      assigns ? [{ ...assigns, paymentId, at }] : [],
    )
    if (assigned.length > 0) assignNotices(tx, assigned, assigned[0]!.at)
  },
})

const journalsOf = ({ command: { ids, outcome }, ...ending }: Closed) =>
  closedJournals({ ...ending, isOverdue: outcome === 'OVERDUE' }, ids.legs)

/** On the word of one person the money of a dispute is payable again, or the payer's for good. */
function decidedByHand(decision: Closed): Posting | undefined {
  const { dispute, isNew, isOverturned, command } = decision
  const { assigns } = command
  const { amountPaise, caseReference, disputeId, paymentId, status } = dispute
  const isWon = status === 'WON'
  const isReported = isWon
    ? statingWon(assigns, dispute)
    : assigns && lostCaseOf(assigns.body) === caseReference
  // The merchant accepts what is its own; what a deadline ends is on no person’s word.
  if (!isNew || isReported || (!isWon && personOf(command) === undefined)) return undefined
  return {
    kind: isWon ? 'dispute_won' : 'dispute_lost',
    amountPaise,
    reference: disputeId,
    facts: { disputeId, paymentId, ...(assigns && { noticeId: assigns.noticeId }) },
    reason:
      status === 'ACCEPTED'
        ? `the case ${caseReference} is accepted`
        : `the network decided the case ${caseReference} ${isWon ? 'for' : 'against'} the merchant`,
    journalId: required(journalsOf(decision).at(-1), 'an end has a journal').journalId,
    isUndo: isOverturned,
  }
}

async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  const won = commands.flatMap(({ merchantId, paymentId }) =>
    paymentId === undefined ? [] : [{ merchantId, paymentId }],
  )
  // They travel together; the server takes them in this order: payments before disputes before accounts before notices.
  const [ofPayments, ofDisputes, , lost, waiting] = await Promise.all([
    payments.lockRows<Refundable>(tx, LOCK_PAYMENT, won),
    disputes.lockRows<Dispute>(tx, LOCK, commands),
    lockAccounts(
      tx,
      commands.flatMap(({ merchantId }) => disputeAccounts(merchantId)),
    ),
    lostUnreported(tx, won),
    lockWaiting(
      tx,
      commands.map(({ assigns }) => assigns),
    ),
  ])
  return new ByTenant((tenantId) => ({
    payments: ofPayments.of(tenantId),
    disputes: ofDisputes.of(tenantId),
    lostUnreported: lost.of(tenantId),
    waiting,
  }))
}

function decide(state: State, command: Prepared, now: Date): Closed {
  const { payments, disputes, lostUnreported, waiting } = state
  const { assigns, disputeId, outcome } = command
  requireWaiting(waiting, assigns)
  const dispute = disputes.get(disputeId) ?? fail('dispute_not_found')
  const unchanged = { dispute, payment: undefined, isNew: false, isOverturned: false, at: now, command }
  if (outcome === 'OVERDUE') {
    if (dispute.status !== 'OPEN' || dispute.evidenceDueAt > now) return unchanged
    return { ...unchanged, dispute: { ...dispute, status: 'LOST', closedAt: now }, isNew: true }
  }
  const isOverturned = outcome === 'WON' && lostUnreported.has(disputeId)
  if (dispute.closedAt !== null && !isOverturned)
    return dispute.status === outcome ? unchanged : fail('dispute_closed')
  if (outcome !== 'WON')
    return { ...unchanged, dispute: { ...dispute, status: outcome, closedAt: now }, isNew: true }
  const payment = required(payments.get(dispute.paymentId), 'a dispute has its payment')
  return { ...unchanged, ...closed(dispute, payment, outcome, now), isNew: true, isOverturned }
}
