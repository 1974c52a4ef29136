import { type Check, must, ours } from '../check.ts'
import type { Answer } from '../exchange.ts'
import {
  at,
  fail,
  WORDY_TIME,
  wantJson,
  wantKeys,
  wantKind,
  wantRefused,
  wantStatus,
  wantValue,
} from '../expect.ts'
import { cardNumbersIn } from '../redact.ts'
import { type Fields, type Subject, skip } from '../subject.ts'
import { CARD_FIELDS, FURTHER_FIELDS, namesOf, wantCardField } from './card-fields.ts'

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

/** Ten digits that nobody else has, so that each order is for a holder of its own. */
export const newMobile = (): string =>
  String(6_000_000_000 + (Number.parseInt(crypto.randomUUID().slice(0, 8), 16) % 3_999_999_999))

interface Issued {
  readonly order: Fields
  readonly answer: Answer
}

/** A virtual card for a holder with every field. */
export const issued = (subject: Subject): Promise<Issued> =>
  subject.observe('a created card', async () => {
    const email = `asha.${crypto.randomUUID()}@example.com`
    const order = subject.orderOf('incentivePartner', { ...HOLDER, email, mobile: newMobile() })
    return { order, answer: await subject.createCard(order) }
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
    return { order, answer: await subject.createCard(order) }
  })

const seen = (id: string, source: string, title: string, look: (answer: Answer) => void): Check =>
  must(`4.3.${id}`, source, title, async (subject) => look((await issued(subject)).answer))

const envelope: readonly Check[] = [
  seen('status', '§4.3, success response', 'A sealed order is answered with status 200', (answer) =>
    wantStatus(answer, 200),
  ),
  seen(
    'content-type',
    '§4, data formats',
    'The answer is JSON, said to be so',
    (answer) => void wantJson(answer),
  ),
  seen('envelope', '§4.3, success response', 'The answer has exactly code, message and payload', (answer) =>
    wantKeys(answer, '', ['code', 'message', 'payload']),
  ),
  seen('code', '§7, rule 2', 'code is the integer 0', (answer) => {
    wantKind(answer, 'code', 'integer')
    wantValue(answer, 'code', 0)
  }),
  seen('message', '§7, rule 2', 'message is Success', (answer) => wantValue(answer, 'message', 'Success')),
  seen(
    'payload',
    '§4.3, success response',
    'payload is an object',
    (answer) => void wantKind(answer, 'payload', 'object'),
  ),
  seen('fields', '§2.4', 'The payload has no field beside those of the creation response', (answer) =>
    wantKeys(answer, 'payload', [], [...namesOf(CARD_FIELDS), ...namesOf(FURTHER_FIELDS)]),
  ),
]

const rows: readonly Check[] = [
  ...CARD_FIELDS.map((row) =>
    seen(`payload.${row.name}`, `§2.4, ${row.name}`, `${row.name} is there and is ${row.words}`, (answer) =>
      wantCardField(answer, `payload.${row.name}`, row),
    ),
  ),
  ...FURTHER_FIELDS.map((row) =>
    seen(
      `payload.${row.name}`,
      '§2.4, further fields',
      `${row.name} is there and is ${row.words}`,
      (answer) => wantCardField(answer, `payload.${row.name}`, row),
    ),
  ),
]

const ECHOED = [
  'email',
  'mobile',
  'companyId',
  'cardAccountId',
  ...Object.keys(HOLDER).filter((name) => name !== 'middleName'),
]

const echo: readonly Check[] = [
  ...ECHOED.map((name) =>
    must(`4.3.echo.${name}`, `§2.4, ${name}`, `${name} of the order is ${name} of the card`, async (s) => {
      const { order, answer } = await issued(s)
      wantValue(answer, `payload.${name}`, order[name] as string)
    }),
  ),
  ...Object.keys(DELIVERY).map((name) =>
    must(`4.3.echo.${name}`, `§2.4, ${name}`, `${name} of the order is ${name} of the card`, async (s) => {
      const { order, answer } = await physical(s)
      wantValue(answer, `payload.${name}`, order[name] as string)
    }),
  ),
]

function wantNoNull(answer: Answer, value: unknown, path: string): void {
  if (value === null) fail(answer, `${path}: a value, empty if there is none`, 'null')
  if (typeof value === 'object')
    for (const [name, inner] of Object.entries(value as object)) wantNoNull(answer, inner, `${path}.${name}`)
}

