import { dayAfter } from '@svc/kernel/bank-days'
import { formatRupees } from '@svc/kernel/money'
import { Type } from 'typebox'
import { record, rupeesText, text } from '../console-schema.ts'

/** How many business days a chart has, the last one still running. */
export const DAYS = 30

export const DaySum = record('DaySum', {
  day: text('Business day, `YYYY-MM-DD`'),
  count: Type.Integer(),
  amount: rupeesText,
})

export interface DayRow {
  readonly day: string
  readonly count: number
  readonly paise: bigint
}

/** The business day of an instant in SQL: what is after the cut-off belongs to the next one. Its values: `$2`, minutes from the cut-off to midnight, and `$3`, the zone. */
export const daySql = (at: string): string =>
  `((${at} + $2::integer * interval '1 minute') at time zone $3)::date`

/** The days up to `today` without gaps, oldest first. */
export function daysUpTo(today: string, rows: readonly DayRow[]) {
  const found = new Map(rows.map((row) => [row.day, row]))
  return Array.from({ length: DAYS }, (_, index) => {
    const day = dayAfter(today, index - DAYS + 1)
    const { count = 0, paise = 0n } = found.get(day) ?? {}
    return { day, count, amount: formatRupees(paise) }
  })
}
