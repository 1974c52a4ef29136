import * as fc from 'fast-check'
import type { Documented } from './operations.ts'

export type Credential =
  | { readonly kind: 'own' | 'none' | 'outsider' }
  | { readonly kind: 'forged'; readonly index: number }
  | { readonly kind: 'garbage'; readonly text: string }
  | {
      readonly kind: 'mixed'
      readonly header: 'partnerid' | 'cookie' | 'merchantaccesskey'
      readonly text: string
    }

/** Header values that a client library still sends. */
const headerText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'a'.repeat(300),
    'a'.repeat(20_000),
    '\xff\xfe',
    'a\tb',
    '"x"',
    '*',
    '-1',
    '1e400',
    'W/"1"',
    '"1"',
    '"1", "2"',
    '__proto__',
    '%00',
    '../..',
    '${x}',
    ',',
    ';;',
    '=',
    'é',
  ),
  fc.stringMatching(/^[\x21-\x7e\x80-\xff]{0,60}$/),
)

const HEADER_NAMES = [
  'accept',
  'accept-encoding',
  'accept-language',
  'content-language',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-http-method-override',
  'x-request-id',
  'x-original-url',
  'range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'idempotency-key',
  'cookie',
  'origin',
  'referer',
  'user-agent',
  'last-event-id',
  'te',
  'via',
  'prefer',
  'traceparent',
  'authorization',
  'api-key',
  'partnerid',
  'merchantaccesskey',
  'x-rail-signature',
  'content-encoding',
  '__proto__',
  'constructor',
  'host',
]

export const extraHeaders = fc.oneof(
  { weight: 5, arbitrary: fc.constant([]) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...HEADER_NAMES), headerText, fc.integer({ min: 1, max: 3 }))
      .map(([name, value, times]) => Array.from({ length: times }, () => [name, value] as const)),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('application/problem+json', 'application/jose', 'text/html', '*/*')
      .map((type) => [['accept', type] as const]),
  },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 1, max: 300 })
      .map((n) => Array.from({ length: n }, (_, i) => [`x-${i}`, 'v'] as const)),
  },
)

export const credential: fc.Arbitrary<Credential> = fc.oneof(
  { weight: 20, arbitrary: fc.constant({ kind: 'own' as const }) },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'none' as const }, { kind: 'outsider' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('forged' as const), index: fc.nat(200) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('garbage' as const), text: headerText }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('mixed' as const),
      header: fc.constantFrom('partnerid' as const, 'cookie' as const, 'merchantaccesskey' as const),
      text: fc.oneof(
        headerText,
        headerText.map((text) => `SVCSESSION=${text}`),
      ),
    }),
  },
)

export function documentedHeaders({ parameters }: Documented): fc.Arbitrary<(readonly [string, string])[]> {
  const values: Record<string, fc.Arbitrary<string>> = {
    'Idempotency-Key': fc.oneof(
      fc.nat(1e9).map((n) => `k${n}`),
      fc.nat(20).map((n) => `again${n}`),
      headerText,
    ),
    'If-Match': fc.oneof(
      fc.integer({ min: 1, max: 4 }).map((n) => `"${n}"`),
      headerText,
    ),
    'If-None-Match': fc.oneof(fc.constantFrom('"1"', '*', 'W/"1"'), headerText),
    'Last-Event-ID': fc.oneof(fc.nat(50).map(String), headerText),
    'API-Key': fc.oneof(
      fc.constantFrom('@apiKey@', 'svc_test_', `svc_test_${'0'.repeat(32)}_000000`),
      headerText,
    ),
  }
  const names = parameters
    .filter((parameter) => parameter.in === 'header' && parameter.name in values)
    .map(({ name }) => name)
  return fc
    .tuple(
      ...names.map((name) =>
        fc
          .tuple(fc.integer({ min: 0, max: 3 }), values[name]!)
          .map(([skip, value]) => (skip === 0 ? [] : [[name, value] as const])),
      ),
    )
    .map((parts) => parts.flat())
}
