import { type Check, decided, refuses, specified } from '../check.ts'
import { wantFailure, wantRefused, wantSameRefusal, wantStatus, wantValue } from '../expect.ts'
import { wantUnknownField } from '../interpretation.ts'
import type { Fields, Subject } from '../subject.ts'
import { LOAD_CHECKS } from './card-loads.ts'
import { newMobile } from './create-card.ts'

const MISSING_COMPANY = 'com_00000000000000000000000000'
const MISSING_ACCOUNT = 'cac_00000000000000000000000000'

type Case = readonly [name: string, what: string, value: unknown]

const refusesEach = (field: string, source: string, cases: readonly Case[]): Check[] =>
  cases.flatMap(([name, what, value]) =>
    refuses(`4.3.${field}.${name}`, source, `${field}: ${what} is refused`, (s) =>
      s.createCard({ ...s.orderOf(), [field]: value }),
    ),
  )
/** What the specification gives a type or a pattern, and does not say that a server refuses. */
const decidedRefuses = (field: string, source: string, cases: readonly Case[]): Check[] =>
  cases.map(([name, what, value]) =>
    decided(`4.3.${field}.${name}`, source, `${field}: ${what} is refused`, async (s) =>
      wantRefused(await s.createCard({ ...s.orderOf(), [field]: value })),
    ),
  )
const takesEach = (field: string, source: string, cases: readonly Case[]): Check[] =>
  cases.flatMap(([name, what, value]) => {
    const id = `4.3.${field}.${name}`
    const response = (s: Subject) =>
      s.observe(`the response to ${id}`, () =>
        s.createCard(s.orderOf('incentivePartner', { [field]: value })),
      )
    return [
      specified(id, source, `${field}: ${what} is taken`, async (s) => wantStatus(await response(s), 200)),
      decided(`${id}.echo`, 'decision C17', `${field}: ${what} is returned as it was sent`, async (s) =>
        wantValue(await response(s), `payload.${field}`, value as string),
      ),
    ]
  })

const required: readonly Check[] = ['companyId', 'cardAccountId'].flatMap((field) => [
  ...refuses(
    `4.3.${field}.missing`,
    `§4.3, ${field}`,
    `${field} is required: an order without it is refused`,
    (s) => {
      const { [field]: _, ...order } = s.orderOf()
      return s.createCard(order)
    },
  ),
  decided(
    `4.3.${field}.missing.named`,
    'decision F4',
    `An order without ${field} is rejected by name`,
    async (s) => {
      const { [field]: _, ...order } = s.orderOf()
      wantFailure(await s.createCard(order), 400, 'validation_failed', field)
    },
  ),
  ...refusesEach(field, `§4.3, ${field}`, [
    ['null', 'null', null],
    ['empty', 'an empty text', ''],
  ]),
  ...decidedRefuses(field, 'decision C14', [['number', 'a number', 7]]),
])

const scopes: readonly Check[] = [
  ...refuses('4.3.companyId.unknown', '§4.3, companyId', 'An unknown company is refused', (s) =>
    s.createCard({ ...s.orderOf(), companyId: MISSING_COMPANY }),
  ),
  decided(
    '4.3.companyId.unknown.status',
    'decision F3',
    'An unknown company is 404 company_not_found',
    async (s) =>
      wantFailure(
        await s.createCard({ ...s.orderOf(), companyId: MISSING_COMPANY }),
        404,
        'company_not_found',
      ),
  ),
  decided(
    '4.3.companyId.foreign',
    'decision A10',
    'Another partner’s company gets the same response as one that does not exist',
    async (s) => {
      const { companyId } = s.partner('otherPartner')
      const foreign = await s.createCard({ ...s.orderOf(), companyId })
      const none = await s.createCard({ ...s.orderOf(), companyId: MISSING_COMPANY })
      wantSameRefusal(foreign, none, 'the response to a missing company')
    },
  ),
  ...refuses('4.3.cardAccountId.unknown', '§4.3, cardAccountId', 'An unknown card account is refused', (s) =>
    s.createCard({ ...s.orderOf(), cardAccountId: MISSING_ACCOUNT }),
  ),
  decided(
    '4.3.cardAccountId.foreign',
    'decision A10',
    'Another partner’s account gets the same response as one that does not exist',
    async (s) => {
      const { cardAccountId } = s.partner('otherPartner')
      const foreign = await s.createCard({ ...s.orderOf(), cardAccountId })
      const none = await s.createCard({ ...s.orderOf(), cardAccountId: MISSING_ACCOUNT })
      wantFailure(none, 404, 'card_account_not_found')
      wantSameRefusal(foreign, none, 'the response to a missing account')
    },
  ),
]

