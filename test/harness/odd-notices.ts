/** Signed notices of received money that cannot be read: the body, its media type, and the reason of the quarantine. */
export const UNREADABLE: readonly (readonly [
  what: string,
  body: string,
  type: string | undefined,
  reason: string,
])[] = [
  ['not JSON', 'utr=1&amount=2', undefined, 'not_json'],
  ['a list', '[]', 'application/json', 'not_json'],
  ['of another media type', '<credit/>', 'text/xml', 'not_json'],
  ['without a reference', '{"amount":10}', 'application/json', 'reference_unreadable'],
  [
    'with an amount of three decimals',
    '{"utr":"U1234567","amount":1.005}',
    'application/json',
    'amount_unreadable',
  ],
  ['with an amount in words', '{"utr":"U1234567","amount":"ten"}', 'application/json', 'amount_unreadable'],
]

/** Values that banks, gateways and mistakes put into any field of a notice. */
const ODD: readonly unknown[] = [
  undefined,
  null,
  '',
  ' ',
  0,
  -1,
  1e-7,
  1e21,
  0.1 + 0.2,
  '1,000.00',
  '₹ 10',
  '10.00',
  10,
  true,
  [],
  {},
  // No text, whoever asks it for one.
  { toString: 1, valueOf: 1 },
  [[['x']]],
  'nul\u0000byte',
  '\ud800',
  'x'.repeat(5_000),
  'AXIS-0042/7 x',
  "'; drop table bank_credits; --",
  '<script>alert(1)</script>',
  '__proto__',
  'yesterday',
  '2026-02-30T00:00:00+05:30',
  1_790_000_000,
]

/** A notice that is right, and every one in which one field has an odd value, or an odd field is added. */
export function oddNotices(right: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  const names = [...Object.keys(right), 'remarks', 'constructor']
  return names.flatMap((name) => ODD.map((value) => ({ ...right, [name]: value })))
}
