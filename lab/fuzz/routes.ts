import { METHODS } from 'node:http'
import * as fc from 'fast-check'

/** A request by its bytes: how its path, its method and its headers are spelled, and who it comes from. */
export interface RoutePlan {
  /** Which path of the documents, or of the pages. */
  readonly target: number
  readonly ids: 'own' | 'victim' | 'none'
  readonly n: number
  readonly spelling: readonly (readonly [way: number, n: number])[]
  readonly method: string | undefined
  readonly caller: 'own' | 'none' | 'wrong' | 'twice' | 'page' | 'foreignPage'
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** How the names and values of the caller's own headers are written. */
  readonly writing: readonly [casing: number, padding: number]
  readonly body: boolean
}

const hex = (char: string, upper: boolean): string => {
  const code = char.charCodeAt(0).toString(16).padStart(2, '0')
  return `%${upper ? code.toUpperCase() : code}`
}
const replaceAt = (text: string, at: number, by: (char: string) => string): string =>
  text.slice(0, at) + by(text[at]!) + text.slice(at + 1)
const among = <T>(list: readonly T[], n: number): T => list[n % list.length]!

const SLASHES = [
  '%2f',
  '%2F',
  '//',
  '/./',
  '/x/../',
  '/x/..%2f',
  '/%2e%2e/',
  '/%2e/',
  '/..%2f',
  '..%2f',
  '\\',
  '/;/',
  ';a=b/',
  '%5c',
  '%252f',
  '/%00/',
  '%c0%af',
  '%e0%80%af',
  '/%20/',
]
const ENDS = [
  '/',
  '//',
  '/.',
  '/..',
  '/%2e%2e',
  '/..%2f',
  '%2f',
  ';',
  ';a=b',
  ';a=b?c=d',
  '?',
  '?a=b#c',
  '?a[]=b&a[__proto__]=c',
  '?%',
  '?%zz=%ff',
  '?%00=%00',
  '#',
  '#a',
  '.json',
  '%00',
  '%0d%0aset-cookie:%20a=b',
  '%',
  '%2',
  '%zz',
  '%u0041',
  '%ff',
  '%c0%af',
  '%E0%A4%A',
  '%f8%80%80%80%af',
  '%ed%a0%80',
  '%20',
  ' ',
  '+',
  '*',
  ':a',
  '{a}',
  '\xff',
  '/%61'.repeat(300),
  'a'.repeat(17_000),
  `?${'a=b&'.repeat(2_000)}`,
]
const STARTS = [
  'http://127.0.0.1:1',
  'http://evil.example',
  'HTTP://[::1]:1',
  'https://a@b',
  'http://',
  'ftp://a',
  '//evil.example',
  '/',
  '/.',
  '/x/..',
  '/%2e%2e',
  '/docs/..%2f',
  '/docs/%2e%2e',
  '/console/..%2f',
  '/console/x/..%2f..',
  '/console',
  '/console/api/v0/..%2f..%2f..',
  '\\',
  '%2f',
  '*',
]

/** What the router, a URL and a proxy read in ways of their own. */
const WAYS: readonly ((path: string, n: number) => string)[] = [
  // A letter, some letters or all of them percent-encoded, in either case of the digits.
  (path, n) => replaceAt(path, n % path.length, (char) => hex(char, n % 2 === 0)),
  (path, n) =>
    [...path].map((c, i) => (/\w/.test(c) && (n >> (i % 24)) & 1 ? hex(c, i % 2 === 0) : c)).join(''),
  (path, n) => path.replace(/[a-z0-9_]/gi, (char) => hex(char, n % 2 === 0)),
  (path, n) => replaceAt(path, n % path.length, (char) => hex('%', false) + hex(char, false).slice(1)),
  (path, n) => {
    const slashes = [...path].flatMap((char, i) => (char === '/' && i > 0 ? [i] : []))
    if (slashes.length === 0) return path
    return replaceAt(path, among(slashes, n), () => among(SLASHES, Math.floor(n / 7)))
  },
  (path, n) => path.slice(0, 1) + path.slice(1).replaceAll('/', among(SLASHES, n)),
  (path, n) => path + among(ENDS, n),
  (path, n) => among(STARTS, n) + path,
  (path, n) => [...path].map((c, i) => ((n >> (i % 24)) & 1 ? c.toUpperCase() : c)).join(''),
  (path, n) => path.slice(0, n % path.length) + among(ENDS, Math.floor(n / 11)) + path.slice(n % path.length),
]

export const spelled = (path: string, spelling: RoutePlan['spelling']): string =>
  spelling.reduce((text, [way, n]) => WAYS[way]!(text, n), path)

