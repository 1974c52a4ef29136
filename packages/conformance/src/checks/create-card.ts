import { type Check, decided, specified } from '../check.ts'
import type { HttpResponse } from '../exchange.ts'
import {
  at,
  fail,
  TEXT_TIME,
  wantJson,
  wantKeys,
  wantKind,
  wantNoOtherKeys,
  wantStatus,
  wantText,
  wantValue,
} from '../expect.ts'
import { cardNumbersIn } from '../redact.ts'
import type { Fields, Subject } from '../subject.ts'
import {
  CARD_FIELDS,
  FURTHER_FIELDS,
  namesOf,
  wantCardField,
  wantForms,
  wantFurtherField,
  wantNoNull,
} from './card-fields.ts'

export const HOLDER = {
  title: 'Ms.',
  firstName: 'Asha',
  middleName: 'K',
  lastName: 'Rao',
  gender: 'Female',
  specialDate: '1990-04-01',
  address: '1 Mahatma Gandhi Road',
  address2: 'Second floor',
  city: 'Bengaluru',
  state: 'Karnataka',
  country: 'India',
  pincode: '560001',
}
const DELIVERY = {
  deliveryAddress: '2 Church Street',
  deliveryAddress2: 'Rear gate',
  deliveryCity: 'Bengaluru',
  deliveryState: 'Karnataka',
  deliveryCountry: 'India',
  deliveryPincode: '560002',
}

/** Ten new digits, so that each order is for a holder of its own. */
export const newMobile = (): string =>
  String(6_000_000_000 + (Number.parseInt(crypto.randomUUID().slice(0, 8), 16) % 3_999_999_999))

interface Issued {
  readonly order: Fields
  readonly response: HttpResponse
}

/** A virtual card for a holder with every field. */
export const issued = (subject: Subject): Promise<Issued> =>
  subject.observe('a created card', async () => {
    const email = `asha.${crypto.randomUUID()}@example.com`
    const order = subject.orderOf('incentivePartner', { ...HOLDER, email, mobile: newMobile() })
    return { order, response: await subject.createCard(order) }
  })

/** A physical card that goes to another address than its holder's. */
const physical = (subject: Subject): Promise<Issued> =>
  subject.observe('a created physical card', async () => {
    const flags = { physicalCard: true, physicalDeliveryAddressFlag: true }
    const order = subject.orderOf('incentivePartner', {
      ...HOLDER,
      ...flags,
      ...DELIVERY,
      mobile: newMobile(),
    })
    return { order, response: await subject.createCard(order) }
  })

const spec = (id: string, source: string, title: string, look: (response: HttpResponse) => void): Check =>
  specified(`4.3.${id}`, source, title, async (subject) => look((await issued(subject)).response))

const decision: typeof spec = (id, source, title, look) => ({
  ...spec(id, source, title, look),
  origin: 'decision',
})
const ENVELOPE = ['code', 'message', 'payload']

const envelope: readonly Check[] = [
  spec('status', '§4.3, success response', 'An encrypted order returns status 200', (response) =>
    wantStatus(response, 200),
  ),
  spec(
    'content-type',
    '§4, data formats',
    'The response is JSON, said to be so',
    (response) => void wantJson(response),
  ),
  spec('envelope', '§4.3, success response', 'The response has code, message and payload', (response) =>
    wantKeys(response, '', ENVELOPE),
  ),
  decision('envelope.only', 'decision R6', 'The response has no other field', (response) =>
    wantNoOtherKeys(response, '', ENVELOPE),
  ),
  spec('code', '§7, rule 2', 'code is the integer 0', (response) => {
    wantKind(response, 'code', 'integer')
    wantValue(response, 'code', 0)
  }),
  spec('message', '§7, rule 2', 'message is Success', (response) =>
    wantValue(response, 'message', 'Success'),
  ),
  spec(
    'payload',
    '§4.3, success response',
    'payload is an object',
    (response) => void wantKind(response, 'payload', 'object'),
  ),
  decision(
    'fields',
    'decision R6',
    'The payload has no field beside those of the creation response',
    (response) => wantNoOtherKeys(response, 'payload', [...namesOf(CARD_FIELDS), ...namesOf(FURTHER_FIELDS)]),
  ),
  decision('further', 'decision C12', 'The further fields of §2.4 are all there', (response) =>
    wantKeys(response, 'payload', namesOf(FURTHER_FIELDS)),
  ),
  decision(
    'forms',
    'decisions C8, C11',
    'Masked number, expiry, amount and labels have their forms',
    (response) => wantForms(response, 'payload', [...CARD_FIELDS, ...FURTHER_FIELDS]),
  ),
]

const rows: readonly Check[] = [
  ...CARD_FIELDS.map((row) =>
    spec(`payload.${row.name}`, `§2.4, ${row.name}`, `${row.name} is there and is ${row.words}`, (response) =>
      wantCardField(response, `payload.${row.name}`, row),
    ),
  ),
  ...FURTHER_FIELDS.map((row) =>
    spec(
      `payload.${row.name}`,
      '§2.4, further fields',
      `${row.name} is ${row.words}, if it is there`,
      (response) => wantFurtherField(response, `payload.${row.name}`, row),
    ),
  ),
]

const ECHOED = ['email', 'mobile', ...Object.keys(HOLDER).filter((name) => name !== 'middleName')]

