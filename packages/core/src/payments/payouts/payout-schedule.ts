import { type BankDays, dayAfter, monthEnd, weekdayOf } from '@svc/kernel/bank-days'
import { formatRupees, type Paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import {
  day,
  instant,
  nullable,
  paise,
  type RowOf,
  smallint,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'

export const SCHEDULE_PERIODS = ['day', 'week', 'month', 'never'] as const
export type SchedulePeriod = (typeof SCHEDULE_PERIODS)[number]

/** When payouts to a merchant are prepared: from a day on, the latest that was entered for it (decision R30). */
const payoutSchedules = table('payout_schedules', 's', ['merchantId', 'validFrom', 'createdAt'], {
  merchantId: text,
  validFrom: day,
  createdAt: instant,
  every: textOf<SchedulePeriod>(),
  /** Of a week, 1 is Monday; of a month, its last day where it has fewer. */
  onDay: nullable(smallint),
  /** Bank days after the end of a period. */
  afterDays: smallint,
  minimumPaise: paise,
  reason: text,
  /** Who set it, as the audit names them, and may not approve what is prepared by it: the database fills it. */
  setBy: text,
})
export type PayoutSchedule = RowOf<typeof payoutSchedules>

/** What people choose of a schedule. */
export type ScheduleTerms = Pick<PayoutSchedule, 'every' | 'onDay' | 'afterDays' | 'minimumPaise'>

const NEVER: ScheduleTerms = { every: 'never', onDay: null, afterDays: 0, minimumPaise: 0n as Paise }

/** The first end of a period on a day or after it; `undefined`: no period ends. */
export function periodEnd({ every, onDay }: ScheduleTerms, from: string): string | undefined {
  if (every === 'never') return undefined
  if (every === 'day') return from
  if (every === 'week') return dayAfter(from, (onDay! - weekdayOf(from) + 7) % 7)
  const ofMonth = (last: string): string => {
    const on = `${last.slice(0, 8)}${String(onDay).padStart(2, '0')}`
    return on < last ? on : last
  }
  const end = ofMonth(monthEnd(from))
  return end >= from ? end : ofMonth(monthEnd(dayAfter(monthEnd(from))))
}

/** The bank day on which the payout of a period is prepared. */
export const preparedOn = (endsOn: string, { afterDays }: ScheduleTerms, bankDays: BankDays): string =>
  bankDays.after(endsOn, afterDays)

/** The schedule that a day is under. */
export function scheduleOn(schedules: readonly PayoutSchedule[], day: string): PayoutSchedule | undefined {
  const isLater = (one: PayoutSchedule, other: PayoutSchedule) =>
    one.validFrom === other.validFrom ? one.createdAt > other.createdAt : one.validFrom > other.validFrom
  return schedules
    .filter(({ validFrom }) => validFrom <= day)
    .reduce<PayoutSchedule | undefined>((last, one) => (last && isLater(last, one) ? last : one), undefined)
}

/** The end of the period after one that has ended; `undefined`: no other one is planned. */
export function nextPeriodEnd(schedules: readonly PayoutSchedule[], endsOn: string): string | undefined {
  const begins = dayAfter(endsOn)
  const starts = [begins, ...schedules.map(({ validFrom }) => validFrom).filter((day) => day > begins)]
  for (const start of starts) {
    const end = periodEnd(scheduleOn(schedules, start) ?? NEVER, start)
    if (end !== undefined) return end
  }
  return undefined
}

/** SQL: the schedule that the period `q` is under. */
export const SCHEDULE_OF_PERIOD = `select s.after_days, s.minimum_paise from payout_schedules s
     where s.merchant_id = q.merchant_id and s.valid_from <= q.ends_on order by s.valid_from desc, s.created_at desc limit 1`

const OF = statement<PayoutSchedule>(
  'payout_schedules_of',
  `select ${payoutSchedules.columns} from payout_schedules s where s.merchant_id = $1 order by s.valid_from, s.created_at`,
)
const OPEN = statement<{ endsOn: string }>(
  'payout_period_open',
  `select q.ends_on::text as "endsOn" from payout_periods q where q.merchant_id = $1 and q.outcome is null`,
)
// A schedule that is set and a payout that is prepared by one are one after the other.
const LOCK = statement(
  'payout_schedule_lock',
  `select pg_advisory_xact_lock(hashtextextended('payout_schedule ' || $1, 0))`,
)
const SET = statement(
  'payout_schedule_set',
  `insert into payout_schedules (merchant_id, valid_from, created_at, every, on_day, after_days, minimum_paise, reason, set_by)
   values ($1, $2, clock_timestamp(), $3, $4, $5, $6, $7, '')`,
)
const OPEN_PERIOD = statement(
  'payout_period_begin',
  'insert into payout_periods (merchant_id, ends_on) values ($1, $2)',
)

export interface MerchantSchedule {
  readonly schedules: readonly PayoutSchedule[]
  /** The period that runs or waits for its bank day. */
  readonly open: { readonly endsOn: string } | undefined
}

/** The schedules of a merchant and its open period, which stay so until the transaction ends. */
export async function lockSchedule(tx: Pick<Tx, 'query'>, merchantId: string): Promise<MerchantSchedule> {
  await tx.query(LOCK, [merchantId])
  const schedules = await tx.query(OF, [merchantId])
  const [open] = await tx.query(OPEN, [merchantId])
  return { schedules, open }
}

export interface NewSchedule extends ScheduleTerms {
  readonly merchantId: string
  readonly reason: string
}

const isSame = (one: ScheduleTerms, other: ScheduleTerms): boolean =>
  one.every === other.every &&
  one.onDay === other.onDay &&
  one.afterDays === other.afterDays &&
  one.minimumPaise === other.minimumPaise

/**
 * Sets when payouts to a merchant are prepared, from the period after the one that runs; without one, from `today` on, the
 * business day by the merchant's clock. What was in force last stays where it is the same.
 */
export async function setPayoutSchedule(
  tx: Tx,
  { merchantId, reason, ...terms }: NewSchedule,
  today: string,
): Promise<void> {
  const { schedules, open } = await lockSchedule(tx, merchantId)
  const last = schedules.at(-1)
  if (isSame(last ?? NEVER, terms)) return
  const from = open ? dayAfter(runningEnd(schedules, open.endsOn, today)) : today
  const { every, onDay, afterDays, minimumPaise } = terms
  await tx.query(SET, [merchantId, from, every, onDay, afterDays, minimumPaise, reason])
  const endsOn = open ? undefined : periodEnd(terms, from)
  if (endsOn !== undefined) await tx.query(OPEN_PERIOD, [merchantId, endsOn])
}

/** The end of the period that a day is in: the open one may be over and wait for its bank day. */
function runningEnd(schedules: readonly PayoutSchedule[], openEndsOn: string, today: string): string {
  let end = openEndsOn
  while (end < today) {
    const next = nextPeriodEnd(schedules, end)
    // Payouts are never prepared from then on: what is set begins at once.
    if (next === undefined) return dayAfter(today, -1)
    end = next
  }
  return end
}

/** A schedule that is in force or will be, with its first period that is not over. */
export interface ShownSchedule {
  readonly schedule: PayoutSchedule
  readonly endsOn: string | undefined
}

/** The schedule that the running period is under, and the one that follows it; none: payouts are never prepared. */
export async function shownSchedules(tx: Tx, merchantId: string, today: string): Promise<ShownSchedule[]> {
  const schedules = await tx.query(OF, [merchantId])
  const [open] = await tx.query(OPEN, [merchantId])
  const current = scheduleOn(schedules, open?.endsOn ?? today)
  const last = schedules.at(-1)
  const shown = current ? [{ schedule: current, endsOn: open?.endsOn }] : []
  if (!last || last === current) return shown
  return [...shown, { schedule: last, endsOn: periodEnd(last, last.validFrom) }]
}

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

/** As people write it: `mon`, `15`. */
const onToWire = ({ every, onDay }: ScheduleTerms): string | undefined =>
  onDay === null ? undefined : every === 'week' ? WEEKDAYS[onDay - 1] : String(onDay)

/** Reads `mon` or `15` as the period has it; `undefined`: it has no such day. */
export function readOn(every: SchedulePeriod, on: string | undefined): number | null | undefined {
  if (every === 'day' || every === 'never') return on === undefined ? null : undefined
  if (every === 'week') return WEEKDAYS.indexOf(on?.toLowerCase() ?? '') + 1 || undefined
  return on !== undefined && /^(?:[1-9]|[12][0-9]|3[01])$/.test(on) ? Number(on) : undefined
}

export const scheduleToWire = ({ schedule, endsOn }: ShownSchedule, bankDays: BankDays) => ({
  merchantId: schedule.merchantId,
  every: schedule.every,
  on: onToWire(schedule),
  after: schedule.afterDays,
  minimum: formatRupees(schedule.minimumPaise),
  from: schedule.validFrom,
  periodEnds: endsOn,
  preparedOn: endsOn && preparedOn(endsOn, schedule, bankDays),
  setBy: schedule.setBy,
  reason: schedule.reason,
})
