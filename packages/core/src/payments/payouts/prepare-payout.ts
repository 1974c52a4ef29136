import { fail } from '@svc/contract/errors'
import { ByTenant } from '@svc/kernel/by-tenant'
import { groupBy } from '@svc/kernel/group-by'
import { required } from '@svc/kernel/invariant'
import { type Paise, paise } from '@svc/kernel/money'
import { instantOfDay } from '@svc/kernel/time'
import { command } from '@svc/platform/command'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type Account, lockAccounts } from '../../ledger/accounts.ts'
import { saveJournals } from '../../ledger/journals.ts'
import { payOutOpeningBalances } from '../../ledger/opening-balance.ts'
import { type ChargeSettings, chargeSettings, readTerms, type Terms, unaccrued } from '../fees/charging.ts'
import {
  type Accrual,
  accrualOf,
  accrualsEntered,
  feeAccruals,
  NO_ACCRUAL,
  type Unaccrued,
} from '../fees/fee-accrual.ts'
import { type Due, type DueLine, dueLines, LINES_MAX } from './due-payout-lines.ts'
import {
  type Payout,
  type PayoutDetails,
  type PayoutLine,
  payoutAccounts,
  payoutLines,
  payouts,
  taxOf,
} from './payout.ts'
import { NOTHING } from './payout-fees.ts'
import { LEGS_MAX, preparedJournal } from './payout-journals.ts'
import { ADJUSTING, ADJUSTING_DOWN, ADVANCING } from './payout-line-kinds.ts'
import { type DecidedPeriod, savePeriods } from './payout-period.ts'
import { lockSchedule, type MerchantSchedule, nextPeriodEnd, scheduleOn } from './payout-schedule.ts'

export interface PreparePayout {
  readonly merchantId: string
  /** Pays up to the end of this day, `YYYY-MM-DD`. */
  readonly businessDay: string
  /** Who may not approve it. */
  readonly preparedBy: string
  /** Whether only payments count that the bank has paid; as the setting says by default. */
  readonly requiresSettlement?: boolean
  /** Pays up to now, though the day is not over: for the sandbox. */
  readonly isEarly?: boolean
  /** By the merchant's schedule: the day ends a period, which is decided with it. */
  readonly isScheduled?: boolean
}

interface Prepared extends PreparePayout, PreparedCommand {
  readonly requiresSettlement: boolean
  readonly until: Date
  readonly settings: ChargeSettings
  readonly payoutId: string
  readonly transferIds: readonly string[]
  /** What the ids of accruals are derived from. */
  readonly seed: string
}

interface State extends Terms {
  readonly due: readonly DueLine[]
  /** By payment, the charge of those whose fee is not entered yet. */
  readonly unaccrued: ReadonlyMap<string, Unaccrued>
  readonly entered: ReadonlyMap<string, number>
  /** The accounts that exist. */
  readonly accounts: ReadonlyMap<string, bigint>
  /** What it is prepared by, if by a schedule. */
  readonly plan: MerchantSchedule | undefined
}

/**
 * Why nothing is paid out: nothing is due, refunds and fees exceed payments, or the merchant has no bank account; by its
 * schedule also less than its minimum is due, or the period was decided before.
 */
export type NotPaidOut =
  | 'nothing_due'
  | 'carried_forward'
  | 'no_bank_account'
  | 'below_minimum'
  | 'already_decided'

export interface PreparedPayout {
  readonly payout: Payout | undefined
  readonly lines: readonly PayoutLine[]
  /** Fees of its payments that were not entered yet. */
  readonly accrual: Accrual
  readonly reason: NotPaidOut | undefined
  /** What would be paid out; zero or negative when it is carried forward. */
  readonly netPaise: Paise
  /** Whether more is due than one payout holds. */
  readonly hasMore: boolean
  readonly dueFrom: Date
  readonly opens: readonly Account[]
  /** By a schedule: what became of the period. */
  readonly period: DecidedPeriod | undefined
  readonly command: Prepared
}

const MOVE_POSITION = statement(
  'payout_positions_move',
  `insert into payout_positions (merchant_id, due_from)
   select * from unnest($1::text[], $2::timestamptz[]) order by 1
   on conflict (merchant_id) do update set due_from = excluded.due_from`,
)

