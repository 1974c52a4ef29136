import { VERSION } from '@svc/platform/package'
import { FreeText, Instant } from '@svc/server/http/fields'
import type { About } from '@svc/server/http/openapi'
import { PAGE_IN_QUERY } from '@svc/server/http/page'
import { type TProperties, type TSchema, Type } from 'typebox'

/** Path of the console's own API; the page itself is at `/console`. */
export const CONSOLE_API = '/console/api/v0'

/** What all operations of the console share: who may call, and how they fail. */
export const consoleOperation = { auth: 'operator', envelope: 'problem' } as const

/** What the OpenAPI document of the console's own API has besides its operations. */
export const CONSOLE_DOCUMENT: About = {
  title: 'svc console',
  version: VERSION,
  description: 'The operator console’s own API. Not for integrators: it changes with the page.',
  securitySchemes: () => ({
    operator: {
      type: 'apiKey',
      in: 'cookie',
      name: 'svc_console',
      description:
        'Session of an operator; `__Host-svc_console` over TLS. Every request that is not a GET must have the header `x-svc-console: 1` and come from the console’s own origin',
    },
    loopback: {
      type: 'apiKey',
      in: 'header',
      name: 'x-svc-console',
      description: 'From this machine, by a name of this machine',
    },
  }),
  tags: {},
}

export const record = <P extends TProperties>(title: string, fields: P) =>
  Type.Object(fields, { title, additionalProperties: false })
export const closed = <P extends TProperties>(fields: P) =>
  Type.Object(fields, { additionalProperties: false })
export const text = (description?: string) => Type.String(description === undefined ? {} : { description })
export const maybe = (description?: string) => Type.Optional(text(description))
/** What says who a person is: masked until it is revealed (decision O7). */
export const personal = (kind: 'name' | 'address' | 'mobile' | 'text') =>
  Type.Optional(Type.String({ 'x-personal': kind }))
/** RFC 3339 with milliseconds and the business zone's offset. */
export const instant = text('RFC 3339 with milliseconds and zone offset')
export const maybeInstant = Type.Optional(instant)
/** Money as text, so that nothing on the way rounds it. */
export const rupeesText = text('Rupees with two decimals, such as `2495.00`')

export const Name = FreeText(100)

/** A bank's reference, as an operator enters it: `enteredReference` reads it. */
export const referenceText = (description: string) =>
  Type.String({ minLength: 6, maxLength: 100, description })

/** Why an operator does something: what the books and the audit keep of it must say something to a reader. */
export const reasonText = (description = 'Why; it is in the audit') =>
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '[\\p{L}\\p{N}]',
    'x-rule': 'must have 1 to 255 characters, with a letter or a digit among them',
    description,
  })

export const Total = record('Total', {
  count: Type.Integer({ description: 'Rows that the filters find' }),
  exact: Type.Boolean({ description: 'False: about so many; say “about”' }),
})

/** A page of a list. */
export const listOf = (item: TSchema) =>
  closed({
    data: Type.Array(item),
    next: maybe('Cursor of the next page, for `after`; absent on the last one'),
    total: Total,
  })

const after = Type.Optional(Type.String({ maxLength: 400, description: 'The `next` of the page before' }))

/** Query string of a list: its own filters, the order, and where the page begins. */
export const listQuery = <P extends TProperties>(sorts: readonly string[], filters: P) =>
  closed({
    ...filters,
    sort: Type.Optional(Type.Enum([...sorts], { description: `\`${sorts[0]}\` by default` })),
    limit: PAGE_IN_QUERY.limit,
    after,
  })

export const exact = (description: string, maxLength = 64) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }))
export const oneOf = (values: readonly string[], description: string) =>
  Type.Optional(Type.Enum([...values], { description }))
export const since = (description: string) => Type.Optional(Instant(description))

export const idParam = <N extends string>(name: N) =>
  Type.Object({ [name]: Type.String({ maxLength: 128 }) } as Record<N, ReturnType<typeof Type.String>>)
