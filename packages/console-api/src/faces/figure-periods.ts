import type { Config } from '@svc/contract/config'
import { businessDay, businessDayOf } from '@svc/core/payments/payouts/payout-statement'
import { dayAfter } from '@svc/kernel/bank-days'
import { calendarDay, instantOfDay } from '@svc/kernel/time'

export const BUCKETS = ['hour', 'day', 'month'] as const
export type Bucket = (typeof BUCKETS)[number]

/** The period a range is compared with: as many days or months earlier. */
const EARLIER = {
  week: { days: 7 },
  month: { months: 1 },
  quarter: { months: 3 },
  year: { months: 12 },
} as const
export type Comparison = keyof typeof EARLIER
export const COMPARISONS = Object.keys(EARLIER) as readonly Comparison[]

export interface Range {
  readonly from: Date
  /** Excluded. */
  readonly to: Date
  /** Until when it is known: `to`, or the present. */
  readonly until: Date
}

/** The business zone, and where in it a day ends. */
type Days = Pick<Config, 'BUSINESS_DAY_CUTOFF' | 'BUSINESS_TIME_ZONE'>

const ofDay = (day: string, { BUSINESS_DAY_CUTOFF, BUSINESS_TIME_ZONE }: Days) =>
  businessDay(day, BUSINESS_DAY_CUTOFF, BUSINESS_TIME_ZONE)
const dayOf = (at: Date, { BUSINESS_DAY_CUTOFF, BUSINESS_TIME_ZONE }: Days) =>
  businessDayOf(at, BUSINESS_DAY_CUTOFF, BUSINESS_TIME_ZONE)

/** The first day of a month, so many months later. */
function monthAfter(day: string, months: number): string {
  const [year = 0, month = 0] = day.split('-').map(Number)
  return new Date(Date.UTC(year, month - 1 + months, 1)).toISOString().slice(0, 10)
}

/** The same day of another month, or its last one. */
function dayOfMonthAfter(day: string, months: number): string {
  const first = monthAfter(day, months)
  const same = `${first.slice(0, 8)}${day.slice(8)}`
  const last = dayAfter(monthAfter(first, 1), -1)
  return same < last ? same : last
}

/** The same time of an earlier business day. */
function earlier(at: Date, by: Comparison, days: Days): Date {
  const day = dayOf(at, days)
  const back = EARLIER[by]
  const before = 'days' in back ? dayAfter(day, -back.days) : dayOfMonthAfter(day, -back.months)
  return new Date(ofDay(before, days).from.getTime() + at.getTime() - ofDay(day, days).from.getTime())
}

export const earlierRange = ({ from, to, until }: Range, by: Comparison, days: Days): Range => ({
  from: earlier(from, by, days),
  to: earlier(to, by, days),
  until: earlier(until, by, days),
})

export interface Slot {
  /** `2026-11-27T14:00`, `2026-11-27` or `2026-11`, in the business zone. */
  readonly name: string
  readonly at: Date
}

const HOUR_MINUTES = 60
const HOURS = Array.from({ length: 24 }, (_, hour) => hour)

function* hoursSince(from: Date, timeZone: string): Generator<Slot> {
  for (let day = calendarDay(from, timeZone); ; day = dayAfter(day, 1))
    for (const hour of HOURS)
      yield {
        name: `${day}T${String(hour).padStart(2, '0')}:00`,
        at: instantOfDay(day, hour * HOUR_MINUTES, timeZone),
      }
}

function* daysSince(from: Date, days: Days): Generator<Slot> {
  for (let day = dayOf(from, days); ; day = dayAfter(day, 1)) yield { name: day, at: ofDay(day, days).from }
}

function* monthsSince(from: Date, days: Days): Generator<Slot> {
  for (let day = monthAfter(dayOf(from, days), 0); ; day = monthAfter(day, 1))
    yield { name: day.slice(0, 7), at: ofDay(day, days).from }
}

/** The buckets that a range touches, oldest first; `undefined`: more than so many. */
export function slotsOf({ from, to }: Range, bucket: Bucket, days: Days, most: number): Slot[] | undefined {
  const all = {
    hour: () => hoursSince(from, days.BUSINESS_TIME_ZONE),
    day: () => daysSince(from, days),
    month: () => monthsSince(from, days),
  }[bucket]()
  const slots: Slot[] = []
  for (const slot of all) {
    if (slot.at >= to) return slots
    // The first ones of its day may be over before the range begins.
    if (slots.length === 1 && slot.at <= from) slots.pop()
    if (slots.push(slot) > most) return undefined
  }
  return slots
}
