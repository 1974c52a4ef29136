import { type Check, decided } from '../check.ts'
import type { HttpResponse } from '../exchange.ts'
import {
  at,
  fail,
  wantFailure,
  wantKeys,
  wantKind,
  wantSameRefusal,
  wantStatus,
  wantValue,
} from '../expect.ts'
import { interpretationOf, wantUnknownField } from '../interpretation.ts'
import { type Fields, PATHS, type Subject } from '../subject.ts'
import { expired } from './expired-code.ts'
import { everyField, QR_CODE_FIELDS, QR_CODE_NAMES, wantInstant, wantQrCodeField } from './qr-code-fields.ts'
import { create, QR_CODE_REPEAT_CHECKS, QR_CODE_SEARCH_CHECKS } from './qr-code-repeats.ts'

const PNG = '89504e470d0a1a0a'
const MISSING = 'qr_00000000000000000000000000'

const get = async (subject: Subject, qrCodeId: string): Promise<HttpResponse> =>
  subject.call('GET', `${PATHS.qrCode}/${qrCodeId}`, undefined, await subject.asMerchant())

/** The response to the smallest request. */
const created = (subject: Subject): Promise<HttpResponse> =>
  subject.observe('a created code', () => create(subject, {}))

const createdId = async (subject: Subject): Promise<string> =>
  wantKind(await created(subject), 'payload.qrCodeId', 'string') as string

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()
const text = (length: number): string => 'q'.repeat(length)
const params = (count: number, name = (i: number) => `key${i}`): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [name(i), 'value']))

/** The last value that a rule takes and the first that it does not (decision Q13). */
const BOUNDS: readonly (readonly [field: string, rule: string, good: Fields, bad: Fields])[] = [
  ['qrName', 'has at most 100 characters', { qrName: text(100) }, { qrName: text(101) }],
  ['description', 'has at most 255 characters', { description: text(255) }, { description: text(256) }],
  ['customerName', 'has at most 100 characters', { customerName: text(100) }, { customerName: text(101) }],
  ['customerId', 'has at most 64 characters', { customerId: text(64) }, { customerId: text(65) }],
  [
    'customerMobile.short',
    'has ten digits',
    { customerMobile: '0123456789' },
    { customerMobile: '123456789' },
  ],
  [
    'customerMobile.long',
    'has ten digits',
    { customerMobile: '9999999999' },
    { customerMobile: '12345678901' },
  ],
  [
    'customerMobile.letters',
    'has digits only',
    { customerMobile: '9876543210' },
    { customerMobile: '98765o3210' },
  ],
  ['customerEmail', 'has the pattern of §4.3', { customerEmail: 'a@b.co' }, { customerEmail: 'a@b.c' }],
  ['amount.least', 'is 0.01 or more', { amount: 0.01 }, { amount: 0 }],
  ['amount.decimals', 'has at most two decimals', { amount: 10.55 }, { amount: 10.555 }],
  ['amount.negative', 'is not negative', { amount: 1 }, { amount: -1 }],
  ['amount.text', 'is a number, not text', { amount: 10 }, { amount: '10' }],
  ['multipleUse', 'is a boolean', { multipleUse: false }, { multipleUse: 'false' }],
  ['fixedAmount', 'needs an amount when it is true', { fixedAmount: true, amount: 5 }, { fixedAmount: true }],
  ['expiry', 'is in the future', { expiry: inDays(1) }, { expiry: inDays(-1) }],
  ['expiry.far', 'is at most five years ahead', { expiry: inDays(1_800) }, { expiry: inDays(1_900) }],
  ['expiry.zone', 'names its zone', { expiry: inDays(2) }, { expiry: inDays(2).replace('Z', '') }],
  ['expiry.number', 'is text', { expiry: inDays(3) }, { expiry: Date.now() + 86_400_000 }],
  ['customParams.count', 'has at most 15 pairs', { customParams: params(15) }, { customParams: params(16) }],
  [
    'customParams.name',
    'has names of at most 40 characters',
    { customParams: params(1, () => text(40)) },
    { customParams: params(1, () => text(41)) },
  ],
  [
    'customParams.value',
    'has values of at most 256 characters',
    { customParams: { key: text(256) } },
    { customParams: { key: text(257) } },
  ],
  [
    'customParams.number',
    'has texts as values',
    { customParams: { key: '1' } },
    { customParams: { key: 1 } },
  ],
  ['referenceNumber', 'has at most 64 characters', { referenceNumber: '' }, { referenceNumber: text(65) }],
]

const bounds = BOUNDS.map(([name, rule, good, bad]): Check => {
  const field = name.split('.')[0]!
  return decided(
    `2.3.create.${name}`,
    'decision Q13',
    `${field} ${rule}; one that does not is refused by name`,
    async (s) => {
      // A reference is good once, so each run has its own.
      const taken =
        field === 'referenceNumber' ? { referenceNumber: crypto.randomUUID().padEnd(64, 'r') } : good
      wantStatus(await create(s, taken), 200)
      wantFailure(await create(s, bad), 400, 'validation_failed', field)
    },
  )
})