/** A payment that was decided before the end of the day is committed by then, with room to spare. */
const SETTLES_MS = 60_000

/**
 * Prepares what is paid out to a merchant at the end of a business day (decision Q15): its payments,
 * corrections, opening balance and settled advances less refunds, fees and tax leave what is payable to it. A payment or refund is in one payout, so a repeat finds nothing due.
 */
export const preparePayout = command({
  name: 'preparePayout',
  batchMax: 1,

  prepare:
    ({ clock, config, newId }) =>
    (args: PreparePayout): Prepared => ({
      ...args,
      tenantId: args.merchantId,
      requiresSettlement: args.requiresSettlement ?? config.PAYOUT_REQUIRES_SETTLEMENT === 'true',
      until: args.isEarly
        ? new Date(clock.of(args.merchantId).now())
        : instantOfDay(args.businessDay, config.BUSINESS_DAY_CUTOFF, config.BUSINESS_TIME_ZONE),
      settings: chargeSettings(config),
      payoutId: newId('pyo'),
      transferIds: Array.from({ length: LEGS_MAX }, () => newId('trf')),
      seed: newId('trf'),
    }),

  lock,
  decide,

  save(tx, decisions) {
    savePeriods(
      tx,
      decisions.flatMap(({ period }) => period ?? []),
    )
    const made = decisions.flatMap(({ payout, ...rest }) => (payout ? [{ payout, ...rest }] : []))
    if (made.length === 0) return
    saveJournals(
      tx,
      made[0]!.command.settings.timeZone,
      made.flatMap(({ accrual, payout, command }) => [
        ...accrual.journals,
        preparedJournal(payout, command.transferIds),
      ]),
      made.flatMap(({ opens }) => opens),
    )
    feeAccruals.insert(
      tx,
      made.flatMap(({ accrual }) => accrual.rows),
    )
    payouts.insert(
      tx,
      made.map(({ payout }) => payout),
    )
    payoutLines.insert(
      tx,
      made.flatMap(({ lines }) => lines),
    )
    payOutOpeningBalances(
      tx,
      made.flatMap(({ lines }) => lines.filter(({ kind }) => kind === 'opening_balance')),
    )
    tx.write(MOVE_POSITION, [made.map(({ payout }) => payout.merchantId), made.map(({ dueFrom }) => dueFrom)])
  },
})

async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  const merchantIds = commands.map(({ merchantId }) => merchantId)
  const plans = new Map<string, MerchantSchedule>()
  for (const { isScheduled, merchantId } of commands)
    if (isScheduled) plans.set(merchantId, await lockSchedule(tx, merchantId))
  // In this order: who holds the accounts sees every payment, refund and payout that others have made.
  const [accounts, due, termsOf] = await Promise.all([
    lockAccounts(tx, merchantIds.flatMap(payoutAccounts)),
    dueLines(tx, commands),
    readTerms(tx, merchantIds),
  ])
  const settingsOf = new Map(commands.map(({ merchantId, settings }) => [merchantId, settings]))
  const charged = due.filter(isUncharged).map(({ merchantId, ...payment }) => ({
    merchantId,
    ...unaccrued(payment, termsOf(merchantId), settingsOf.get(merchantId)!),
  }))
  const entered = await accrualsEntered(tx, charged)
  const dueOf = groupBy(due, ({ merchantId }) => merchantId)
  const chargedOf = groupBy(charged, ({ merchantId }) => merchantId)
  return new ByTenant(
    (merchantId): State => ({
      due: dueOf.get(merchantId) ?? [],
      unaccrued: new Map((chargedOf.get(merchantId) ?? []).map((each) => [each.paymentId, each])),
      entered: entered.get(merchantId) ?? new Map(),
      ...termsOf(merchantId),
      accounts: accounts.of(merchantId),
      plan: plans.get(merchantId),
    }),
  )
}

/** Its fee is not entered yet. */
const isUncharged = ({ kind, accrued }: DueLine): boolean => kind === 'payment' && accrued === null