const EMAIL = '§4.3, email'
const MOBILE = '§4.3, mobile; §8'
const emails: readonly Check[] = [
  ...takesEach('email', EMAIL, [
    ['short', 'the shortest, a@b.co,', 'a@b.co'],
    ['marks', 'one with . _ % + -', 'A.b_c%d+e-f@x-y.example.org'],
    ['digits', 'one with digits', '12345@678.in'],
  ]),
  ...refusesEach('email', EMAIL, [
    ['no-at', 'a text without @', 'asha.example.com'],
    ['no-local', 'nothing before @', '@example.com'],
    ['no-domain', 'nothing after @', 'asha@'],
    ['no-dot', 'a domain without a dot', 'asha@example'],
    ['one-letter', 'a last part of one letter', 'asha@example.c'],
    ['digit-end', 'a last part of digits', 'asha@example.12'],
    ['underscore', 'a domain with _', 'asha@ex_ample.com'],
    ['space', 'a space', 'as ha@example.com'],
    ['two-ats', 'two @', 'asha@rao@example.com'],
  ]),
  ...decidedRefuses('email', 'decisions C14, C15', [
    // In some languages `$` matches before a line break at the end.
    ['newline', 'a line break at the end', 'asha@example.com\n'],
    ['number', 'a number', 7],
  ]),
]

const mobiles: readonly Check[] = [
  ...takesEach('mobile', MOBILE, [
    ['ten', 'ten digits', newMobile()],
    ['zeros', 'ten digits that begin with 0', '0123456789'],
  ]),
  ...refusesEach('mobile', MOBILE, [
    ['nine', 'nine digits', '987654321'],
    ['eleven', 'eleven digits', '98765432100'],
    ['empty', 'an empty text', ''],
    ['letter', 'a letter', '98765o3210'],
    ['plus', 'a country code', '+919876543'],
    ['space', 'a space', '98765 4321'],
    ['newline', 'a line break at the end', '9876543210\n'],
  ]),
  ...decidedRefuses('mobile', 'decision C14', [
    // In some languages `\d` matches them.
    ['other-digits', 'digits of another script', '९८७६५४३२१०'],
    ['number', 'a number', 9_876_543_210],
  ]),
]

const TEXTS = [
  'userId',
  'title',
  'firstName',
  'middleName',
  'lastName',
  'gender',
  'specialDate',
  'address',
  'address2',
  'city',
  'state',
  'country',
  'pincode',
  'deliveryAddress',
  'deliveryAddress2',
  'deliveryCity',
  'deliveryState',
  'deliveryCountry',
  'deliveryPincode',
]
const FLAGS = ['physicalCard', 'physicalDeliveryAddressFlag']

const types: readonly Check[] = [
  ...TEXTS.flatMap((field) => decidedRefuses(field, 'decision C14', [['number', 'a number', 560_001]])),
  ...FLAGS.flatMap((field) =>
    decidedRefuses(field, 'decision C14', [
      ['text', 'the text "true"', 'true'],
      ['number', 'the number 1', 1],
    ]),
  ),
]

const long = (length: number): string => 'x'.repeat(length)
const lengths: readonly Check[] = [
  ...(
    [
      ['firstName', 100],
      ['pincode', 100],
      ['address', 255],
      ['deliveryAddress2', 255],
    ] as const
  ).map(([field, max]) =>
    decided(
      `4.3.${field}.length`,
      'decision C17',
      `${field} takes ${max} characters and refuses one more`,
      async (s) => {
        const order = s.orderOf('incentivePartner', { [field]: long(max) })
        wantValue(await s.createCard(order), `payload.${field}`, long(max))
        wantFailure(await s.createCard({ ...order, [field]: long(max + 1) }), 400, 'validation_failed', field)
      },
    ),
  ),
  decided(
    '4.3.email.length',
    'decision C15',
    'email takes 254 characters and refuses one more',
    async (s) => {
      const email = `${crypto.randomUUID()}${long(242 - 36)}@example.com`
      wantValue(await s.createCard(s.orderOf('incentivePartner', { email })), 'payload.email', email)
      wantFailure(
        await s.createCard({ ...s.orderOf(), email: `x${email}` }),
        400,
        'validation_failed',
        'email',
      )
    },
  ),
  decided(
    '4.3.text.scripts',
    'decision C17',
    'Names in any script come back as they were sent',
    async (s) => {
      const firstName = "आशा O'Neil-Łukasz 😀"
      wantValue(
        await s.createCard(s.orderOf('incentivePartner', { firstName })),
        'payload.firstName',
        firstName,
      )
    },
  ),
]

const more: readonly Check[] = [
  decided('4.3.null', 'decision C14', 'Optional fields that are null count as absent', async (s) =>
    wantStatus(await s.createCard(s.orderOf(undefined, { userId: null, email: null, mobile: null })), 200),
  ),
  decided(
    '4.3.unknown-field',
    'decision C14',
    'A field that is no part of an order is refused by name',
    async (s) =>
      void (await wantUnknownField(
        s,
        await s.createCard({ ...s.orderOf(), fristName: 'Asha' }),
        'fristName',
      )),
  ),
  decided(
    '4.3.delivery.needed',
    'decision C18',
    'physicalDeliveryAddressFlag true asks for the delivery parts',
    async (s) => {
      const order: Fields = { ...s.orderOf(), physicalCard: true, physicalDeliveryAddressFlag: true }
      wantFailure(await s.createCard(order), 400, 'validation_failed', 'deliveryAddress')
    },
  ),
]

export const ORDER_CHECKS: readonly Check[] = [
  ...required,
  ...scopes,
  ...emails,
  ...mobiles,
  ...types,
  ...lengths,
  ...LOAD_CHECKS,
  ...more,
]
