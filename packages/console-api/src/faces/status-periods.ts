import { FAILURES } from '@svc/contract/errors'
import { formatRupees } from '@svc/kernel/money'
import { calendarDay, instantOfDay } from '@svc/kernel/time'

export const PERIODS = ['today', 'yesterday', 'lastWeek'] as const
export type PeriodName = (typeof PERIODS)[number]

export interface Period {
  readonly name: PeriodName
  readonly from: Date
  /** The minute that has begun last is excluded: no period ends within a minute. */
  readonly to: Date
}

const DAYS_BACK: Readonly<Record<PeriodName, number>> = { today: 0, yesterday: 1, lastWeek: 7 }
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** Today until now, and the day before and the same day of last week until the same time of day, in the business zone. */
export function periodsUntil(now: Date, timeZone: string): Period[] {
  const today = calendarDay(now, timeZone)
  const elapsedMs =
    Math.floor((now.getTime() - instantOfDay(today, 0, timeZone).getTime()) / MINUTE_MS) * MINUTE_MS
  return PERIODS.map((name) => {
    const noon = instantOfDay(today, 12 * 60, 'UTC').getTime()
    const day = calendarDay(new Date(noon - DAYS_BACK[name] * DAY_MS), 'UTC')
    const from = instantOfDay(day, 0, timeZone)
    return { name, from, to: new Date(from.getTime() + elapsedMs) }
  })
}

/** What was counted in a period: `request`, `failure <error code>`, `event <type>`. */
export interface Sum {
  readonly what: string
  readonly count: bigint
  /** Paise, of events that carry money. */
  readonly amount: bigint
}

const FAILURE = 'failure '
const statusOf = (error: string): number =>
  Object.hasOwn(FAILURES, error) ? FAILURES[error as keyof typeof FAILURES].status : 500

/** Callers' mistakes and the service's own failures are counted apart, by the status of the error code. */
export function figuresOf(sums: readonly Sum[]) {
  const of = (what: string) => sums.find((sum) => sum.what === what)
  const failures = sums.filter(({ what }) => what.startsWith(FAILURE))
  const failed = (isOurs: boolean) =>
    failures
      .filter(({ what }) => statusOf(what.slice(FAILURE.length)) >= 500 === isOurs)
      .reduce((total, { count }) => total + Number(count), 0)
  return {
    requests: Number(of('request')?.count ?? 0n),
    clientErrors: failed(false),
    serverErrors: failed(true),
    payments: Number(of('event qr_code.credited')?.count ?? 0n),
    paymentsAmount: formatRupees(of('event qr_code.credited')?.amount ?? 0n),
    cardsIssued: Number(of('event card.created')?.count ?? 0n),
  }
}

const ERRORS_SHOWN = 15

/** Error codes of all periods, those first that are most frequent today. */
export function errorTrends(sums: Readonly<Record<PeriodName, readonly Sum[]>>) {
  const counts = new Map<string, Record<PeriodName, number>>()
  for (const period of PERIODS)
    for (const { what, count } of sums[period].filter((sum) => sum.what.startsWith(FAILURE))) {
      const error = what.slice(FAILURE.length)
      const known = counts.get(error) ?? { today: 0, yesterday: 0, lastWeek: 0 }
      counts.set(error, { ...known, [period]: Number(count) })
    }
  return [...counts]
    .map(([error, each]) => ({ error, status: statusOf(error), ...each }))
    .sort((a, b) => b.today - a.today || b.yesterday - a.yesterday || b.lastWeek - a.lastWeek)
    .slice(0, ERRORS_SHOWN)
}
