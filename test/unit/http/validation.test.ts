import { invalidFields } from '@svc/server/http/validation'
import { bodyCheck } from '@svc/server/http/validator'
import type { FastifySchemaValidationError } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { expect, test } from 'vitest'

const unknownField = (name: string): FastifySchemaValidationError => ({
  keyword: 'additionalProperties',
  instancePath: '',
  schemaPath: '',
  params: { additionalProperty: name },
  message: '',
})

test('20 invalid fields are reported, and further ones are not even read', () => {
  const errors = Array.from({ length: 20 }, (_, n) => unknownField(`k${n}`))
  expect(invalidFields(errors).description.split('; ')).toHaveLength(20)
  expect(invalidFields(errors).description).not.toContain('more')
  const unread = new Proxy(unknownField('last'), {
    get: (error, name) => {
      if (name !== 'keyword') throw new Error('an error behind the twentieth was read')
      return error.keyword
    },
  })
  const { description, errors: reported } = invalidFields([...errors, unread])
  expect(description.split('; ').slice(20)).toEqual(['and more'])
  expect(reported).toHaveLength(20)
})

const text = (options: Record<string, unknown>) => Type.String(options)
const CASES: readonly (readonly [schema: TSchema, value: unknown, rule: string, message: string])[] = [
  [
    text({ minLength: 1, pattern: '\\S', 'x-rule': 'must not be blank' }),
    '',
    'not_empty',
    'f must not be empty',
  ],
  [
    text({ minLength: 1, pattern: '\\S', 'x-rule': 'must not be blank' }),
    ' ',
    'format',
    'f must not be blank',
  ],
  [text({ pattern: '^\\d{10}$', 'x-rule': 'must be 10 digits' }), '', 'format', 'f must not be empty'],
  [text({ minLength: 8 }), 'x', 'min_length', 'f must have at least 8 characters'],
  [text({ maxLength: 1 }), 'xy', 'max_length', 'f must have at most 1 character'],
  [Type.Number({ minimum: 0.01 }), -1, 'minimum', 'f must be at least 0.01'],
  [Type.Number({ maximum: 5 }), 6, 'maximum', 'f must be at most 5'],
  [Type.Number(), '249.50', 'type', 'f must be a number, not a string'],
  [Type.Integer(), 1.5, 'type', 'f must be an integer, not a number with a fraction'],
  [Type.String(), null, 'type', 'f must be a string, not null'],
  [Type.Enum(['A', 'B']), 'C', 'enum', 'f must be one of A, B'],
  [Type.Array(Type.String(), { maxItems: 1 }), ['a', 'b'], 'max_items', 'f must have at most 1 entry'],
  [Type.Array(Type.String(), { minItems: 1 }), [], 'not_empty', 'f must not be empty'],
  [
    Type.Unsafe({ anyOf: [{ type: 'string' }, { type: 'number' }] }),
    true,
    'type',
    'f must be a string or a number, not a boolean',
  ],
  [
    Type.Unsafe({ type: 'object', propertyNames: { maxLength: 2 } }),
    { long: '' },
    'max_length',
    'the names in f must have at most 2 characters',
  ],
]

test.each(CASES)(
  'case %#: an invalid field has a pointer, a rule and a message that is true of it',
  (...given) => {
    const [schema, value, rule, message] = given
    const check = bodyCheck(Type.Object({ f: schema }))
    expect(check({ f: value })).toEqual({
      description: message,
      errors: [{ in: 'body', pointer: '/f', rule, message }],
    })
  },
)

test('missing, unknown and nested fields are found by their pointers, and names are repeated only in part', () => {
  const check = bodyCheck(
    Type.Object(
      { a: Type.Number(), list: Type.Array(Type.Object({ b: Type.String() })) },
      { additionalProperties: false },
    ),
  )
  expect(
    check({ list: [{ b: '' }, { b: 1 }], 'x/y': 1 })?.errors.map(({ pointer, rule }) => [pointer, rule]),
  ).toEqual([
    ['/a', 'required'],
    ['/x?y', 'unknown_field'],
    ['/list/1/b', 'type'],
  ])
})

test('a body that is not an object is reported as a whole', () => {
  expect(bodyCheck(Type.Object({ a: Type.Number() }))([])).toEqual({
    description: 'the body must be an object, not an array',
    errors: [{ in: 'body', pointer: '', rule: 'type', message: 'the body must be an object, not an array' }],
  })
})
