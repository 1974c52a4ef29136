import { fail } from '@svc/contract/errors'
import type { TaxRate } from '@svc/contract/payout-settings'
import { ByTenant } from '@svc/kernel/by-tenant'
import { groupBy } from '@svc/kernel/group-by'
import { type Paise, paise } from '@svc/kernel/money'
import { instantOfDay } from '@svc/kernel/time'
import { command } from '@svc/platform/command'
import type { BatchTx, PreparedCommand } from '@svc/platform/db/batch'
import { statement } from '@svc/platform/db/statement'
import { type Account, lockAccounts } from '../ledger/accounts.ts'
import { saveJournals } from '../ledger/journals.ts'
import { payOutOpeningBalances } from '../ledger/opening-balance.ts'
import { type DueLine, dueLines, LINES_MAX } from './due-payout-lines.ts'
import {
  type MerchantFee,
  merchantFees,
  type Payout,
  type PayoutDetails,
  type PayoutLine,
  payoutAccounts,
  payoutDetails,
  payoutLines,
  payouts,
  taxOf,
} from './payout.ts'
import { type Charging, chargeOf } from './payout-fees.ts'
import { LEGS_MAX, preparedJournal } from './payout-journals.ts'
import { ADJUSTING, ADJUSTING_DOWN, ADVANCING } from './payout-line-kinds.ts'
import { businessDayOf } from './payout-statement.ts'

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
}

interface Prepared extends PreparePayout, PreparedCommand {
  readonly requiresSettlement: boolean
  readonly until: Date
  readonly platformState: string
  readonly taxRates: readonly TaxRate[]
  readonly dayEndsAt: number
  readonly timeZone: string
  readonly payoutId: string
  readonly transferIds: readonly string[]
}

interface State {
  readonly due: readonly DueLine[]
  readonly fees: readonly MerchantFee[]
  readonly details: PayoutDetails | undefined
  /** The accounts that exist. */
  readonly accounts: ReadonlyMap<string, bigint>
}

/** Why nothing is paid out: nothing is due, refunds and fees exceed payments, or the merchant has no bank account. */
export type NotPaidOut = 'nothing_due' | 'carried_forward' | 'no_bank_account'

export interface PreparedPayout {
  readonly payout: Payout | undefined
  readonly lines: readonly PayoutLine[]
  readonly reason: NotPaidOut | undefined
  /** What would be paid out; zero or negative when it is carried forward. */
  readonly netPaise: Paise
  /** Whether more is due than one payout holds. */
  readonly hasMore: boolean
  readonly dueFrom: Date
  readonly opens: readonly Account[]
  readonly command: Prepared
}

const FEES = statement<MerchantFee>(
  'merchant_fees_of',
  `select ${merchantFees.columns} from merchant_fees f where f.merchant_id = any ($1)`,
)
const DETAILS = statement<PayoutDetails>(
  'payout_details_of',
  `select ${payoutDetails.columns} from payout_details d where d.merchant_id = any ($1)`,
)
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
      platformState: config.GST_STATE,
      taxRates: config.GST_RATES,
      dayEndsAt: config.BUSINESS_DAY_CUTOFF,
      timeZone: config.BUSINESS_TIME_ZONE,
      payoutId: newId('pyo'),
      transferIds: Array.from({ length: LEGS_MAX }, () => newId('trf')),
    }),

  lock,
  decide,

  save(tx, decisions) {
    const made = decisions.flatMap(({ payout, ...rest }) => (payout ? [{ payout, ...rest }] : []))
    if (made.length === 0) return
    saveJournals(
      tx,
      made[0]!.command.timeZone,
      made.map(({ payout, command }) => preparedJournal(payout, command.transferIds)),
      made.flatMap(({ opens }) => opens),
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
  // In this order: who holds the accounts sees every payment, refund and payout that others have made.
  const [accounts, due, fees, details] = await Promise.all([
    lockAccounts(tx, merchantIds.flatMap(payoutAccounts)),
    dueLines(tx, commands),
    tx.query(FEES, [merchantIds]),
    tx.query(DETAILS, [merchantIds]),
  ])
  const dueOf = groupBy(due, ({ merchantId }) => merchantId)
  const feesOf = groupBy(fees, ({ merchantId }) => merchantId)
  const detailsOf = new Map(details.map((each) => [each.merchantId, each]))
  return new ByTenant(
    (merchantId): State => ({
      due: dueOf.get(merchantId) ?? [],
      fees: feesOf.get(merchantId) ?? [],
      details: detailsOf.get(merchantId),
      accounts: accounts.of(merchantId),
    }),
  )
}

function decide({ due, fees, details, accounts }: State, command: Prepared, now: Date): PreparedPayout {
  const { businessDay, isEarly = false, merchantId, requiresSettlement, until } = command
  if (!isEarly && now.getTime() < until.getTime() + SETTLES_MS) fail('business_day_not_over')
  const payable = due
    .filter(({ isSettled }) => isSettled || !requiresSettlement)
    .filter(({ kind, occurredAt }) => kind !== 'payment' || occurredAt < until)
  const nothing = {
    payout: undefined,
    lines: [],
    netPaise: paise(0n),
    hasMore: false,
    dueFrom: until,
    opens: [],
    command,
  }
  if (payable.length === 0) return { ...nothing, reason: 'nothing_due' }
  const isWithinState = (details?.gstState ?? command.platformState) === command.platformState
  const lines = linesOf(payable, { fees, taxRates: command.taxRates, isWithinState }, command)
  const sums = sumsOf(lines)
  if (sums.amountPaise <= 0n) return { ...nothing, reason: 'carried_forward', netPaise: sums.amountPaise }
  if (!details) return { ...nothing, reason: 'no_bank_account', netPaise: sums.amountPaise }
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
    ...nothing,
    payout,
    lines,
    reason: undefined,
    netPaise: sums.amountPaise,
    hasMore: due.filter(({ kind }) => kind === 'payment').length === LINES_MAX,
    dueFrom: dueFromOf(due, payable, until),
    opens: opens.filter(({ kind }) => kind !== 'merchant_advances' || payout.advancePaise !== 0n),
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

function linesOf(due: readonly DueLine[], charging: Charging, command: Prepared): PayoutLine[] {
  const { merchantId, payoutId, timeZone, dayEndsAt } = command
  return due.map(({ kind, objectId, occurredAt, amountPaise, advancePaise }) => ({
    merchantId,
    payoutId,
    objectId,
    kind,
    occurredAt,
    amountPaise,
    advancePaise,
    ...chargeOf(
      {
        amountPaise: kind === 'payment' ? amountPaise : paise(0n),
        acceptedAt: occurredAt,
        day: businessDayOf(occurredAt, dayEndsAt, timeZone),
      },
      { ...charging, fees: kind === 'payment' ? charging.fees : [] },
    ),
    released: false,
  }))
}

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
  }
  const amountPaise = paise(
    sums.paymentPaise + sums.adjustmentPaise - sums.refundPaise - sums.feePaise - taxOf(sums),
  )
  return { ...sums, amountPaise }
}