function decide(state: State, command: Prepared, now: Date): PreparedPayout {
  const { plan } = state
  const { businessDay, merchantId } = command
  if (!plan) return decidePayout(state, command, now)
  const schedule = scheduleOn(plan.schedules, businessDay)
  if (!schedule || plan.open?.endsOn !== businessDay)
    return { ...nothing(command), reason: 'already_decided' }
  const { minimumPaise, setBy } = schedule
  // Who set the schedule may not approve what is prepared by it (decision R30).
  const decided = decidePayout(state, { ...command, preparedBy: setBy }, now, minimumPaise)
  const nextEndsOn = nextPeriodEnd(plan.schedules, businessDay)
  return { ...decided, period: { merchantId, endsOn: businessDay, decided, nextEndsOn, at: now } }
}

const nothing = (command: Prepared) => ({
  payout: undefined,
  lines: [],
  accrual: NO_ACCRUAL,
  netPaise: paise(0n),
  hasMore: false,
  dueFrom: command.until,
  opens: [],
  period: undefined,
  command,
})

function decidePayout(state: State, command: Prepared, now: Date, minimumPaise = 0n): PreparedPayout {
  const { due, details, accounts } = state
  const { businessDay, isEarly = false, merchantId, requiresSettlement, until } = command
  if (!isEarly && now.getTime() < until.getTime() + SETTLES_MS) fail('business_day_not_over')
  const payable = due.filter(({ isSettled }) => isSettled || !requiresSettlement).filter(isOfTime(until))
  const none = nothing(command)
  if (payable.length === 0) return { ...none, reason: 'nothing_due' }
  const lines = linesOf(payable, state, command)
  const sums = sumsOf(lines)
  if (sums.amountPaise <= 0n) return { ...none, reason: 'carried_forward', netPaise: sums.amountPaise }
  if (sums.amountPaise < minimumPaise) return { ...none, reason: 'below_minimum', netPaise: sums.amountPaise }
  if (!details) return { ...none, reason: 'no_bank_account', netPaise: sums.amountPaise }
  const payout: Payout = {
    merchantId,
    payoutId: command.payoutId,
    businessDay,
    ...sums,
    accountHolder: details.accountHolder,
    accountNumber: details.accountNumber,
    ifsc: details.ifsc,
    accountSetBy: details.setBy,
    status: 'PREPARED',
    preparedBy: command.preparedBy,
    approvedBy: null,
    runId: null,
    utr: null,
    failureReason: null,
    firstAt: payable[0]!.occurredAt,
    createdAt: now,
    approvedAt: null,
    sentAt: null,
    completedAt: null,
    failedAt: null,
    paidLateAt: null,
    returnedAt: null,
    returnUtr: null,
  }
  const opens = payoutAccounts(merchantId).filter(({ accountId }) => !accounts.has(accountId))
  return {
    ...none,
    payout,
    lines,
    accrual: accrualOfLines(lines, state, command, now),
    reason: undefined,
    netPaise: sums.amountPaise,
    hasMore: due.filter(({ kind }) => kind === 'payment').length === LINES_MAX,
    dueFrom: dueFromOf(due, payable, until),
    opens: opens.filter(({ kind }) => kind !== 'merchant_advances' || payout.advancePaise !== 0n),
  }
}

const isOfTime =
  (until: Date) =>
  ({ kind, occurredAt }: DueLine): boolean =>
    kind !== 'payment' || occurredAt < until

/** What would be paid out to a merchant, and is not stored. */
export interface Reckoning extends ReturnType<typeof sumsOf> {
  readonly details: PayoutDetails | undefined
  /** Its payments that the bank has not paid yet, as its settlement files say. */
  readonly unsettledCount: number
  readonly unsettledPaise: Paise
}

/** What a payout up to an instant adds up to by now, with the fees of payments that have none entered yet. */
export async function reckonPayout(
  tx: Pick<Tx, 'query'>,
  due: Due,
  settings: ChargeSettings,
): Promise<Reckoning> {
  const { merchantId, until } = due
  const lines = (await dueLines(tx, [due])).filter(isOfTime(until))
  const terms = (await readTerms(tx, [merchantId]))(merchantId)
  const charges = lines.filter(isUncharged).map((line) => unaccrued(line, terms, settings))
  const charged = new Map(charges.map((each) => [each.paymentId, each]))
  const unsettled = lines.filter(({ isSettled, kind }) => kind === 'payment' && !isSettled)
  return {
    ...sumsOf(linesOf(lines, { unaccrued: charged }, { merchantId, payoutId: '' })),
    details: terms.details,
    unsettledCount: unsettled.length,
    unsettledPaise: totalOf(unsettled, (line) => line.amountPaise),
  }
}

