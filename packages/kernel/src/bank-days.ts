import { instantOfDay } from './time.ts'

const DAY_MS = 86_400_000
const SUNDAY = 0
const SATURDAY = 6

const dateOf = (day: string): Date => instantOfDay(day, 0, 'UTC')

/** The day so many days of the calendar after another one, both `YYYY-MM-DD`. */
export const dayAfter = (day: string, days = 1): string =>
  new Date(dateOf(day).getTime() + days * DAY_MS).toISOString().slice(0, 10)

/** 0 is Sunday. */
export const weekdayOf = (day: string): number => dateOf(day).getUTCDay()

/** The last day of the month that a day is in. */
export function monthEnd(day: string): string {
  const date = dateOf(day)
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).toISOString().slice(0, 10)
}

/** The second and the fourth Saturday of a month are no bank days in India (RBI, 28 August 2015). */
function isFreeSaturday(day: string): boolean {
  const week = Math.ceil(Number(day.slice(8)) / 7)
  return weekdayOf(day) === SATURDAY && (week === 2 || week === 4)
}

/**
 * The days on which banks are open: all but Sundays, second and fourth Saturdays, and holidays. Every deadline that counts
 * bank days counts them here.
 */
export class BankDays {
  readonly #holidays: ReadonlySet<string>

  /** `holidays`: `YYYY-MM-DD`. */
  constructor(holidays: Iterable<string>) {
    this.#holidays = new Set(holidays)
  }

  isOpen(day: string): boolean {
    return weekdayOf(day) !== SUNDAY && !isFreeSaturday(day) && !this.#holidays.has(day)
  }

  /** T+n: the n-th bank day after a day; with 0 that day, or the next bank day where banks are closed. */
  after(day: string, n: number): string {
    return this.#step(n === 0 ? dayAfter(day, -1) : day, Math.max(n, 1), 1)
  }

  /** The n-th bank day before a day; n is at least 1. */
  before(day: string, n: number): string {
    return this.#step(day, n, -1)
  }

  /** The earliest day of which T+n is not over before a day: what is of a day before this one is late. */
  firstInTime(today: string, n: number): string {
    return n === 0 ? dayAfter(this.before(today, 1)) : this.before(today, n)
  }

  #step(from: string, n: number, direction: 1 | -1): string {
    let day = from
    for (let left = n; left > 0; ) {
      day = dayAfter(day, direction)
      if (this.isOpen(day)) left--
    }
    return day
  }
}
