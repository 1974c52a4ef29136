import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { Cursor, LIMIT_DEFAULT, LIMIT_MAX, readCursor } from '../platform/http/page.ts'

/** How a page is asked for in a query string. */
export const PageQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,3}$',
        'x-rule': `must be a whole number from 1 to ${LIMIT_MAX}`,
        description: `Records a page, ${LIMIT_DEFAULT} by default, ${LIMIT_MAX} at most`,
      }),
    ),
    after: Type.Optional(Cursor),
  },
  { additionalProperties: false },
)

export function readLimit(text: string | undefined): number {
  const limit = text === undefined ? LIMIT_DEFAULT : Number(text)
  if (limit >= 1 && limit <= LIMIT_MAX) return limit
  return fail('validation_failed', { description: `limit: must be a whole number from 1 to ${LIMIT_MAX}` })
}

/** The cursor of a list whose rows are numbered: the number of the last row that was shown. */
export function readNumberedCursor(cursor: string | undefined): number | undefined {
  const position = readCursor(cursor)
  if (position === undefined) return undefined
  if (/^\d{1,15}$/.test(position.id)) return Number(position.id)
  return fail('validation_failed', { description: 'after: must be the next of a former page' })
}