/** Ten minutes before the end of the day: no payment takes that long from its decision to its commit. */
const OVERLAP_MS = 600_000

/** The earliest payment that stays due, else about the end of the day. */
function dueFromOf(due: readonly DueLine[], paid: readonly DueLine[], until: Date): Date {
  const taken = new Set(paid)
  const left = due.find((line) => line.kind === 'payment' && !taken.has(line))
  const last = due.findLast(({ kind }) => kind === 'payment')
  const isCut = due.filter(({ kind }) => kind === 'payment').length === LINES_MAX
  const end = isCut && last ? last.occurredAt : new Date(until.getTime() - OVERLAP_MS)
  return left && left.occurredAt < end ? left.occurredAt : end
}

function linesOf(
  due: readonly DueLine[],
  { unaccrued }: Pick<State, 'unaccrued'>,
  { merchantId, payoutId }: Pick<Prepared, 'merchantId' | 'payoutId'>,
): PayoutLine[] {
  return due.map(({ kind, objectId, occurredAt, amountPaise, advancePaise, accrued }) => {
    const charge =
      accrued ?? (kind === 'payment' ? required(unaccrued.get(objectId), 'it is charged') : NOTHING)
    const { feePaise, cgstPaise, sgstPaise, igstPaise } = charge
    return {
      merchantId,
      payoutId,
      objectId,
      kind,
      occurredAt,
      amountPaise,
      advancePaise,
      feePaise,
      cgstPaise,
      sgstPaise,
      igstPaise,
      released: false,
    }
  })
}

const accrualOfLines = (
  lines: readonly PayoutLine[],
  { unaccrued, entered }: State,
  { merchantId, seed }: Prepared,
  at: Date,
): Accrual =>
  accrualOf(
    lines.flatMap(({ objectId }) => unaccrued.get(objectId) ?? []),
    { merchantId, seed, at, entered },
  )

const totalOf = <T>(all: readonly T[], amount: (one: T) => bigint): Paise =>
  paise(all.reduce((sum, one) => sum + amount(one), 0n))

/** Disputes count as refunds; negative: those that failed or were won after a payout had deducted them. */
export function sumsOf(lines: readonly PayoutLine[]) {
  const payments = lines.filter(({ kind }) => kind === 'payment')
  const adjustments = lines.filter(({ kind }) => ADJUSTING.has(kind))
  const refunds = lines.filter(({ kind }) => kind !== 'payment' && !ADJUSTING.has(kind))
  const sign = ({ kind }: PayoutLine) => (kind === 'refund_failed' || kind === 'dispute_won' ? -1n : 1n)
  const direction = ({ kind }: PayoutLine) => (ADJUSTING_DOWN.has(kind) ? -1n : 1n)
  const repays = ({ kind }: PayoutLine) => (ADVANCING.has(kind) ? -1n : 1n)
  const sums = {
    paymentCount: payments.length,
    paymentPaise: totalOf(payments, (line) => line.amountPaise),
    adjustmentCount: adjustments.length,
    adjustmentPaise: totalOf(adjustments, (line) => direction(line) * line.amountPaise),
    refundCount: refunds.length,
    refundPaise: totalOf(refunds, (line) => sign(line) * line.amountPaise),
    advancePaise: totalOf(lines, (line) => repays(line) * line.advancePaise),
    feePaise: totalOf(lines, (line) => line.feePaise),
    cgstPaise: totalOf(lines, (line) => line.cgstPaise),
    sgstPaise: totalOf(lines, (line) => line.sgstPaise),
    igstPaise: totalOf(lines, (line) => line.igstPaise),
    settledFeesPaise: totalOf(
      lines.filter(({ kind }) => kind === 'fees_settled'),
      (line) => line.amountPaise,
    ),
  }
  const amountPaise = paise(
    sums.paymentPaise + sums.adjustmentPaise - sums.refundPaise - sums.feePaise - taxOf(sums),
  )
  return { ...sums, amountPaise }
}
