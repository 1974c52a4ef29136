import { failField } from '@svc/contract/fail-fields'
import { type Paise, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { EARLIEST, isDay, LATEST, parseRfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'

const INSTANT_RULE = `must be an RFC 3339 date-time with a zone, such as 2027-01-31T18:30:00+05:30, from ${EARLIEST.toISOString()} to ${LATEST.toISOString()}`
const RUPEES_RULE = 'must be an amount in rupees with at most two decimals'

/** An instant in a request (decision Q7); `readInstant` reads it. */
export const Instant = (description: string) =>
  Type.String({ format: 'date-time', 'x-rule': INSTANT_RULE, description })

/** A text that people write and read, of so many characters at most. */
export const FreeText = (maxLength: number, description?: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '\\S',
    'x-rule': `must have 1 to ${maxLength} characters, not only spaces`,
    ...(description !== undefined && { description }),
  })

/** Why a person or program does something. */
export const Reason = (description: string) => FreeText(255, description)

/** An amount of money in a request (decision C8); `readRupees` reads it. */
export const Rupees = (options: { minimum: number; maximum?: number; description?: string }) =>
  Type.Number({ ...options, format: 'rupees', 'x-rule': RUPEES_RULE })

/** Formats by the parsers that operations use, so that the validator accepts exactly what they can read. */
export const FORMATS = {
  'date-time': (text: string) => parseRfc3339(text) !== undefined,
  rupees: {
    type: 'number' as const,
    validate: (amount: number) => valueIn(readAmount(amount)) !== undefined,
  },
}

/** Reads the instant in the field of this name; 400 when it is none. */
export function readInstant(name: string, text: string): Date
export function readInstant(name: string, text: string | undefined): Date | undefined
export function readInstant(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  return parseRfc3339(text) ?? failField(name, 'format', INSTANT_RULE)
}

/** Reads the calendar day in the field of this name; 400 when it is none. */
export function readDay(name: string, day: string, where: 'body' | 'query' = 'body'): string {
  return isDay(day) ? day : failField(name, 'format', 'must be a day, such as 2026-04-01', where)
}

/** Reads the amount in the field of this name; 400 when it is none. */
export function readRupees(name: string, amount: number): Paise
export function readRupees(name: string, amount: number | undefined): Paise | undefined
export function readRupees(name: string, amount: number | undefined): Paise | undefined {
  if (amount === undefined) return undefined
  return valueIn(readAmount(amount)) ?? failField(name, 'format', RUPEES_RULE)
}
