import { readBankDays } from '@svc/core/ledger/bank-holidays'
import {
  readOn,
  SCHEDULE_PERIODS,
  type SchedulePeriod,
  type ScheduleTerms,
  scheduleToWire,
  setPayoutSchedule,
  shownSchedules,
} from '@svc/core/payments/payouts/payout-schedule'
import { businessDayOf } from '@svc/core/payments/payouts/payout-statement'
import { type Paise, paise, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRows } from './print.ts'
import { readReason } from './read-reason.ts'
import { requireMerchant } from './require-merchant.ts'
import { UsageError } from './usage-error.ts'

const AFTER_MAX = 30

interface ScheduleOptions {
  readonly every?: SchedulePeriod
  readonly on?: string
  readonly after?: number
  readonly minimum?: Paise
  readonly reason?: string
  readonly json?: boolean
}

export function addPayoutScheduleCommand(payout: Command): void {
  payout
    .command('schedule <merchantId>')
    .description('set when payouts to a merchant are prepared by themselves; without options, show it')
    .addOption(new Option('--every <period>', 'the period that a payout pays').choices([...SCHEDULE_PERIODS]))
    .option('--on <day>', 'the day that ends a period: mon to sun of a week, 1 to 31 of a month')
    .option('--after <n>', 'bank days between the end of a period and its payout; by default 1', readAfter)
    .option('--minimum <rupees>', 'less than this waits for the next period; by default 0', readMinimum)
    .option('--reason <text>', 'why; it is in the audit', readReason)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Day 31 is the last day of every month. A change applies from the next period on. The payouts are PREPARED: people approve
them, but not who set the schedule or the bank account.

Example:
  svc admin payout schedule mer_… --every week --on mon --after 1 --minimum 100 --reason "agreed on 1 April"`,
    )
    .action(schedule)
}

function readAfter(text: string): number {
  if (!/^\d{1,2}$/.test(text) || Number(text) > AFTER_MAX)
    throw new InvalidArgumentError(`It must be a number of bank days from 0 to ${AFTER_MAX}.`)
  return Number(text)
}

function readMinimum(text: string): Paise {
  const minimum = valueIn(readAmount(text))
  if (minimum === undefined)
    throw new InvalidArgumentError('It must be rupees, 0 or more, with at most two decimals.')
  return minimum
}

const ON: Readonly<Record<SchedulePeriod, string>> = {
  day: 'leave --on away with --every day',
  week: '--on must be mon, tue, wed, thu, fri, sat or sun',
  month: '--on must be a day of the month from 1 to 31; 31 is its last day',
  never: 'leave --on away with --every never',
}

/** What the options say together; `undefined`: nothing is set. */
function termsOf({ every, on, after, minimum, reason }: ScheduleOptions) {
  if ([every, on, after, minimum, reason].every((given) => given === undefined)) return undefined
  if (every === undefined) throw new UsageError(`Give --every: ${SCHEDULE_PERIODS.join(', ')}.`)
  const onDay = readOn(every, on)
  const isNever = every === 'never'
  const problems = [
    ...(onDay === undefined ? [ON[every]] : []),
    ...(isNever && (after !== undefined || minimum !== undefined)
      ? ['leave --after and --minimum away with --every never']
      : []),
    ...(reason === undefined ? ['--reason is required'] : []),
  ]
  if (problems.length > 0 || onDay === undefined || reason === undefined)
    throw new UsageError(problems.join('\n'))
  const terms: ScheduleTerms = {
    every,
    onDay,
    afterDays: after ?? (isNever ? 0 : 1),
    minimumPaise: minimum ?? paise(0n),
  }
  return { ...terms, reason }
}

async function schedule(merchantId: string, { json = false, ...options }: ScheduleOptions): Promise<void> {
  const terms = termsOf(options)
  const rows = await withInstallation(async (context) => {
    const { BUSINESS_DAY_CUTOFF: cutOff, BUSINESS_TIME_ZONE: zone } = context.config
    const by = terms && { actor: await moneyActor(context) }
    const now = new Date(context.clock.of(merchantId).now())
    const today = businessDayOf(now, cutOff, zone)
    return context.database.operate(
      async (tx) => {
        await requireMerchant(tx, merchantId)
        if (terms) await setPayoutSchedule(tx, { merchantId, ...terms }, today)
        const bankDays = await readBankDays(tx)
        return (await shownSchedules(tx, merchantId, today)).map((each) => scheduleToWire(each, bankDays))
      },
      'read committed',
      by,
    )
  })
  printRows(rows.length === 0 ? [{ merchantId, every: 'never' }] : rows, json)
}
