import { isTreacherous, JsonRejected, parseStrictJson } from '@svc/kernel/strict-json'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const parse = (text: string) => parseStrictJson(Buffer.from(text))

/** What the parser says of a text that it refuses. */
function refusal(body: string | Buffer): string {
  try {
    parseStrictJson(Buffer.from(body))
  } catch (error) {
    if (error instanceof JsonRejected) return error.message
    throw error
  }
  throw new Error('was accepted')
}

const plainText = fc.string({ unit: 'grapheme' }).filter((text) => !/[\p{Cc}\p{Cs}]/u.test(text))
const exactNumber = fc
  .tuple(fc.integer({ min: -999_999_999, max: 999_999_999 }), fc.integer({ min: 0, max: 6 }))
  .map(([n, places]) => n / 10 ** places)
const { value: jsonValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 8, withCrossShrink: true },
    fc.oneof(plainText, exactNumber, fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(
      plainText.filter((key) => key !== '__proto__'),
      tie('value'),
      { maxKeys: 5, noNullPrototype: true },
    ),
  ),
}))

test('any JSON value without a defect parses as with JSON.parse', () => {
  const spaces = fc.constantFrom<string | number>('', 2, '\t')
  fc.assert(
    fc.property(jsonValue, spaces, (value, space) => {
      const text = JSON.stringify(value, null, space)
      expect(parse(text)).toEqual(JSON.parse(text))
    }),
    { numRuns: 3_000 },
  )
})

test('any text gets the value of JSON.parse or malformed_body, nothing else', () => {
  const tokens = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"',
    '\\',
    '"a"',
    '1',
    '-',
    '0.5e3',
    'null',
    'true',
    ' ',
    '\\u0061',
    '\n',
    '😀',
    '_',
  )
  fc.assert(
    fc.property(fc.array(tokens, { maxLength: 30 }), (parts) => {
      const text = parts.join('')
      let value: unknown
      try {
        value = parse(text)
      } catch (error) {
        expect(error).toBeInstanceOf(JsonRejected)
        return
      }
      expect(value).toEqual(JSON.parse(text))
    }),
    { numRuns: 5_000 },
  )
})

test('a duplicate key is rejected wherever it occurs and however it is spelled', () => {
  fc.assert(
    fc.property(
      jsonValue,
      plainText.filter((key) => key !== '__proto__'),
      fc.integer({ min: 0, max: 6 }),
      (value, key, depth) => {
        const escaped = `"${[...key].map((char) => (char.length === 1 ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char)).join('')}"`
        const twice = `{${JSON.stringify(key)}:${JSON.stringify(value)},${escaped} :1}`
        expect(refusal('['.repeat(depth) + twice + ']'.repeat(depth))).toMatch(/same key twice/)
      },
    ),
  )
})

test('the same key in different objects is not a duplicate', () => {
  expect(parse('{"a":{"a":[{"a":1},{"a":2}]},"b":{"a":"a"}}')).toEqual({
    a: { a: [{ a: 1 }, { a: 2 }] },
    b: { a: 'a' },
  })
})

test.each([
  ['a raw NUL', '"\u0000"', /control|well-formed/],
  ['an escaped NUL', '"a\\u0000b"', /control character/],
  ['an escaped newline', '"a\\nb"', /control character/],
  ['a C1 control character', '"\u0085"', /control character/],
  ['a control character in a key', '{"a\\u0007":1}', /control character/],
  ['a lone high surrogate', '"\\ud800"', /surrogate/],
  ['a lone low surrogate', '"\\udc00x"', /surrogate/],
  ['a reversed pair', '"\\udc00\\ud800"', /surrogate/],
  ['a surrogate in a key', '{"\\ud800":1}', /surrogate/],
  ['__proto__', '{"__proto__":{"admin":true}}', /not allowed/],
  ['an escaped __proto__', '{"a":{"\\u005f_proto__":1}}', /not allowed/],
  ['16 digits', '1234567890123456', /significant digits/],
  ['16 digits behind the point', '0.1234567890123456', /significant digits/],
  ['a number over a double’s range', '1e309', /out of range/],
  ['a number under a double’s range', '1e-400', /out of range/],
  ['two values', '{} {}', /well-formed/],
  ['a trailing comma', '[1,]', /well-formed/],
  ['a comment', '{} // x', /well-formed/],
  ['single quotes', "{'a':1}", /well-formed/],
  ['NaN', 'NaN', /well-formed/],
  ['a leading zero', '01', /well-formed/],
  ['a leading plus', '+1', /well-formed/],
  ['nothing but space', '  ', /well-formed/],
  ['a byte order mark', '\ufeff{}', /well-formed/],
  ['an unfinished string', '"abc', /well-formed/],
])('%s is rejected', (_, text, reason) => expect(refusal(text)).toMatch(reason))

test.each([
  ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
  ['a lone continuation', [0x22, 0x80, 0x22]],
  ['a surrogate in UTF-8', [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ['a code point that does not exist', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
  ['a cut character', [0x22, 0xe2, 0x82, 0x22]],
  ['UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
])('%s is not UTF-8 and is rejected', (_, bytes) => expect(refusal(Buffer.from(bytes))).toMatch(/UTF-8/))

test('20 levels are accepted and 21 rejected, objects and arrays alike', () => {
  const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  const objects = (depth: number) => '{"a":'.repeat(depth - 1) + '{}' + '}'.repeat(depth - 1)
  for (const nested of [arrays, objects]) {
    expect(parse(nested(20))).toBeDefined()
    expect(refusal(nested(21))).toMatch(/deeper than 20/)
    expect(refusal(nested(9_000))).toMatch(/deeper than 20/)
  }
})

test('a rejection states the position and never what is there', () => {
  for (const text of [
    '{"canary":1,"canary":2}',
    '"canary\\u0000"',
    '["canary", 1234567890123456]',
    '{"canary":',
  ])
    expect(refusal(text)).not.toMatch(/canary|123456/)
})

test('500 fields and elements are accepted, and nothing after one more is read', () => {
  const fields = (count: number) => `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',')}}`
  const elements = (count: number) => `[${'1,'.repeat(count - 1)}1]`
  for (const text of [fields, elements]) {
    expect(parse(text(500))).toBeDefined()
    expect(refusal(text(501))).toMatch(/more than 500 fields and elements/)
    // A key that stands there twice would be the reason if anybody got so far.
    expect(refusal(`{"a":${text(501)},"b":1,"b":2}`)).toMatch(/more than 500/)
  }
})

test.each([
  ['{"a":1,"a":2}', true],
  ['{"a":1,"\\u0061":2}', true],
  ['{"x":{"a":1,"b":[{"a":2}]},"a":3}', false],
  ['{"x":[{"a":1},{"a":1}]}', false],
  ['{"a":"\\",\\"a\\":2"}', false],
  ['{"x":{"a":1, "a" : 1}}', true],
  ['["a","a"]', false],
  [`${'{"a":'.repeat(64)}1${'}'.repeat(64)}`, false],
  [`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, true],
  [`${'['.repeat(50_000)}${']'.repeat(50_000)}`, true],
])(
  'detects whether an object has a key twice, however it is written and wherever it is, or cannot be walked: %.60s',
  (json, treacherous) => {
    expect(isTreacherous(json)).toBe(treacherous)
  },
)