const AUTOMATIC = ['HEAD', 'HEAD', 'OPTIONS', 'TRACE', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const method = fc.oneof(
  { weight: 5, arbitrary: fc.constant(undefined) },
  { weight: 4, arbitrary: fc.constantFrom(...AUTOMATIC) },
  // CONNECT asks for a tunnel, whose target is no path; bare connections try it.
  { weight: 1, arbitrary: fc.constantFrom(...METHODS.filter((name) => name !== 'CONNECT')) },
  { weight: 1, arbitrary: fc.constantFrom('FOO', 'get', 'Head', 'GETX', 'G@T', '') },
)

const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset="utf-8"; a=b',
  'application/json ; charset=utf-7',
  'application/json; charset',
  'application/json;;;',
  'application/json, application/json',
  'APPLICATION/JSON;A=B',
  'application/vnd.a+json',
  'application/jose; a="b;c"',
  'application/x-www-form-urlencoded; charset=x',
  'multipart/form-data; boundary=',
  'text/plain;',
  '/',
  'a/b; "',
]
const ACCEPTS = [
  '*/*',
  'application/*;q=0',
  'application/json;q=0.000, */*;q=1',
  'application/problem+json;q=0.1,application/json',
  'application/problem+json;;;q=x',
  'text/event-stream',
  'application/jose, application/json',
  ', ,,',
  'a/b;q=1;q=2, "',
  Array.from({ length: 400 }, (_, i) => `a/b${i};q=0.${i}`).join(','),
]
const ADDRESSES = [
  '127.0.0.1',
  '::1',
  '::ffff:127.0.0.1',
  'localhost',
  '[::1]:1',
  '999.1.1.1',
  'unknown',
  '_hidden',
  '127.0.0.1, evil',
  ',',
  Array.from({ length: 500 }, (_, i) => `10.0.0.${i % 256}`).join(', '),
]
const FORWARDED = ['for=127.0.0.1;proto=https;host=localhost', 'for="[::1]"', 'for=_x, for=', ';;;', 'for="']
const PLAIN = ['', ' ', '\t', 'a', '"', 'a\r\n b', 'a\r\n\tb', '\r\n ', '\xff', 'a, b', '*', '0', '-1', '1e9']
const oneOf = (list: readonly string[]) => fc.constantFrom(...list)
const of = (names: readonly string[], values: readonly string[]) =>
  fc.tuple(oneOf(names), fc.oneof({ weight: 4, arbitrary: oneOf(values) }, oneOf(PLAIN)))

const header: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  of(['content-type'], TYPES),
  of(['accept', 'accept-language', 'accept-encoding', 'accept-charset'], ACCEPTS),
  of(['x-forwarded-for', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'via'], ADDRESSES),
  of(['forwarded'], FORWARDED),
  of(
    ['x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'x-forwarded-prefix'],
    ['localhost', 'https', 'evil.example', 'https, http', 'javascript'],
  ),
  of(['host'], ['localhost', 'evil.example', '127.0.0.1@evil', '[::1', 'a:b', 'a/b', 'a b']),
  of(['x-original-url', 'x-rewrite-url', 'x-http-method-override'], ['/livez', '/console/', 'GET', 'DELETE']),
  of(
    ['idempotency-key', 'if-match', 'if-none-match', 'last-event-id', 'range'],
    ['"1"', 'W/"1", "2"', 'bytes=0-1', 'bytes=0-0,-1', 'a'.repeat(300)],
  ),
  of(
    ['origin', 'referer', 'sec-fetch-site', 'x-svc-console'],
    ['null', 'https://evil.example', 'same-origin', 'cross-site', '1'],
  ),
  of(['cookie'], ['SVCSESSION=', 'a=b; SVCSESSION="x"', ';;;', '=', `a=${'b'.repeat(4_000)}`]),
  of(
    ['expect', 'upgrade', 'te', 'trailer', 'max-forwards', 'prefer', 'keep-alive'],
    ['100-continue', 'h2c', 'websocket', 'trailers', '0'],
  ),
)

const headers = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 6, arbitrary: fc.array(header, { minLength: 1, maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(header, fc.integer({ min: 2, max: 150 }))
      .map(([one, times]) => Array.from({ length: times }, () => one)),
  },
)

const natural = fc.nat(2 ** 28)

export const routePlan: fc.Arbitrary<RoutePlan> = fc.record({
  target: fc.nat(100_000),
  ids: fc.constantFrom('own' as const, 'victim' as const, 'victim' as const, 'none' as const),
  n: fc.nat(1_000),
  spelling: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    {
      weight: 7,
      arbitrary: fc.array(fc.tuple(fc.nat(WAYS.length - 1), natural), { minLength: 1, maxLength: 2 }),
    },
  ),
  method,
  caller: fc.constantFrom('own', 'own', 'none', 'wrong', 'twice', 'page', 'foreignPage'),
  headers,
  writing: fc.tuple(natural, fc.nat(5)),
  body: fc.boolean(),
})
