import { fail } from '@svc/contract/errors'
import { ByTenant, idsByTenant } from '@svc/kernel/by-tenant'
import { paise } from '@svc/kernel/money'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import type { Writes } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import { accountId, lockAccounts } from '../../ledger/accounts.ts'
import { saveJournals } from '../../ledger/journals.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import type { FollowedNotice } from '../../rails/find-notice.ts'
import type { QuarantineReason, UnreadableNotice } from '../../rails/quarantine-reason.ts'
import { assignNotices, notNew, type RailNotice, storeNotices } from '../../rails/rail-notice.ts'
import { asStored, type StoredNotices, storedNotices } from '../../rails/stored-notices.ts'
import { lockWaiting, requireWaiting, type WaitingNotices } from '../../rails/waiting-notices.ts'
import { type Origin, requireHere } from '../../tenants/homes.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { payments } from '../payment.ts'
import { LOCK_PAYMENT, type Refundable, saveRefunding } from './create-refund.ts'
import {
  failedJournal,
  type LegIds,
  type MerchantRefund,
  merchantRefunds,
  paidJournal,
  refundAccounts,
  refundEvent,
} from './merchant-refund.ts'
import { statingFailed, storeFailedNotices } from './outcome-notice.ts'
import { REFUND_FAILED_BY_HAND } from './refund-failed-by-hand.ts'
import type { RefundOutcome } from './refund-notice.ts'
import {
  type Changed,
  changesPayment,
  contradiction,
  type Funds,
  givenBack,
  isMadeAfterFailure,
  isNotified,
  madeAfterFailure,
  refundExceptions,
} from './refunded-after-failure.ts'

interface CompleteRefundArgs extends Origin {
  readonly read: { readonly outcome: RefundOutcome } | UnreadableNotice
  /** The notice as the bank signed it; without one an operator reports what the bank says. */
  readonly notice?: Buffer
  /** The notice in quarantine that an operator follows. */
  readonly assigns?: FollowedNotice | undefined
  /** SHA-256 of the file of the bank that states it, in hexadecimal. */
  readonly file?: string | undefined
}

interface CompleteRefund extends PreparedCommand, CompleteRefundArgs {
  readonly outcome: RefundOutcome | undefined
  readonly paymentId: string | undefined
  readonly ids: { readonly legs: LegIds; readonly third: string; readonly event: string }
  readonly timeZone: string
}

interface State extends Funds {
  readonly payments: Map<string, Refundable>
  readonly refunds: Map<string, MerchantRefund>
  /** By the bank's reference, the refund that has it, of any merchant. */
  readonly taken: Map<string, string>
  readonly stored: StoredNotices
  readonly waiting: WaitingNotices
}

interface Outcome {
  /** Absent when the notice went to quarantine. */
  readonly refund: MerchantRefund | undefined
  readonly changed: Changed | undefined
  readonly kept: RailNotice | undefined
  readonly at: Date
  readonly command: CompleteRefund
}

interface DirectoryRow {
  readonly refund_id: string
  readonly merchant_id: string
  readonly payment_id: string
  readonly utr: string | null
}
const DIRECTORY = statement<DirectoryRow>(
  'directory_merchant_refunds',
  'select * from directory_merchant_refunds($1, $2)',
)
const LOCK = merchantRefunds.lock('to_complete')
const saveCompleted = merchantRefunds.updates(
  ['status', 'failureReason', 'utr', 'completedAt', 'failedAt', 'refundedLateAt'],
  'complete',
)

/**
 * Records that the bank has made a refund of a merchant, or could not (decision Q14); one that it has made after all is
 * refunded, or an exception. A repeat changes nothing; a notice that contradicts what is recorded goes to quarantine.
 */
