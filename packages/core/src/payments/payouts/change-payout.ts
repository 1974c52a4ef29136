import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { groupBy } from '@svc/kernel/group-by'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import { type Account, account, accountId, lockAccounts } from '../../ledger/accounts.ts'
import { BankEntries } from '../../ledger/bank-entries.ts'
import { type Journal, saveJournals } from '../../ledger/journals.ts'
import { moneyCommand } from '../../ledger/money-command.ts'
import { releaseOpeningBalances } from '../../ledger/opening-balance.ts'
import type { NoSecondPerson } from '../../ledger/second-person.ts'
import { type ChargeSettings, chargeSettings } from '../fees/charging.ts'
import { type Accrual, feeAccruals, NO_ACCRUAL } from '../fees/fee-accrual.ts'
import { paidAfterFailure, type Reserve, reservesOf, restoreLines } from '../refunds/paid-after-failure.ts'
import { type Payout, type PayoutStatus, payoutAccounts, payoutEvent, payouts } from './payout.ts'
import { approverProblem, requireSecondPerson } from './payout-approver.ts'
import {
  LEGS_MAX,
  type PostedLeg,
  paidJournal,
  paidLateJournal,
  releasedBy,
  releasedJournal,
  restoredJournal,
  returnedJournal,
} from './payout-journals.ts'
import { feesToRestore, postedLegs, type RestoreFees } from './released-payout.ts'
import {
  type FailedStep,
  failedByHand,
  failTaken,
  PAYOUT_FAILED_BY_HAND,
  returnedPayout,
} from './returned-payout.ts'

/** What becomes of a payout. */
export type PayoutStep =
  | { readonly to: 'APPROVED'; readonly by: string }
  | { readonly to: 'SENT'; readonly runId: string }
  | { readonly to: 'PAID'; readonly utr: string }
  | { readonly to: 'CANCELLED'; readonly reason: string }
  | FailedStep

export interface ChangePayout {
  readonly merchantId: string
  readonly payoutId: string
  readonly step: PayoutStep
}

interface Prepared extends ChangePayout, PreparedCommand {
  readonly transferIds: readonly string[]
  readonly eventId: string
  /** What the ids of accruals are derived from. */
  readonly seed: string
  readonly settings: ChargeSettings
}

interface State {
  readonly payouts: ReadonlyMap<string, Payout>
  /** By the bank's reference of a payment or its return, the payout that has it, of any merchant. */
  readonly taken: ReadonlyMap<string, string>
  readonly incoming: BankEntries
  /** By payout, what became of that which it was made of; of those that the bank has paid. */
  readonly reserves: ReadonlyMap<string, Reserve>
  /** By journal, what is taken back if the payout is released. */
  readonly posted: ReadonlyMap<string, readonly PostedLeg[]>
  readonly restoreFees: RestoreFees
  /** The merchant's accounts that exist. */
  readonly balances: ReadonlyMap<string, bigint>
  /** Why the caller is no second person for the payout that is approved. */
  readonly problem: NoSecondPerson | undefined
}

export interface ChangedPayout {
  readonly payout: Payout
  /** Whether it was so before. */
  readonly isRepeat: boolean
  /** Of one that is paid after all: what it is made of again. */
  readonly restored: Reserve | undefined
  /** Of one that is released: what is taken back. */
  readonly posted: readonly PostedLeg[]
  readonly accrual: Accrual
  readonly opens: readonly Account[]
  readonly command: Prepared
}

const LOCK = payouts.lock('to_change')
const saveChanged = payouts.updates(
  [
    'status',
    'approvedBy',
    'runId',
    'utr',
    'failureReason',
    'approvedAt',
    'sentAt',
    'completedAt',
    'failedAt',
    'paidLateAt',
    'returnedAt',
    'returnUtr',
  ],
  'change',
)
const TAKEN = statement<{ utr: string; payout_id: string }>(
  'directory_payouts',
  'select utr, payout_id from directory_payouts($1)',
)
const RELEASE = statement(
  'payout_lines_release',
  `update payout_lines l set released = true from unnest($1::text[], $2::text[]) as w (merchant_id, payout_id)
   where l.merchant_id = w.merchant_id and l.payout_id = w.payout_id`,
)
const MOVE_BACK = statement(
  'payout_positions_back',
  `update payout_positions o set due_from = least(o.due_from, w.first_at),
     accrued_to = case when o.accrued_to > w.first_at then w.first_at else o.accrued_to end
   from (select u.merchant_id, min(u.at) as first_at from unnest($1::text[], $2::timestamptz[]) as u (merchant_id, at)
     group by u.merchant_id) as w
   where o.merchant_id = w.merchant_id`,
)

