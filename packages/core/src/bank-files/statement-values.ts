import { canonicalReference } from '@svc/kernel/bank-reference'
import { type Paise, paise, readAmount, readCurrency } from '@svc/kernel/money'
import { readDay } from '@svc/kernel/read-time'
import { type Reading, visible } from '@svc/kernel/reading'
import { implausibleDay } from '../ledger/plausible-day.ts'
import { FileRejected } from './file-source.ts'
import type { ReadingDays } from './line-reader.ts'
import { NARRATION_CHARS_MAX, REFERENCE_CHARS_MAX } from './statement-items.ts'

/** What stands where a bank has no reference. */
const NO_REFERENCE = /^(?:NONREF|NOTPROVIDED|NOREF|NA|NIL|NONE)?$/

/** Why a value of a statement cannot be read, with its line; one such line makes the whole unreadable. */
export const unreadableAt = (line: number, what: string, why: string): FileRejected =>
  new FileRejected(`Line ${line}: ${what} ${why}`)

function valueAt<T>(line: number, what: string, reading: Reading<T>): T {
  if ('unreadable' in reading) throw unreadableAt(line, what, reading.unreadable)
  return reading.value
}

/** Rupees without a sign, which the bank states as a word. */
export function amountAt(line: number, text: string, isDebit: boolean): Paise {
  const amount = valueAt(line, 'the amount', readAmount(text))
  return isDebit ? paise(0n - amount) : amount
}

/** The amount of a line, which moves something. */
export function movedAt(line: number, text: string, isDebit: boolean): Paise {
  const amount = amountAt(line, text, isDebit)
  if (amount === 0n) throw unreadableAt(line, 'the amount', 'is zero')
  return amount
}

export const requireRupees = (line: number, currency: string | undefined): void => {
  valueAt(line, 'the currency', readCurrency(currency))
}

export function dayAt(line: number, text: string, { zone, today }: ReadingDays): string {
  const day = valueAt(line, 'the day', readDay(text, zone))
  const why = implausibleDay(day, today, 1)
  if (why !== undefined) throw unreadableAt(line, 'the day', `is refused: ${why}`)
  return day
}

/** What a bank wrote as a reference; empty for what says that there is none. */
export function referenceIn(text: string | undefined): string {
  const stated = oneLine(text ?? '')
  return NO_REFERENCE.test(canonicalReference(stated)) ? '' : stated.slice(0, REFERENCE_CHARS_MAX)
}

/** Each reference once, those that say nothing left out: the first is that of the line, the others belong to its narration. */
export const referencesIn = (texts: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(texts.map(referenceIn).filter((text) => text !== '')),
]

export const narrationIn = (text: string | undefined): string =>
  oneLine(text ?? '').slice(0, NARRATION_CHARS_MAX)

const oneLine = (text: string): string => visible(text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' '))
