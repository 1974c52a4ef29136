import { type TSchema, Type } from 'typebox'
import { fail } from '../../errors.ts'

/** Where a page ends: the last row's time and id. Callers pass it back as opaque text. */
export interface Position {
  readonly at: Date
  readonly id: string
}

export const LIMIT_DEFAULT = 50
export const LIMIT_MAX = 500

/** Cursor of the next page, as `next` in the answer and `after` in the request. */
export const Cursor = Type.String({ maxLength: 200, description: 'The `next` of the page before' })

export const PageOf = (item: TSchema) =>
  Type.Object({
    recordsCount: Type.Integer({ description: 'Records in this answer' }),
    data: Type.Array(item),
    next: Type.Optional(Type.String({ description: 'Cursor of the next page; absent on the last one' })),
  })

const encode = ({ at, id }: Position): string => Buffer.from(`${at.getTime()} ${id}`).toString('base64url')

export function readCursor(cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined
  const match = /^(\d{1,15}) ([a-z0-9_]{1,64})$/.exec(Buffer.from(cursor, 'base64url').toString())
  return match
    ? { at: new Date(Number(match[1])), id: match[2]! }
    : fail('validation_failed', { description: 'after: must be the next of a former page' })
}

/** Rows of which one more than `limit` was asked for, to the page that callers see. */
export function page<T>(
  rows: readonly T[],
  limit: number,
  positionOf: (row: T) => Position,
  wire: (row: T) => unknown,
) {
  const shown = rows.slice(0, limit)
  const more = rows.length > limit ? { next: encode(positionOf(shown.at(-1)!)) } : {}
  return { recordsCount: shown.length, data: shown.map(wire), ...more }
}