/** From which statuses a payout comes to each; a failed one is paid, and a paid one fails, by rules of their own. */
const FROM: Readonly<Record<PayoutStep['to'], readonly PayoutStatus[]>> = {
  APPROVED: ['PREPARED'],
  SENT: ['APPROVED'],
  PAID: ['SENT'],
  FAILED: ['SENT'],
  CANCELLED: ['PREPARED', 'APPROVED'],
}

/**
 * Approves, sends, completes or cancels a payout (decision Q15). A repeat of the same step changes nothing. Who
 * prepared it or set its bank account cannot approve it. Once it failed, was cancelled or came back from the bank, its
 * money is payable again and in a later payout; one that the bank has paid after all is paid, or an exception.
 */
export const changePayout = moneyCommand({
  name: 'changePayout',

  approval: { ...PAYOUT_FAILED_BY_HAND, moves: (done) => failedByHand(done, journalsOf(done)) },
  batchMax: 1,

  prepare:
    ({ config, newId }) =>
    (args: ChangePayout): Prepared => ({
      ...args,
      tenantId: args.merchantId,
      transferIds: Array.from({ length: LEGS_MAX + 1 }, () => newId('trf')),
      eventId: newId('evt'),
      seed: newId('trf'),
      settings: chargeSettings(config),
    }),

  lock,
  decide,

  save(tx, decisions) {
    const changed = decisions.filter(({ isRepeat }) => !isRepeat)
    if (changed.length === 0) return
    const released = changed.filter(({ payout }) => isReleased(payout))
    const completed = changed.filter(({ payout }) => payout.status === 'PAID' || isFailed(payout))
    saveChanged(
      tx,
      changed.map(({ payout }) => payout),
    )
    if (released.length > 0) {
      const merchantIds = released.map(({ payout }) => payout.merchantId)
      tx.write(RELEASE, [merchantIds, released.map(({ payout }) => payout.payoutId)])
      tx.write(MOVE_BACK, [merchantIds, released.map(({ payout }) => payout.firstAt)])
    }
    releaseOpeningBalances(
      tx,
      released.map(({ payout }) => payout),
    )
    restoreLines(
      tx,
      changed.flatMap(({ restored }) => restored ?? []),
    )
    saveJournals(
      tx,
      changed[0]!.command.settings.timeZone,
      changed.flatMap(journalsOf),
      changed.flatMap(({ opens }) => opens),
    )
    feeAccruals.insert(
      tx,
      changed.flatMap(({ accrual }) => accrual.rows),
    )
    saveEvents(
      tx,
      completed.map(({ payout, command: { eventId, settings } }) =>
        payoutEvent(payout, eventId, settings.timeZone),
      ),
    )
  },
})

const isFailed = ({ status, paidLateAt }: Payout): boolean => status === 'FAILED' && paidLateAt === null
/** Whether what it is made of has just become due again. */
const isReleased = (payout: Payout): boolean => isFailed(payout) || payout.status === 'CANCELLED'

function journalsOf(changed: ChangedPayout): Journal[] {
  const { accrual, payout, posted, restored, command } = changed
  const { transferIds } = command
  const { completedAt, paidLateAt, returnedAt, status } = payout
  if (paidLateAt) return [paidLateJournal(payout, transferIds, paidLateAt)]
  if (returnedAt)
    return [
      returnedJournal(payout, transferIds.slice(LEGS_MAX), returnedAt),
      releasedJournal(payout, posted, transferIds, returnedAt),
    ]
  if (isReleased(payout)) return [releasedJournal(payout, posted, transferIds, completedAt!)]
  if (status !== 'PAID') return []
  const paid = paidJournal(payout, transferIds.slice(LEGS_MAX), completedAt!)
  return restored ? [...accrual.journals, restoredJournal(payout, transferIds, completedAt!), paid] : [paid]
}

/** The bank's reference that a step names. */
function namedBy(step: PayoutStep): string | undefined {
  if (step.to === 'PAID') return step.utr
  return step.to === 'FAILED' ? step.returnUtr : undefined
}

