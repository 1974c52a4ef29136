import { dayAfter } from '@svc/kernel/bank-days'

const YEARS_BACK = 10

const called = (daysAhead: number): string =>
  daysAhead === 0 ? 'today' : daysAhead === 1 ? 'tomorrow' : 'the latest day that is plausible'

/**
 * Why the day of a movement of money is refused wherever it is stated: a mistyped year would be on the books of that
 * year (decision R4). `undefined` for one of the last ten years up to `daysAhead` from today.
 */
export function implausibleDay(day: string, today: string, daysAhead: number): string | undefined {
  const latest = dayAfter(today, daysAhead)
  if (day > latest) return `${day} is after ${called(daysAhead)}, ${latest}`
  const earliest = `${Number(today.slice(0, 4)) - YEARS_BACK}${today.slice(4)}`
  return day < earliest ? `${day} is more than ${YEARS_BACK} years ago` : undefined
}
