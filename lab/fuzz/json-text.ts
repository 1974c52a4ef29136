import * as fc from 'fast-check'

/**
 * JSON text as latin1, one character a byte, so that a body may hold what no JSON.stringify writes: duplicate keys,
 * numbers of any spelling, invalid UTF-8. `@name:n@` inside stands for an id that the run knows by then.
 */
export type JsonText = string

export const bytesOf = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
const json = (value: unknown): JsonText => bytesOf(JSON.stringify(value))

/** Text that programs trip over. */
export const TEXTS: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\u001b[31m',
  '\r\nset-cookie: a=b',
  '\ufeff',
  '\ufeffx',
  '\u202egnp.exe',
  'e\u0301'.repeat(30),
  '😀',
  '👩‍👩‍👧‍👦',
  '\u{10ffff}',
  '\ud83d',
  '\udc00x',
  '\u2028',
  '\u2029',
  '\uffff',
  '٣',
  'İ',
  'ﬀ',
  'ß',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'length',
  'then',
  'null',
  'undefined',
  'true',
  'NaN',
  '-1',
  '0',
  '1e400',
  '0x10',
  '１２',
  '2^53',
  '9'.repeat(400),
  "'",
  '"',
  '\\',
  "';--",
  "' or '1'='1",
  '$1',
  ':name',
  '%s%n%x',
  '%00',
  '%',
  '%zz',
  '${7*7}',
  '{{7*7}}',
  '<svg onload=a>',
  '../../etc/passwd',
  '..\\..\\',
  '/',
  '//',
  '.',
  '..',
  'file:///etc/passwd',
  'a\tb',
  'a,b',
  'a;b',
  '*',
  '?',
  '#',
  '&',
  '+',
  '=',
  'x'.repeat(1_000),
  'ख'.repeat(1_000),
  '2024-02-30T00:00:00Z',
  '9999-12-31T23:59:60+14:00',
  '-271821-04-20T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '2026-11-21T14:00:00.123456789123Z',
  '275760-09-13T00:00:00Z',
]

const NUMBERS: readonly JsonText[] = [
  '0',
  '-0',
  '-1',
  '1',
  '0.1',
  '0.001',
  '-0.01',
  '1e400',
  '-1e400',
  '1e-400',
  '1E+2',
  '1e2',
  '9007199254740993',
  '-9007199254740993',
  '2147483648',
  '4294967296',
  '9223372036854775808',
  '99999999999.99',
  '100000.01',
  '1'.repeat(400),
  `0.${'0'.repeat(300)}1`,
  '01',
  '+1',
  '.5',
  '5.',
  'NaN',
  'Infinity',
  '0x10',
  '1_000',
  '1.5',
  '3650',
  '1e15',
  '0e99999',
  '1e',
]