const echo: readonly Check[] = [
  ...['companyId', 'cardAccountId'].map((name) =>
    specified(
      `4.3.echo.${name}`,
      `§2.4, ${name}`,
      `${name} of the order is ${name} of the card`,
      async (s) => {
        const { order, response: reply } = await issued(s)
        wantValue(reply, `payload.${name}`, order[name] as string)
      },
    ),
  ),
  ...ECHOED.map((name) =>
    decided(
      `4.3.echo.${name}`,
      'decisions C9, C17',
      `${name} of the order is ${name} of the card`,
      async (s) => {
        const { order, response: reply } = await issued(s)
        wantValue(reply, `payload.${name}`, order[name] as string)
      },
    ),
  ),
  ...Object.keys(DELIVERY).map((name) =>
    decided(`4.3.echo.${name}`, 'decision C17', `${name} of the order is ${name} of the card`, async (s) => {
      const { order, response: reply } = await physical(s)
      wantValue(reply, `payload.${name}`, order[name] as string)
    }),
  ),
]

const state: readonly Check[] = [
  decided('4.3.no-number', 'decision C11', 'No card number stands anywhere in the response', async (s) => {
    const { response: reply } = await issued(s)
    wantKind(reply, 'payload', 'object')
    if (cardNumbersIn(reply.text).length > 0) fail(reply, 'only the masked number', 'a whole card number')
  }),
  decided('4.3.no-null', 'decision C12', 'A field without a value is empty, never null', async (s) => {
    const { response: reply } = await issued(s)
    wantNoNull(reply, wantKind(reply, 'payload', 'object'), 'payload')
  }),
  decided(
    '4.3.virtual',
    'decision C10',
    'A card that was not asked for as a physical one is none',
    async (s) => wantValue((await issued(s)).response, 'payload.physicalCard', false),
  ),
  decided('4.3.physical', 'decision C10', 'A card that was asked for as a physical one is one', async (s) =>
    wantValue((await physical(s)).response, 'payload.physicalCard', true),
  ),
  decided(
    '4.3.virtual.unlocked',
    'decision C10',
    'A virtual card is unlocked and active at once',
    async (s) => {
      const { response: reply } = await issued(s)
      wantValue(reply, 'payload.cardStatus', { name: 'UL', label: 'UnLocked' })
      wantValue(reply, 'payload.cardActivated', true)
    },
  ),
  decided('4.3.physical.waits', 'decision C10', 'A physical card waits for its activation', async (s) => {
    const { response: reply } = await physical(s)
    wantValue(reply, 'payload.cardStatus', { name: 'AP', label: 'Activation InProgress' })
    wantValue(reply, 'payload.cardActivated', false)
  }),
  specified(
    '4.3.physical.requested',
    '§2.4, physicalCardRequestDate',
    'A physical card says when it was requested',
    async (s) => {
      const { response: reply } = await physical(s)
      wantText(reply, 'payload.physicalCardRequestDate')
    },
  ),
  decided(
    '4.3.physical.requested.form',
    'decision C12',
    'That date has the form of createdOn; a virtual card has none',
    async (s) => {
      const date = String(at((await physical(s)).response, 'payload.physicalCardRequestDate'))
      if (!TEXT_TIME.test(date)) fail((await physical(s)).response, 'Mon D, YYYY h:mm:ss AM/PM', date)
      wantValue((await issued(s)).response, 'payload.physicalCardRequestDate', '')
    },
  ),
  specified(
    '4.3.delivery.flag',
    '§2.4, physicalDeliveryAddressFlag',
    'The flag says that a delivery address is present',
    async (s) => wantValue((await physical(s)).response, 'payload.physicalDeliveryAddressFlag', true),
  ),
  decided(
    '4.3.delivery.none',
    'decision C18',
    'The flag of a card without a delivery address is false',
    async (s) => wantValue((await issued(s)).response, 'payload.physicalDeliveryAddressFlag', false),
  ),
  decided('4.3.kyc', 'decision C19', 'A new card’s KYC status is NOT_UPLOADED', async (s) =>
    wantValue((await issued(s)).response, 'payload.kycStatus.name', 'NOT_UPLOADED'),
  ),
  decided(
    '4.3.money',
    'decision C8',
    'A new card’s balance, account balance and last allocation are its load',
    async (s) => {
      const { response: reply } = await issued(s)
      const load = wantKind(reply, 'payload.loadAmount', 'string') as string
      for (const name of ['otbBalance', 'accountBalance', 'lastAllocatedAmount'])
        wantValue(reply, `payload.${name}`, Number(load))
    },
  ),
  decided('4.3.unused', 'decision C8', 'A new card has not been used: all totals of use are 0', async (s) => {
    const { response: reply } = await issued(s)
    for (const name of ['usedMtd', 'usedDtd', 'usedYtd', 'usedLtd']) wantValue(reply, `payload.${name}`, 0)
  }),
  decided('4.3.validity', 'decision C7', 'A gift card is good for a year at least', async (s) => {
    const { response: reply } = await issued(s)
    const [year, month] = ['expiryYear', 'expiryMonth'].map((name) => Number(at(reply, `payload.${name}`)))
    // Good to the end of its month.
    const end = new Date((year! < 100 ? 2000 : 0) + year!, month!, 1)
    if (!(end.getTime() - Date.now() >= 364 * 86_400_000)) fail(reply, 'a year or more', `${month}/${year}`)
  }),
  specified(
    '4.3.unique',
    '§2.4, svcCardTxnId',
    'Two cards differ in svcCardId and svcCardTxnId',
    async (s) => {
      const [one, other] = [(await issued(s)).response, (await physical(s)).response]
      for (const name of ['svcCardId', 'svcCardTxnId'])
        if (wantText(one, `payload.${name}`) === wantText(other, `payload.${name}`))
          fail(other, `another ${name}`, 'the same')
    },
  ),
]

export const CARD_CHECKS: readonly Check[] = [...envelope, ...rows, ...echo, ...state]
