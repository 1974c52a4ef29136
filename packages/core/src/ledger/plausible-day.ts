const YEARS_BACK = 10

/** A day so many days after another one, both `YYYY-MM-DD`. */
function daysAfter(day: string, days: number): string {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  return new Date(Date.UTC(year, month - 1, date + days)).toISOString().slice(0, 10)
}

/**
 * Why the day of a movement of money is refused wherever it is stated: a mistyped year would be on the books of that
 * year (decision R4). `undefined` for one of the last ten years up to `daysAhead` from today.
 */
export function implausibleDay(day: string, today: string, daysAhead: number): string | undefined {
  if (day > daysAfter(today, daysAhead))
    return `${day} is after ${daysAhead === 0 ? 'today' : 'tomorrow'}, ${daysAfter(today, daysAhead)}`
  const earliest = `${Number(today.slice(0, 4)) - YEARS_BACK}${today.slice(4)}`
  return day < earliest ? `${day} is more than ${YEARS_BACK} years ago` : undefined
}