export const completeRefund = moneyCommand<CompleteRefundArgs, CompleteRefund, State, Outcome>({
  name: 'completeRefund',
  isSigned: true,

  approval: REFUND_FAILED_BY_HAND,

  prepare({ config, database, newId }) {
    const found = new BatchedLookup<DirectoryRow>(
      (keys) => database.directory(DIRECTORY, [keys.map(({ id }) => id), []]),
      ({ refund_id }) => ({ tenantId: '', id: refund_id }),
    )
    return async (args: CompleteRefundArgs): Promise<CompleteRefund> => {
      const outcome = 'outcome' in args.read ? args.read.outcome : undefined
      const row = outcome && (await found.get('', outcome.refundId))
      if (outcome && !row) requireHere(args)
      return {
        ...args,
        outcome,
        tenantId: row?.merchant_id ?? PLATFORM_TENANT,
        otherTenantId: args.assigns?.noticeTenantId,
        paymentId: row?.payment_id,
        ids: { legs: [newId('trf'), newId('trf')], third: newId('trf'), event: newId('evt') },
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    }
  },

  lock,
  decide: (state, command, now) => asStored(state.stored, decide(state, command, now)),

  apply({ payments, refunds, taken, balances, waiting }, { changed, refund: known, command: { assigns } }) {
    if (assigns && known) waiting.delete(assigns.noticeId)
    if (!changed) return
    const { refund, payment, opens } = changed
    if (changesPayment(changed)) {
      const payable = accountId('payable', refund.merchantId)
      const taken = refund.amountPaise - refund.advancedPaise
      const moved = refund.status === 'FAILED' ? taken : -taken
      balances.set(payable, (balances.get(payable) ?? 0n) + moved)
    }
    for (const { accountId } of opens) balances.set(accountId, 0n)
    payments.set(payment.paymentId, payment)
    refunds.set(refund.refundId, refund)
    if (refund.utr !== null) taken.set(refund.utr, refund.refundId)
  },

  save(tx, decisions) {
    const done = decisions.flatMap(({ changed, command }) => (changed ? [{ ...changed, command }] : []))
    saveRefunding(
      tx,
      done.filter(changesPayment).map(({ payment }) => payment),
    )
    saveCompleted(
      tx,
      done.map(({ refund }) => refund),
    )
    saveOutcomes(tx, decisions[0]!.command.timeZone, done)
    saveEvents(
      tx,
      done
        .filter(isNotified)
        .map(({ refund, payment, command: { ids, timeZone } }) =>
          refundEvent(payment, refund, ids.event, timeZone),
        ),
    )
    storeNotices(
      tx,
      decisions.flatMap(({ kept }) => kept ?? []),
    )
    const assigned = decisions.flatMap(({ refund, at, command: { assigns } }) =>
      assigns && refund ? [{ ...assigns, paymentId: refund.paymentId, at }] : [],
    )
    if (assigned.length > 0) assignNotices(tx, assigned, assigned[0]!.at)
  },
})

type Done = Changed & { readonly command: CompleteRefund }

function saveOutcomes(tx: Writes, timeZone: string, done: readonly Done[]): void {
  const failed = done.filter((each) => each.refund.status === 'FAILED' && isNotified(each))
  storeFailedNotices(
    tx,
    failed.map(({ refund, command: { assigns, notice } }) => ({
      merchantId: refund.merchantId,
      id: refund.refundId,
      notice: notice ?? statingFailed(assigns, refund),
    })),
  )
  saveJournals(
    tx,
    timeZone,
    done.flatMap(({ journals }) => journals),
    done.flatMap(({ opens }) => opens),
  )
}

async function lock(tx: BatchTx, commands: readonly CompleteRefund[]): Promise<ByTenant<State>> {
  const known = commands.flatMap(({ tenantId: merchantId, paymentId, outcome }) =>
    outcome && paymentId !== undefined
      ? [{ merchantId, paymentId, refundId: outcome.refundId, outcome }]
      : [],
  )
  const utrs = commands.flatMap(({ outcome }) => outcome?.utr ?? [])
  const late = known.filter(({ outcome }) => outcome.failureReason === null)
  // They travel together; the server takes them in this order, payments before refunds before accounts before notices.
  const [ofPayments, ofRefunds, rows, balances, back, waiting, stored] = await Promise.all([
    payments.lockRows(tx, LOCK_PAYMENT, known),
    merchantRefunds.lockRows(tx, LOCK, known),
    tx.query(DIRECTORY, [[], utrs]),
    lockAccounts(
      tx,
      known.flatMap(({ merchantId }) => [...refundAccounts(merchantId), refundExceptions(merchantId)]),
    ),
    late.length > 0 ? givenBack(tx, late) : [],
    lockWaiting(
      tx,
      commands.map(({ assigns }) => assigns),
    ),
    storedNotices(tx, commands, 'refund'),
  ])
  const taken = new Map(rows.map(({ utr, refund_id }) => [utr!, refund_id]))
  const backOf = idsByTenant(
    back,
    ({ merchantId }) => merchantId,
    ({ refundId }) => refundId,
  )
  return new ByTenant(
    (tenantId): State => ({
      payments: ofPayments.of(tenantId),
      refunds: ofRefunds.of(tenantId),
      taken,
      givenBack: backOf.of(tenantId),
      balances: balances.of(tenantId),
      stored: stored.of(tenantId),
      waiting,
    }),
  )
}

function decide(state: State, command: CompleteRefund, now: Date): Outcome {
  const { outcome, read } = command
  requireWaiting(state.waiting, command.assigns)
  const nothing = { refund: undefined, changed: undefined, kept: undefined, at: now, command }
  if (!outcome) return { ...nothing, kept: toNotice(command, (read as UnreadableNotice).unreadable, now) }
  const refund = state.refunds.get(outcome.refundId)
  if (!refund) {
    if (!command.notice) fail('refund_not_found')
    return { ...nothing, kept: toNotice(command, 'unknown_refund', now) }
  }
  const field = contradiction(refund, outcome, state.taken)
  if (field !== undefined) {
    if (!command.notice) fail('refund_closed')
    return { ...nothing, kept: toNotice(command, 'contradicts_earlier_notice', now, field) }
  }
  const payment = state.payments.get(refund.paymentId)!
  if (isMadeAfterFailure(refund, outcome)) {
    const changed = madeAfterFailure(refund, payment, state, { ...command.ids, utr: outcome.utr, now })
    return { ...nothing, refund: changed.refund, changed }
  }
  if (refund.completedAt) return { ...nothing, refund }
  const isFailed = outcome.failureReason !== null
  const completed: Changed['refund'] = {
    ...refund,
    status: isFailed ? 'FAILED' : 'REFUNDED',
    failureReason: outcome.failureReason,
    utr: outcome.utr,
    completedAt: now,
  }
  const refundPaise = isFailed ? paise(payment.refundPaise - refund.amountPaise) : payment.refundPaise
  const journal = (isFailed ? failedJournal : paidJournal)(completed, command.ids.legs, now)
  return {
    ...nothing,
    refund: completed,
    changed: {
      refund: completed,
      payment: { ...payment, refundPaise },
      journals: [journal],
      opens: [],
    },
  }
}

/** A signed notice that is no outcome of a refund, for an operator to read. */
const toNotice = (command: CompleteRefund, reason: QuarantineReason, now: Date, field?: string): RailNotice =>
  notNew(
    {
      tenantId: command.tenantId,
      body: command.notice ?? fail('refund_not_found'),
      reason,
      field,
      ...('unreadable' in command.read && { field: command.read.field, detail: command.read.detail }),
      utr: 'outcome' in command.read ? command.read.outcome.utr : command.read.utr,
      paymentId: command.paymentId,
      flags: ['refund_notice'],
    },
    now,
  )
