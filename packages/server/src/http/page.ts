import { failField } from '@svc/contract/fail-fields'
import { type RequestPart } from '@svc/contract/field-errors'
import { type TSchema, Type } from 'typebox'

export const LIMIT_DEFAULT = 50
export const LIMIT_MAX = 500

const LIMIT_RULE = `must be a whole number from 1 to ${LIMIT_MAX}`
const LIMIT_PATTERN = '^(?:[1-9][0-9]?|[1-4][0-9]{2}|500)$'
const LIMIT_TEXT = new RegExp(LIMIT_PATTERN)
const AFTER = 'The `next` of the previous page'
const AFTER_RULE = 'must be the `next` of a previous page'

/** Cursor of the next page, as `next` in the response and `after` in the request. */
export const Cursor = Type.String({ maxLength: 200, description: AFTER })

/** How a page is requested in a query string, where every value is text. Nothing is clamped (decision Q8). */
export const PAGE_IN_QUERY = {
  limit: Type.Optional(
    Type.String({
      pattern: LIMIT_PATTERN,
      'x-rule': LIMIT_RULE,
      'x-documented': { type: 'integer', minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
      description: `Records a page, ${LIMIT_DEFAULT} by default, ${LIMIT_MAX} at most`,
    }),
  ),
  after: Type.Optional(Cursor),
}

export const limitInBody = (maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum, description }))

/** How a page is requested in a JSON body. */
export const PAGE_IN_BODY = {
  limit: limitInBody(LIMIT_MAX, `Records a page, ${LIMIT_DEFAULT} by default`),
  after: Type.Optional(Cursor),
}

export const PageOf = (item: TSchema) =>
  Type.Object({
    recordsCount: Type.Integer({ description: 'Records in this response' }),
    data: Type.Array(item),
    next: Type.Optional(Type.String({ description: 'Cursor of the next page; absent on the last one' })),
  })

interface PageRequest {
  readonly limit?: string | number | undefined
  readonly after?: string | undefined
}

/** The size of a page, from a query string or a JSON body. */
export function readLimit(requested: PageRequest['limit']): number {
  if (requested === undefined) return LIMIT_DEFAULT
  return LIMIT_TEXT.test(String(requested))
    ? Number(requested)
    : failField('limit', 'format', LIMIT_RULE, typeof requested === 'string' ? 'query' : 'body')
}

export const refuseCursor = (part: RequestPart = 'query'): never =>
  failField('after', 'format', AFTER_RULE, part)
