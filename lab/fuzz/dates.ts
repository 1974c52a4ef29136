import * as fc from 'fast-check'
import type { DateField, DateOutcome } from './date-field.ts'
import { type DatePlan, datePlan, instantOf, textOf } from './instants.ts'

export interface DateTry {
  readonly field: number
  readonly date: DatePlan
}

export const dateTry: fc.Arbitrary<DateTry> = fc.record({ field: fc.nat(1_000), date: datePlan })

/** The date as it is sent now. */
export const dateText = ({ date }: DateTry): string => textOf(date, Date.now())

/** What is wrong with the response to a date; undefined when nothing is. */
export function dateProblemOf(
  name: string,
  { takes, finds, lets }: DateField,
  text: string,
  outcome: DateOutcome,
): string | undefined {
  const { status, text: received, seen = [], found, times = [] } = outcome
  const nowMs = Date.now()
  const atMs = instantOf(text)
  const field = name.split(' ').at(-1)!
  if (status === 503 && /overloaded|temporarily_unavailable/.test(received)) return undefined
  // JSON and the query string have rules of their own for what no text holds; they say where it is.
  const isText = !/\p{Control}/u.test(text)
  if (status === 400 && isText && !new RegExp(`(?:^|["; .])${field} must `).test(received))
    return `400 does not name ${field} for ${text}`
  if (status !== 200 && status !== 400) return `status ${status} for ${text}`
  const taken = status === 200
  const expected = atMs === undefined ? false : takes(atMs, nowMs)
  if (expected !== undefined && taken !== expected)
    return `${JSON.stringify(text)} is ${taken ? 'accepted' : 'refused'}`
  if (!taken || atMs === undefined) return undefined
  for (const value of seen)
    if (typeof value !== 'string' || instantOf(value) !== atMs)
      return `${text} is returned as ${String(value)}`
  const passes = finds?.(atMs, nowMs)
  if (passes !== undefined && found !== passes)
    return `${text} ${found ? 'finds' : 'does not find'} the records`
  const unexpected = times.find((time) => lets?.(atMs, instantOf(time) ?? Number.NaN) === false)
  return unexpected === undefined ? undefined : `${text} lets ${unexpected} pass`
}
