import { type IdPrefix, newId } from '@svc/contract/id-kinds'
import { ByTenant, byTenant, lastOfEach } from '@svc/kernel/by-tenant'
import { paise } from '@svc/kernel/money'
import { command } from '@svc/platform/command'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import { columns, statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import { type Account, account, accountId, lockAccounts } from '../ledger/accounts.ts'
import { saveJournals } from '../ledger/journals.ts'
import { closed, saveClosed } from './close-dispute.ts'
import { LOCK_PAYMENT, type Refundable } from './create-refund.ts'
import type { QuarantineReason } from './credit-notice.ts'
import {
  closedJournal,
  type Dispute,
  disputeAccounts,
  disputeEvent,
  disputes,
  type LegIds,
  openedJournal,
} from './dispute.ts'
import type { DisputeReport, ReadDisputeNotice } from './dispute-notice.ts'
import { type Payment, payments } from './payment.ts'
import { keepNotices, noticeDigest, noticeIdOf, type RailNotice } from './rail-notice.ts'

/** The tenant of notices that fit no merchant. */
const PLATFORM_TENANT = 'house'
/** How long a merchant has where the bank names no deadline (decision Q17). */
const EVIDENCE_MS = 7 * 86_400_000

interface ReceiveDisputeAsk {
  readonly read: ReadDisputeNotice
  /** The notice as the bank signed it. */
  readonly notice: Buffer
}

interface ReceiveDispute extends PreparedCommand, ReceiveDisputeAsk {
  readonly report: DisputeReport | undefined
  readonly merchantId: string
  readonly caseReference: string
  readonly paymentId: string | undefined
  readonly ids: { readonly dispute: string; readonly legs: LegIds; readonly event: string }
  readonly timeZone: string
}

interface State {
  readonly payments: Map<string, Refundable>
  readonly byCase: Map<string, Dispute>
  readonly balances: Map<string, bigint>
  /** By the reference of a case, the merchant who has it. */
  readonly merchantOfCase: Map<string, string>
}

interface Received {
  /** Absent when the notice went to quarantine. */
  readonly dispute: Dispute | undefined
  readonly changed: 'opened' | 'closed' | undefined
  readonly payment: Refundable | undefined
  readonly opens: readonly Account[]
  readonly kept: RailNotice | undefined
  readonly command: ReceiveDispute
}

interface DirectoryRow {
  readonly case_reference: string
  readonly merchant_id: string
  readonly payment_id: string
}
const OF_CASES = statement<DirectoryRow>('directory_disputes', 'select * from directory_disputes($1)')
const OF_UTRS = statement<Payment>(
  'directory_payments_disputed',
  `select ${payments.columns} from directory_payments($1) p`,
)
const BY_CASE = statement<Dispute>(
  'disputes_by_case',
  `select ${disputes.columns} from disputes d
   where (d.merchant_id, d.case_reference) in (select * from unnest($1::text[], $2::text[]))
   order by d.dispute_id for no key update`,
)
const saveDisputed = payments.updates(['disputePaise'], 'dispute')

/**
 * Records what the bank reports of a dispute (decision Q17): opens it against its payment, or ends it. A repeat changes
 * nothing; a notice that contradicts what is recorded goes to quarantine.
 */
export const receiveDispute = command({
  name: 'receiveDispute',

  prepare({ clock, config, database, random }) {
    const ofCase = new BatchedLookup<DirectoryRow>(
      (keys) => database.directory(OF_CASES, [keys.map(({ id }) => id)]),
      ({ case_reference }) => ({ tenantId: '', id: case_reference }),
    )
    const ofUtr = new BatchedLookup<Payment>(
      (keys) => database.directory(OF_UTRS, [keys.map(({ id }) => id)]),
      ({ utr }) => ({ tenantId: '', id: utr }),
    )
    return async (ask: ReceiveDisputeAsk): Promise<ReceiveDispute> => {
      const report = 'report' in ask.read ? ask.read.report : undefined
      const known = report && (await ofCase.get('', report.caseReference))
      const payment = !known && report?.utr ? await ofUtr.get('', report.utr) : undefined
      const merchantId = known?.merchant_id ?? payment?.merchantId ?? PLATFORM_TENANT
      const id = (prefix: IdPrefix) => newId(prefix, clock.now(), random)
      return {
        ...ask,
        report,
        tenantId: merchantId,
        merchantId,
        caseReference: report?.caseReference ?? '',
        paymentId: known?.payment_id ?? payment?.paymentId,
        ids: { dispute: id('dsp'), legs: [id('trf'), id('trf')], event: id('evt') },
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    }
  },

  lock,
  decide,

  apply({ payments, byCase, balances, merchantOfCase }, { dispute, changed, payment, command }) {
    if (!changed || !dispute || !payment) return
    const { merchantId } = command
    payments.set(payment.paymentId, payment)
    byCase.set(dispute.caseReference, dispute)
    merchantOfCase.set(dispute.caseReference, merchantId)
    const payable = dispute.amountPaise - dispute.advancedPaise
    const isBack = dispute.status === 'WON'
    const move = (kind: 'payable' | 'merchant_advances', amount: bigint) => {
      const id = accountId(kind, merchantId)
      balances.set(id, (balances.get(id) ?? 0n) + (isBack ? amount : -amount))
    }
    if (changed === 'closed' && !isBack) return
    move('payable', payable)
    if (dispute.advancedPaise > 0n) move('merchant_advances', dispute.advancedPaise)
    if (!balances.has(accountId('disputes', merchantId)))
      balances.set(accountId('disputes', merchantId), dispute.amountPaise)
  },

  save(tx, decisions) {
    const changed = decisions.flatMap(({ changed, dispute, ...rest }) =>
      changed && dispute ? [{ ...rest, changed, dispute }] : [],
    )
    const opened = changed.filter(({ changed }) => changed === 'opened')
    const ended = changed.filter(({ changed }) => changed === 'closed')
    saveDisputed(
      tx,
      lastOfEach(
        changed.flatMap(({ payment }) => payment ?? []),
        (payment) => payment.merchantId,
        (payment) => payment.paymentId,
      ),
    )
    saveJournals(
      tx,
      decisions[0]!.command.timeZone,
      changed.map(({ changed, dispute, command: { ids } }) =>
        changed === 'opened'
          ? openedJournal(dispute, ids.legs)
          : closedJournal(dispute, ids.legs, dispute.closedAt ?? dispute.createdAt),
      ),
      changed.flatMap(({ opens }) => opens),
    )
    disputes.insert(
      tx,
      opened.map(({ dispute, command: { notice } }) => ({ ...dispute, notice })),
    )
    saveClosed(
      tx,
      ended.map(({ dispute }) => dispute),
    )
    saveEvents(
      tx,
      changed.map(({ dispute, command: { ids, timeZone } }) => disputeEvent(dispute, ids.event, timeZone)),
    )
    keepNotices(
      tx,
      decisions.flatMap(({ kept }) => kept ?? []),
    )
  },
})

async function lock(tx: BatchTx, asked: readonly ReceiveDispute[]): Promise<ByTenant<State>> {
  const known = asked.flatMap(({ merchantId, paymentId, caseReference }) =>
    paymentId === undefined ? [] : [{ merchantId, paymentId, caseReference }],
  )
  // They travel together; the server takes them in this order: payments before disputes before accounts.
  const [ofPayments, found, cases, balances] = await Promise.all([
    payments.lockRows<Refundable>(tx, LOCK_PAYMENT, known),
    tx.query(
      BY_CASE,
      columns(
        known,
        ({ merchantId }) => merchantId,
        ({ caseReference }) => caseReference,
      ),
    ),
    tx.query(OF_CASES, [known.map(({ caseReference }) => caseReference)]),
    lockAccounts(
      tx,
      known.flatMap(({ merchantId }) => disputeAccounts(merchantId)),
    ),
  ])
  const byCase = byTenant(
    found,
    ({ merchantId }) => merchantId,
    ({ caseReference }) => caseReference,
    (dispute) => dispute,
  )
  const merchantOfCase = new Map(cases.map((row) => [row.case_reference, row.merchant_id]))
  return new ByTenant((tenantId) => ({
    payments: ofPayments.of(tenantId),
    byCase: byCase.of(tenantId),
    balances: balances.of(tenantId),
    merchantOfCase,
  }))
}

function decide(state: State, command: ReceiveDispute, now: Date): Received {
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
  if (amountPaise > payment.amountPaise - payment.refundPaise - payment.disputePaise)
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
const keptAs = (command: ReceiveDispute, reason: QuarantineReason, now: Date): RailNotice => ({
  tenantId: command.tenantId,
  noticeId: noticeIdOf(noticeDigest(command.notice)),
  body: command.notice,
  status: 'QUARANTINED',
  reason,
  utr: command.report?.utr ?? null,
  paymentId: command.paymentId ?? null,
  flags: ['dispute_notice'],
  receivedAt: now,
  assignedAt: null,
  assignedBy: null,
})