const DEEP: readonly JsonText[] = [19, 20, 21, 1_000, 30_000].flatMap((depth) => [
  '['.repeat(depth) + ']'.repeat(depth),
  `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
])

const ODD: readonly JsonText[] = [
  'null',
  'true',
  'false',
  '[]',
  '{}',
  '[null]',
  '[[]]',
  'undefined',
  '""',
  '"\\u0000"',
  '"\\ud83d"',
  '"\\udc00\\ud83d"',
  '"\xff"',
  '"\xc0\xaf"',
  '"\xed\xa0\x80"',
  '"\xf4\x90\x80\x80"',
  '"\x00"',
  '"\n"',
  '"\\x41"',
  "'a'",
  '/*a*/1',
  '"a',
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '{"toString":1,"valueOf":null,"toJSON":"x"}',
  '{"length":1000000000}',
  '{"a":1,"a":2}',
  '{"":1}',
  '[1,]',
  '{,}',
  '{"a"}',
  '\xef\xbb\xbf1',
]

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TEXTS) },
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.string({ maxLength: 60 }),
  fc.integer({ min: 1, max: 9_000 }).map((length) => 'a'.repeat(length)),
)

export const hostileJson: fc.Arbitrary<JsonText> = fc.oneof(
  { weight: 4, arbitrary: hostileText.map(json) },
  { weight: 3, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 3, arbitrary: fc.constantFrom(...ODD) },
  fc.constantFrom(...DEEP),
  fc.double().map(String),
  fc.json({ maxDepth: 4 }).map(bytesOf),
)

export interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly anyOf?: readonly Schema[]
  readonly contentSchema?: Schema
}

/** What an id is called where it is answered, by the name under which it is sent. */
const KNOWN_AS: Readonly<Record<string, string>> = {
  after: 'next',
  tr: 'referenceNumber',
  customerId: 'userId',
}
const IDS =
  'qrCodeId svcCardId jobId coinConfigId allocationId endpointId eventId event utr requestId userId companyId cardAccountId referenceNumber after'
const ID_NAMES = new Set(IDS.split(' '))

/** An id that exists at that time, mostly the caller's own; else text of its own making. */
export const idNamed = (name: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(10_000), fc.constantFrom('own', 'own', 'own', 'own', 'victim', 'other'))
    .map(([n, whose]) => `@${KNOWN_AS[name] ?? name}:${n}:${whose}@`)

const date = fc.date({ min: new Date('2020-01-01'), max: new Date('2031-01-01'), noInvalidDate: true })

/** A value that the schema allows, as text. */
export function valid(schema: Schema, name = ''): fc.Arbitrary<JsonText> {
  const { anyOf = [schema.type ?? []].flat().map((type) => ({ ...schema, type })) } = schema
  if (anyOf.length > 1) return fc.oneof(...anyOf.map((one) => valid(one, name)))
  if (schema.const !== undefined) return fc.constant(json(schema.const))
  if (schema.enum) return fc.constantFrom(...schema.enum.map(json))
  switch (schema.type) {
    case 'boolean':
      return fc.constantFrom('true', 'false')
    case 'integer':
      return fc.integer(bounds(schema)).map(String)
    case 'number':
      return fc.integer({ min: 1, max: 20_000_00 }).map((paise) => String(paise / 100))
    case 'array':
      return fc
        .array(valid(schema.items ?? {}), { maxLength: Math.min(schema.maxItems ?? 3, 5) })
        .map((items) => `[${[...new Set(items)].join(',')}]`)
    case 'object':
      return fieldsOf(schema).map(objectOf)
    case 'string':
      return validText(schema, name).map(json)
    default:
      return fc.json({ maxDepth: 2 }).map(bytesOf)
  }
}

const bounds = ({ minimum = 0, maximum = 1_000_000 }: Schema) => ({
  min: minimum,
  max: Math.min(maximum, minimum + 2_000),
})

function validText(schema: Schema, name: string): fc.Arbitrary<string> {
  const { pattern, format, minLength = 0, maxLength = 60 } = schema
  const own = pattern
    ? fc.stringMatching(new RegExp(pattern))
    : format === 'date-time'
      ? date.map((at) => at.toISOString())
      : fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 40) })
  // Whatever is delivered must stay on this machine.
  if (name === 'url')
    return fc.constantFrom('http://127.0.0.1:59999/', 'http://[::1]:59999/a?b=c', 'http://127.0.0.1:59999')
  if (name === 'delayMs') return fc.constant('0')
  return ID_NAMES.has(name) ? fc.oneof({ weight: 6, arbitrary: idNamed(name) }, own) : own
}

export type Field = readonly [key: JsonText, value: JsonText]
export const objectOf = (fields: readonly Field[]): JsonText =>
  `{${fields.map(([key, value]) => `${key}:${value}`).join(',')}}`

/** The fields of a valid object: the required ones, and some of the others. */
export function fieldsOf(schema: Schema): fc.Arbitrary<Field[]> {
  const { properties = {}, required = [], additionalProperties } = schema
  const listed = Object.entries(properties).map(([name, inner]) =>
    fc
      .tuple(fc.boolean(), inner.contentSchema ? fc.constant('""') : valid(inner, name))
      .map(([there, value]): Field[] => (there || required.includes(name) ? [[json(name), value]] : [])),
  )
  const more =
    typeof additionalProperties === 'object'
      ? fc
          .dictionary(fc.stringMatching(/^[A-Za-z-]{1,20}$/), valid(additionalProperties), { maxKeys: 4 })
          .map((entries) => Object.entries(entries).map(([key, value]): Field => [json(key), value]))
      : fc.constant<Field[]>([])
  return fc.tuple(...listed, more).map((parts) => parts.flat())
}

const given = (...bounds: readonly (number | undefined)[]): number[] =>
  bounds.filter((bound) => bound !== undefined)

/** Just inside and just outside of what a schema allows. */
export function edges({ type, minLength, maxLength, minimum, maximum, maxItems }: Schema): JsonText[] {
  const texts = given(minLength, maxLength)
    .flatMap((length) => [length - 1, length, length + 1])
    .flatMap((length) =>
      length >= 0 && length < 20_000 ? [json('a'.repeat(length)), json('😀'.repeat(length))] : [],
    )
  const numbers = given(minimum, maximum).flatMap((bound) =>
    [bound - 1, bound - 0.01, bound, bound + 0.01, bound + 1].map(String),
  )
  const lists = maxItems === undefined ? [] : [`[${'1,'.repeat(maxItems)}1]`]
  return [...texts, ...numbers, ...lists, ...(type === 'string' ? ['""'] : [])]
}

/** A valid object with one thing wrong with it, or nothing. */
export function almostValid(schema: Schema): fc.Arbitrary<JsonText> {
  const names = Object.keys(schema.properties ?? {})
  const anyName = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'x', ...names), hostileText)
  const edge = names.flatMap((name) =>
    edges(schema.properties![name]!).map((value): Field => [json(name), value]),
  )
  const replaced: fc.Arbitrary<Field> = fc.oneof(
    { weight: 3, arbitrary: fc.tuple(fc.constantFrom('x', ...names).map(json), hostileJson) },
    {
      weight: edge.length > 0 ? 2 : 0,
      arbitrary: edge.length > 0 ? fc.constantFrom(...edge) : fc.constant<Field>(['""', '1']),
    },
    fc.tuple(anyName.map(json), hostileJson),
  )
  const put = (fields: Field[], [key, value]: Field): Field[] =>
    fields.some(([name]) => name === key)
      ? fields.map((field) => (field[0] === key ? [key, value] : field))
      : [...fields, [key, value]]
  return fieldsOf(schema).chain((fields) =>
    fc.oneof(
      { weight: 4, arbitrary: fc.constant(objectOf(fields)) },
      { weight: 8, arbitrary: replaced.map((field) => objectOf(put(fields, field))) },
      // The same key again, or one less.
      { weight: 1, arbitrary: replaced.map((field) => objectOf([...fields, field, field])) },
      {
        weight: 1,
        arbitrary: fc.nat(20).map((at) => objectOf(fields.filter((_, i) => i !== at % (fields.length || 1)))),
      },
    ),
  )
}