async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  const paid = commands.filter(({ step }) => step.to === 'PAID')
  const released = commands.filter(({ step }) => step.to === 'FAILED' || step.to === 'CANCELLED')
  const [first] = commands as [Prepared]
  const [known, balances, rows, incoming, reserves, posted, restoreFees] = await Promise.all([
    payouts.lockRows<Payout>(tx, LOCK, commands),
    lockAccounts(tx, [
      ...commands.flatMap(({ merchantId }) => payoutAccounts(merchantId)),
      ...paid.map(({ merchantId }) => account('payout_exceptions', merchantId)),
    ]),
    tx.query(TAKEN, [commands.flatMap(({ step }) => namedBy(step) ?? [])]),
    BankEntries.readIncoming(
      tx,
      commands.flatMap(({ step }) => (step.to === 'FAILED' ? (step.returnUtr ?? []) : [])),
    ),
    paid.length === 0 ? [] : reservesOf(tx, paid),
    postedLegs(tx, released),
    feesToRestore(tx, paid, first.settings),
  ])
  const problem = await approverProblem(
    tx,
    known,
    first,
    first.step.to === 'APPROVED' ? first.step.by : undefined,
  )
  const taken = new Map(rows.map(({ utr, payout_id }) => [utr, payout_id]))
  const byMerchant = groupBy(reserves, ({ merchantId }) => merchantId)
  return new ByTenant(
    (merchantId): State => ({
      payouts: known.of(merchantId),
      taken,
      incoming,
      reserves: new Map((byMerchant.get(merchantId) ?? []).map((each) => [each.payoutId, each])),
      posted,
      restoreFees,
      balances: balances.of(merchantId),
      problem,
    }),
  )
}

function decide(state: State, command: Prepared, now: Date): ChangedPayout {
  const { payoutId, step } = command
  const { payouts: known, taken } = state
  const payout = known.get(payoutId) ?? fail('payout_not_found')
  const made = {
    isRepeat: false,
    restored: undefined,
    posted: state.posted.get(releasedBy(payout)) ?? [],
    accrual: NO_ACCRUAL,
    opens: [],
    command,
  }
  if (isRepeat(payout, step)) return { ...made, payout, isRepeat: true }
  if (step.to === 'PAID' && payout.status === 'FAILED')
    return { ...made, ...late(state, payout, command, now, step.utr) }
  if (step.to === 'FAILED' && (payout.status === 'PAID' || payout.paidLateAt !== null))
    return { ...made, payout: returnedPayout(payout, { ...state, step, now }) }
  if (!FROM[step.to].includes(payout.status))
    fail('payout_state', { description: `The payout is ${payout.status}` })
  if (step.to === 'PAID' && taken.has(step.utr)) failTaken(step.utr)
  if (step.to === 'APPROVED') requireSecondPerson(payout, state.problem)
  return { ...made, payout: changed(payout, step, now) }
}

/** What the bank says of a payout that had failed. */
function late(state: State, payout: Payout, { seed }: Prepared, now: Date, utr: string) {
  const { balances, reserves, restoreFees, taken } = state
  if (payout.returnedAt !== null)
    fail('payout_state', {
      description: `The payout is FAILED: the bank paid it under ${payout.utr}, and its money came back under ${payout.returnUtr}`,
    })
  if (taken.has(utr)) failTaken(utr)
  const { merchantId, payoutId } = payout
  const reserve = reserves.get(payoutId)
  const payablePaise = balances.get(accountId('payable', merchantId)) ?? 0n
  const paid = paidAfterFailure(payout, { reserve, payablePaise, utr, now })
  const exceptions = account('payout_exceptions', merchantId)
  const isRestored = paid.status === 'PAID'
  return {
    payout: paid,
    restored: isRestored ? reserve : undefined,
    accrual: isRestored ? restoreFees(payout, seed, now) : NO_ACCRUAL,
    opens: paid.status === 'PAID' || balances.has(exceptions.accountId) ? [] : [exceptions],
  }
}

function isRepeat({ paidLateAt, returnUtr, runId, status, utr }: Payout, step: PayoutStep): boolean {
  const wasPaid = paidLateAt !== null || returnUtr !== null
  switch (step.to) {
    case 'SENT':
      return status === 'SENT' && runId === step.runId
    case 'PAID':
      return (status === 'PAID' || wasPaid) && utr === step.utr
    case 'FAILED':
      return status === 'FAILED' && (!wasPaid || (step.returnUtr ?? returnUtr) === returnUtr)
    default:
      return status === step.to
  }
}

function changed(payout: Payout, step: PayoutStep, now: Date): Payout {
  switch (step.to) {
    case 'APPROVED':
      return { ...payout, status: 'APPROVED', approvedBy: step.by, approvedAt: now }
    case 'SENT':
      return { ...payout, status: 'SENT', runId: step.runId, sentAt: now }
    case 'PAID':
      return { ...payout, status: 'PAID', utr: step.utr, completedAt: now }
    default:
      return { ...payout, status: step.to, failureReason: step.reason, completedAt: now }
  }
}
