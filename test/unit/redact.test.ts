import { redact } from '@svc/console-api/records/redact'
import { EVENT_RECORDS } from '@svc/server/event-records'
import type { TSchema } from 'typebox'
import { expect, test } from 'vitest'

interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

const CANARY = 'Canary Kumari'
const EMAIL = 'canary.kumari@example.com'
const MOBILE = '9123456780'

/** A record of this schema with a person's data in every text. */
function filled(schema: Schema, name: string): unknown {
  if (schema.enum) return schema.enum[0]
  if (schema.properties)
    return Object.fromEntries(Object.entries(schema.properties).map(([key, of]) => [key, filled(of, key)]))
  if (schema.items) return [filled(schema.items, name)]
  if (schema.type === 'object') return { [CANARY]: CANARY }
  if (schema.type === 'boolean') return true
  if (schema.type === 'number' || schema.type === 'integer') return 912_345_678_012
  return /email/i.test(name) ? EMAIL : /mobile/i.test(name) ? MOBILE : CANARY
}

/** Where in a record a person's data is left, by field. */
function leaks(value: unknown, name = ''): string[] {
  if (value !== null && typeof value === 'object')
    return Object.entries(value).flatMap(([key, of]) => [
      ...(/canary/i.test(key) ? [key] : []),
      ...leaks(of, Array.isArray(value) ? name : key),
    ])
  return /canary|91234567/i.test(String(value)) && typeof value === 'string' ? [name] : []
}

/** Identifiers, dates and references that the request log shows too: nothing about a person (decision O4). */
const SHOWN = new Set(
  [
    'createdOn',
    'event',
    'expiresOn',
    'expiry',
    'loadAmount',
    'maskedNumber',
    'modifiedOn',
    'occurredOn',
  ].concat(['referenceNumber', 'refundedOn', 'requestId', 'revokedOn', 'utr', 'validFrom', 'validTo']),
)

/** A record of each shape that the schema allows, with the schema of all of them. */
const RECORDS = Object.entries(EVENT_RECORDS).flatMap(([type, schema]) =>
  ((schema as Schema).anyOf ?? [schema as Schema]).map((shape) => [type, schema, filled(shape, '')] as const),
)

test.each(RECORDS)('a masked %s event names no person in any field', (_, schema, record) => {
  expect(leaks(record).length).toBeGreaterThan(0)
  const left = leaks(redact(schema as TSchema, record))
  expect(left.filter((name) => !SHOWN.has(name))).toEqual([])
})

test.each(RECORDS)('a masked %s event still has all of its fields', (_, schema, record) => {
  expect(Object.keys(redact(schema as TSchema, record) as object)).toEqual(Object.keys(record as object))
})
