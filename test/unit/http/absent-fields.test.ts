import { PORTAL_DOCUMENTED } from '@svc/console-api/portal/portal-operations'
import { removeAbsentFields } from '@svc/server/http/absent-fields'
import type { Operation } from '@svc/server/http/operation'
import { lazyValidators } from '@svc/server/http/validator'
import { OPERATIONS } from '@svc/server/operations'
import { type TSchema, Type } from 'typebox'
import { expect, test } from 'vitest'

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minLength?: number
}

const compile = lazyValidators()
const accepts = (schema: Schema, value: unknown): boolean =>
  (compile({ schema, method: 'POST', url: '/', httpPart: 'body' }) as (value: unknown) => boolean)(value)

/** Optional fields of a body, at any depth, that keep `""` as their value, as `operation field`. */
function keepEmpty(name: string, schema: Schema): string[] {
  const { items, properties = {}, required = [] } = schema
  const inItems = items ? keepEmpty(`${name}[]`, items) : []
  const inFields = Object.entries(properties).flatMap(([field, inner]) => {
    const value = { [field]: '' }
    removeAbsentFields(schema as TSchema, value)
    const keeps = !required.includes(field) && field in value && accepts(inner, '')
    return [...(keeps ? [`${name} ${field}`] : []), ...keepEmpty(name, inner)]
  })
  return [...inItems, ...inFields]
}

const OF_TENANTS = [...OPERATIONS, ...(PORTAL_DOCUMENTED as readonly Operation[])].filter(
  ({ body, acceptsAnyBody }) => body && !acceptsAnyBody,
)

test('an empty text is absent in every optional field of every operation, except where the reference says that it clears', () => {
  const kept = OF_TENANTS.flatMap(({ id, body }) => keepEmpty(id, body as Schema))
  expect([...new Set(kept)].sort()).toEqual([
    'createWebhookEndpoint description',
    'updateWebhookEndpoint description',
  ])
})

test('an empty text stays where it is required, and where the field has a form of its own', () => {
  const schema = Type.Object({
    a: Type.String(),
    b: Type.Optional(Type.String({ pattern: '^x*$' })),
    c: Type.Optional(Type.Union([Type.String(), Type.Number()])),
    d: Type.Optional(Type.String()),
    e: Type.Optional(Type.Unsafe({ type: ['string', 'null'] })),
    f: Type.Optional(Type.Array(Type.Object({ g: Type.Optional(Type.String()) }))),
  })
  const value = { a: '', b: '', c: '', d: '', e: '', f: [{ g: '' }, { g: 'x' }] }
  removeAbsentFields(schema, value)
  expect(value).toEqual({ a: '', b: '', c: '', f: [{}, { g: 'x' }] })
})
