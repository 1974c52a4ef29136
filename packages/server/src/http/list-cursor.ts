import { isDay, parseRfc3339 } from '@svc/kernel/time'
import { refuseCursor } from './page.ts'

/** One of the values by which a list is ordered. */
export interface Key {
  readonly sql: string
  readonly type: 'text' | 'timestamptz' | 'bigint' | 'date'
}

/** The key's value as text, for the cursor: instants to the microsecond, as PostgreSQL keeps them. */
export const keyText = (type: Key['type'], value: string): string =>
  type === 'text'
    ? value
    : type === 'bigint' || type === 'date'
      ? `${value}::text`
      : `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

/** Whether PostgreSQL can read the text as a value of the type: cursors come from the caller. */
const READABLE: Record<Key['type'], (text: string) => boolean> = {
  text: (text) => !text.includes('\0'),
  bigint: (text) => /^\d{1,18}$/.test(text),
  date: isDay,
  timestamptz: (text) => /\.\d{6}Z$/.test(text) && parseRfc3339(text) !== undefined,
}

export const encodeKeys = (values: readonly string[]): string =>
  Buffer.from(JSON.stringify(values)).toString('base64url')

/** The values after which the page begins, one for each key. */
export function readKeys(cursor: string | undefined, keys: readonly Key[]): readonly string[] | undefined {
  if (cursor === undefined) return undefined
  let values: unknown
  try {
    values = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return refuseCursor()
  }
  const fits = (value: unknown, i: number): boolean =>
    typeof value === 'string' && keys[i] !== undefined && READABLE[keys[i].type](value)
  return Array.isArray(values) && values.length === keys.length && values.every(fits)
    ? (values as string[])
    : refuseCursor()
}