const absent: readonly Check[] = [
  ['null', { qrName: null, amount: null, customerEmail: null }] as const,
  ['empty', { qrName: '', description: '', customerName: '' }] as const,
].map(([name, fields]) =>
  decided(
    `2.3.create.absent.${name}`,
    'decision C14',
    `Optional fields that are ${name === 'null' ? 'null' : 'empty texts'} count as absent`,
    async (s) => {
      const response = await create(s, fields)
      wantStatus(response, 200)
      const shown = Object.keys(fields).find((field) => at(response, `payload.${field}`) !== undefined)
      if (shown !== undefined) fail(response, `no payload.${shown}`, response.text)
    },
  ),
)

const record: readonly Check[] = [
  ...absent,
  decided('2.3.create.status', 'decision Q1', 'A merchant creates a code with no field at all', async (s) => {
    const response = await created(s)
    wantStatus(response, 200)
    wantValue(response, 'response_code', 0)
    wantValue(response, 'payload.status', 'ACTIVE')
  }),
  decided(
    '2.3.create.fields',
    'decision Q1',
    'A code that is created with every field has the seventeen of §2.3, each of its type',
    async (s) => {
      const response = await create(s, everyField())
      wantStatus(response, 200)
      wantKeys(response, 'payload', QR_CODE_NAMES)
      const code = wantKind(response, 'payload', 'object') as Record<string, unknown>
      for (const field of QR_CODE_FIELDS) wantQrCodeField(response, code, field)
    },
  ),
  decided(
    '2.3.create.defaults',
    'decision Q13',
    'multipleUse and fixedAmount are false unless asked for',
    async (s) => {
      const response = await created(s)
      wantValue(response, 'payload.multipleUse', false)
      wantValue(response, 'payload.fixedAmount', false)
    },
  ),
  decided(
    '2.3.create.dates',
    'decision Q7',
    'createdOn and modifiedOn are RFC 3339, and the same at first',
    async (s) => {
      const response = await created(s)
      const made = wantInstant(response, 'payload.createdOn')
      wantValue(response, 'payload.modifiedOn', made)
    },
  ),
  decided('2.3.create.image', 'decision Q1', 'qrCodeBase64 is an image in base64 (a PNG)', async (s) => {
    const response = await created(s)
    const image = Buffer.from(wantKind(response, 'payload.qrCodeBase64', 'string') as string, 'base64')
    if (image.subarray(0, 8).toString('hex') !== PNG)
      fail(response, 'payload.qrCodeBase64: a PNG', `${image.length} bytes of something else`)
  }),
  decided('2.3.get', 'decision Q1', 'A lookup returns what the creation returned', async (s) => {
    const response = await get(s, await createdId(s))
    wantStatus(response, 200)
    const wanted = at(await created(s), 'payload')
    wantValue(response, 'payload', wanted as string)
  }),
  decided(
    '2.3.get.foreign',
    'decision A10',
    'Another merchant’s code looks exactly like one that does not exist',
    async (s) => {
      const headers = await s.asMerchant('otherMerchant')
      const id = await createdId(s)
      const response = await s.call('GET', `${PATHS.qrCode}/${id}`, undefined, headers)
      const none = await s.call('GET', `${PATHS.qrCode}/${MISSING}`, undefined, headers)
      wantFailure(none, 404, 'qr_code_not_found')
      wantSameRefusal(response, none, 'the response to a missing id')
    },
  ),
  decided(
    '2.3.create.expired',
    'decision Q4',
    'After its expiry a code shows the status ACTIVE, or CANCELLED where EXPIRED_STATUS says so',
    async (s) => wantValue(await expired(s), 'payload.status', await interpretationOf(s, 'EXPIRED_STATUS')),
  ),
  decided(
    '2.3.create.unknown',
    'decision C14',
    'An unknown field is refused by name',
    async (s) => void (await wantUnknownField(s, await create(s, { qrNmae: 'x' }), 'qrNmae')),
  ),
  decided(
    '2.3.create.all-faults',
    'decision F4',
    'Every invalid field is named at once, and no value is repeated',
    async (s) => {
      const secret = 'do-not-repeat-me'
      const response = await create(s, { amount: secret, qrName: 7, customerEmail: secret })
      for (const name of ['amount', 'qrName', 'customerEmail'])
        wantFailure(response, 400, 'validation_failed', name)
      if (response.text.includes(secret))
        fail(response, 'no value of the request in the response', response.text)
    },
  ),
]

export const QR_CODE_CHECKS: readonly Check[] = [
  ...record,
  ...bounds,
  ...QR_CODE_REPEAT_CHECKS,
  ...QR_CODE_SEARCH_CHECKS,
]