const state: readonly Check[] = [
  must('4.3.no-number', '§2.4, maskedNumber', 'No card number stands anywhere in the answer', async (s) => {
    const { answer } = await issued(s)
    if (cardNumbersIn(answer.text).length > 0) fail(answer, 'only the masked number', 'a whole card number')
  }),
  ours('4.3.no-null', 'decision C12', 'A field without a value is empty, never null', async (s) => {
    const { answer } = await issued(s)
    wantNoNull(answer, at(answer, 'payload'), 'payload')
  }),
  must(
    '4.3.virtual',
    '§4.3, physicalCard',
    'A card that was not asked for as a physical one is none',
    async (s) => wantValue((await issued(s)).answer, 'payload.physicalCard', false),
  ),
  must(
    '4.3.physical',
    '§4.3, physicalCard',
    'A card that was asked for as a physical one is one',
    async (s) => wantValue((await physical(s)).answer, 'payload.physicalCard', true),
  ),
  ours('4.3.virtual.unlocked', 'decision C10', 'A virtual card is unlocked and active at once', async (s) => {
    const { answer } = await issued(s)
    wantValue(answer, 'payload.cardStatus', { name: 'UL', label: 'UnLocked' })
    wantValue(answer, 'payload.cardActivated', true)
  }),
  ours('4.3.physical.waits', 'decision C10', 'A physical card waits for its activation', async (s) => {
    const { answer } = await physical(s)
    wantValue(answer, 'payload.cardStatus', { name: 'AP', label: 'Activation InProgress' })
    wantValue(answer, 'payload.cardActivated', false)
  }),
  must(
    '4.3.physical.requested',
    '§2.4, physicalCardRequestDate',
    'A physical card says when it was requested',
    async (s) => {
      const { answer } = await physical(s)
      const date = String(wantKind(answer, 'payload.physicalCardRequestDate', 'string'))
      if (date === '') fail(answer, 'payload.physicalCardRequestDate: a date', 'an empty string')
    },
  ),
  ours(
    '4.3.physical.requested.form',
    'decision C12',
    'That date has the form of createdOn; a virtual card has none',
    async (s) => {
      const date = String(at((await physical(s)).answer, 'payload.physicalCardRequestDate'))
      if (!WORDY_TIME.test(date)) fail((await physical(s)).answer, 'Mon D, YYYY h:mm:ss AM/PM', date)
      wantValue((await issued(s)).answer, 'payload.physicalCardRequestDate', '')
    },
  ),
  must(
    '4.3.delivery.flag',
    '§2.4, physicalDeliveryAddressFlag',
    'The flag says whether a delivery address is present',
    async (s) => {
      wantValue((await physical(s)).answer, 'payload.physicalDeliveryAddressFlag', true)
      wantValue((await issued(s)).answer, 'payload.physicalDeliveryAddressFlag', false)
    },
  ),
  ours('4.3.kyc', 'decision C19', 'A new card’s KYC status is NOT_UPLOADED', async (s) =>
    wantValue((await issued(s)).answer, 'payload.kycStatus.name', 'NOT_UPLOADED'),
  ),
  ours(
    '4.3.money',
    'decision C8',
    'A new card’s balance, account balance and last allocation are its load',
    async (s) => {
      const { answer } = await issued(s)
      const load = wantKind(answer, 'payload.loadAmount', 'string') as string
      for (const name of ['otbBalance', 'accountBalance', 'lastAllocatedAmount'])
        wantValue(answer, `payload.${name}`, Number(load))
    },
  ),
  ours('4.3.unused', 'decision C8', 'A new card has not been used: all totals of use are 0', async (s) => {
    const { answer } = await issued(s)
    for (const name of ['usedMtd', 'usedDtd', 'usedYtd', 'usedLtd']) wantValue(answer, `payload.${name}`, 0)
  }),
  ours('4.3.validity', 'decision C7', 'A gift card is good for a year at least', async (s) => {
    const { answer } = await issued(s)
    const [year, month] = ['expiryYear', 'expiryMonth'].map((name) => Number(at(answer, `payload.${name}`)))
    // Good to the end of its month.
    const end = new Date((year! < 100 ? 2000 : 0) + year!, month!, 1)
    if (!(end.getTime() - Date.now() >= 364 * 86_400_000)) fail(answer, 'a year or more', `${month}/${year}`)
  }),
  must('4.3.unique', '§2.4, svcCardTxnId', 'Two cards differ in svcCardId and svcCardTxnId', async (s) => {
    const [one, other] = [(await issued(s)).answer, (await physical(s)).answer]
    for (const name of ['svcCardId', 'svcCardTxnId'])
      if (at(one, `payload.${name}`) === at(other, `payload.${name}`))
        fail(other, `another ${name}`, 'the same')
  }),
]

const holders: readonly Check[] = [
  must('4.3.userId', '§4.3, userId', 'A card for a user of the company carries that userId', async (s) => {
    const userId = s.partner().userId ?? skip('the credentials of incentivePartner have no userId')
    const answer = await s.createCard(s.orderOf('incentivePartner', { userId }))
    wantStatus(answer, 200)
    wantValue(answer, 'payload.userId', userId)
  }),
  ours('4.3.userId.same-mobile', 'decision C9', 'Without userId the holder is found by mobile', async (s) => {
    const { order, answer } = await issued(s)
    const again = await s.createCard(s.orderOf('incentivePartner', { mobile: order['mobile'] }))
    wantValue(again, 'payload.userId', at(answer, 'payload.userId') as string)
  }),
  ours(
    '4.3.userId.same-email',
    'decision C9',
    'Without userId and mobile the holder is found by e-mail',
    async (s) => {
      const { order, answer } = await issued(s)
      const again = await s.createCard(s.orderOf('incentivePartner', { email: order['email'] }))
      wantValue(again, 'payload.userId', at(answer, 'payload.userId') as string)
    },
  ),
  must('4.3.least', '§4.3, required fields', 'companyId and cardAccountId alone make a card', async (s) =>
    wantStatus(await s.createCard(s.orderOf()), 200),
  ),
  must('4.3.userId.unknown', '§4.3, userId', 'An unknown userId makes no card', async (s) =>
    wantRefused(
      await s.createCard(s.orderOf('incentivePartner', { userId: 'usr_00000000000000000000000000' })),
    ),
  ),
  must('4.3.userId.foreign', '§4.3, userId', 'A user of another company makes no card', async (s) => {
    const userId = s.partner('otherPartner').userId ?? skip('the credentials of otherPartner have no userId')
    wantRefused(await s.createCard(s.orderOf('incentivePartner', { userId })))
  }),
]

export const CARD_CHECKS: readonly Check[] = [...envelope, ...rows, ...echo, ...state, ...holders]
