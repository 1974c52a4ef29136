import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { almostValid, hostileJson, hostileText, type Schema } from './json-text.ts'
import type { Documented } from './operations.ts'
import { encodeId } from './plan-urls.ts'

export interface BodyPlan {
  /** Latin1, a character a byte. */
  readonly text: string
  readonly type: string | undefined
  readonly encoding: string | undefined
}

const TYPES = [
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'application/json; charset=latin1',
  'APPLICATION/JSON',
  'application/json;',
  'application/json, text/plain',
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/jose',
  'application/x-ndjson',
  'application/octet-stream',
  '',
  'x',
  'application/json\xff',
  '__proto__',
  'a/b'.repeat(500),
]

/** Text that is no JSON, or JSON in another encoding or with a changed byte. */
const disguised = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    text.map((body) => `\xef\xbb\xbf${body}`),
    text.map((body) => Buffer.from(body, 'utf16le').toString('latin1')),
    text.map((body) => gzipSync(Buffer.from(body, 'latin1')).toString('latin1')),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc.constantFrom(
      'a=b',
      'a=1&a=2',
      'grant_type=client_credentials&client_id=%00',
      '%',
      '&&&',
      '<a/>',
      '{}{}',
      '{}\n{}',
      '\x00',
      ' '.repeat(66_000),
      '['.repeat(60_000),
    ),
    fc
      .tuple(text, fc.nat(400), fc.nat(255), fc.constantFrom('put', 'change', 'drop'))
      .map(([body, at, code, how]) => {
        const where = at % (body.length + 1)
        return (
          body.slice(0, where) +
          (how === 'drop' ? '' : String.fromCharCode(code)) +
          body.slice(how === 'put' ? where : where + 1)
        )
      }),
  )

export function bodyOf({ bodies, id }: Documented): fc.Arbitrary<BodyPlan | undefined> {
  const [[type, { schema: outer }] = ['application/json', { schema: {} }]] = Object.entries(bodies)
  if (Object.keys(bodies).length === 0)
    return fc.option(
      fc.record({
        text: hostileJson,
        type: fc.constant('application/json'),
        encoding: fc.constant(undefined),
      }),
      { nil: undefined, freq: 8 },
    )
  const schema = outer.contentSchema ?? outer
  const object = type.endsWith('ndjson')
    ? fc.array(hostileJson, { maxLength: 4 }).map((lines) => lines.join('\n'))
    : almostValid(schema)
  const form = fieldForm(schema)
  const text = type.endsWith('urlencoded') ? form : object
  // A changed address of a webhook might lead off this machine.
  const any = /webhook/i.test(id) ? hostileJson : fc.oneof(hostileJson, disguised(text))
  const plain = { encoding: fc.constant(undefined), type: fc.constant(type) }
  return fc.oneof(
    { weight: 14, arbitrary: fc.record({ text, ...plain }) },
    { weight: 4, arbitrary: fc.record({ text: any, ...plain }) },
    {
      weight: 1,
      arbitrary: fc.record({
        text,
        type: fc.option(fc.constantFrom(...TYPES, ...Object.keys(bodies)), { nil: undefined }),
        encoding: fc.option(fc.constantFrom('gzip', 'deflate', 'br', 'identity', 'x', 'gzip, gzip'), {
          nil: undefined,
        }),
      }),
    },
    { weight: 1, arbitrary: fc.constant(undefined) },
  )
}

/** RFC 6749 section 4.4.2: the fields of a token request are a form. */
function fieldForm({ properties = {} }: Schema): fc.Arbitrary<string> {
  const value = fc.oneof(
    fc.constantFrom('client_credentials', 'incentive', 'password', '@clientId@', '@clientSecret@'),
    hostileText,
  )
  const right = ['grant_type=client_credentials', 'client_id=@clientId@', 'client_secret=@clientSecret@']
  const drawn = fc
    .array(fc.tuple(fc.constantFrom(...Object.keys(properties), 'x', '__proto__'), value), { maxLength: 5 })
    .map((fields) => fields.map(([name, text]) => `${name}=${encodeId(text)}`))
  return fc
    .tuple(fc.subarray(right, { minLength: 0 }), fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, drawn))
    .map((parts) => parts.flat().join('&'))
}
