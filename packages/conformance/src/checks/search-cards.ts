import { type Check, decided, refuses, specified } from '../check.ts'
import type { HttpResponse } from '../exchange.ts'
import { at, fail, wantJson, wantKeys, wantKind, wantNoOtherKeys, wantStatus, wantValue } from '../expect.ts'
import { cardNumbersIn } from '../redact.ts'
import {
  CARD_FIELDS,
  FURTHER_FIELDS,
  INCENTIVE_FIELDS,
  namesOf,
  REDUCED_FIELDS,
  wantCardField,
  wantForms,
  wantFurtherField,
} from './card-fields.ts'
import { issued } from './create-card.ts'
import { issuedCardId } from './issued-card.ts'
import { SEARCH_ACCOUNT_CHECKS } from './search-account.ts'
import { SEARCH_REQUEST_CHECKS } from './search-requests.ts'
import { everything, incentive, one, records, rewarded, scopeOf } from './searched-cards.ts'

const VARIANTS = [
  ['incentive', 'incentive variant', incentive],
  ['rewards', 'rewards variant, one card', one],
  ['account', 'rewards variant, all cards', everything],
] as const

const ENVELOPE = ['code', 'message', 'payload']
const PAYLOAD = ['recordsCount', 'data']

const envelopes: readonly Check[] = VARIANTS.flatMap(([id, words, find]) => {
  const spec = (name: string, source: string, title: string, look: (response: HttpResponse) => void): Check =>
    specified(`4.4.${id}.${name}`, source, `${words}: ${title}`, async (s) => look(await find(s)))
  const decision: typeof spec = (name, source, title, look) => ({
    ...spec(name, source, title, look),
    origin: 'decision',
  })
  return [
    spec('status', '§4.4, response envelope', 'status 200', (response) => wantStatus(response, 200)),
    spec('content-type', '§4, data formats', 'JSON, said to be so', (response) => void wantJson(response)),
    spec('envelope', '§4.4, response envelope', 'code, message and payload', (response) =>
      wantKeys(response, '', ENVELOPE),
    ),
    decision('envelope.only', 'decision R6', 'no other field in the envelope', (response) =>
      wantNoOtherKeys(response, '', ENVELOPE),
    ),
    spec('code', '§7, rule 2', 'code is the integer 0', (response) => wantValue(response, 'code', 0)),
    spec('message', '§7, rule 2', 'message is Success', (response) =>
      wantValue(response, 'message', 'Success'),
    ),
    spec('payload', '§4.4, response envelope', 'the payload has recordsCount and data', (response) =>
      wantKeys(response, 'payload', PAYLOAD),
    ),
    decision('payload.only', 'decision R6', 'no other field in the payload', (response) =>
      wantNoOtherKeys(response, 'payload', PAYLOAD),
    ),
    spec(
      'recordsCount',
      '§4.4, response envelope',
      'recordsCount is an integer, the number of records',
      (response) => {
        const count = wantKind(response, 'payload.recordsCount', 'integer')
        const { length } = wantKind(response, 'payload.data', 'array') as unknown[]
        if (count !== length) fail(response, `recordsCount ${length}`, String(count))
      },
    ),
    spec('data', '§4.4, response envelope', 'data is an array of objects, with one at least', (response) => {
      for (const index of records(response).keys()) wantKind(response, `payload.data.${index}`, 'object')
    }),
    decision('no-number', 'decision C11', 'no card number stands anywhere in the response', (response) => {
      records(response)
      if (cardNumbersIn(response.text).length > 0)
        fail(response, 'only masked numbers', 'a whole card number')
    }),
  ]
})

const full: readonly Check[] = [
  specified(
    '4.4.incentive.record',
    '§4.4, incentive variant; §2.4',
    'incentive variant: the full card record, each field of its type',
    async (s) => {
      const response = await incentive(s)
      for (const row of CARD_FIELDS) wantCardField(response, `payload.data.0.${row.name}`, row)
      for (const row of FURTHER_FIELDS) wantFurtherField(response, `payload.data.0.${row.name}`, row)
    },
  ),
  decided(
    '4.4.incentive.further',
    'decision C12',
    'incentive variant: the further and the incentive fields are all there, in their forms',
    async (s) => {
      const response = await incentive(s)
      wantKeys(response, 'payload.data.0', namesOf([...FURTHER_FIELDS, ...INCENTIVE_FIELDS]))
      wantForms(response, 'payload.data.0', [...CARD_FIELDS, ...FURTHER_FIELDS])
    },
  ),
  specified(
    '4.4.incentive.one',
    '§4.4, svcCardId',
    'incentive variant: svcCardId finds that one card',
    async (s) => {
      const response = await incentive(s)
      wantValue(response, 'payload.data.0.svcCardId', await issuedCardId(s))
      const { length } = records(response)
      if (length !== 1) fail(response, 'payload.data: one record', `${length} records`)
    },
  ),
  decided(
    '4.4.incentive.fields',
    'decision R6',
    'incentive variant: no field beside the full record and the incentive fields',
    async (s) =>
      wantNoOtherKeys(
        await incentive(s),
        'payload.data.0',
        [...CARD_FIELDS, ...FURTHER_FIELDS, ...INCENTIVE_FIELDS].map(({ name }) => name),
      ),
  ),
  ...INCENTIVE_FIELDS.map((row) =>
    specified(
      `4.4.incentive.data.${row.name}`,
      '§2.4, incentive fields',
      `incentive variant: ${row.name} is ${row.words}, if it is there`,
      async (s) => wantFurtherField(await incentive(s), `payload.data.0.${row.name}`, row),
    ),
  ),
  decided(
    '4.4.incentive.same',
    'decision S1',
    'incentive variant: the card reads as its creation returned it',
    async (s) => {
      const card = at((await issued(s)).response, 'payload') as Record<string, unknown>
      const response = await incentive(s)
      for (const { name } of CARD_FIELDS) wantValue(response, `payload.data.0.${name}`, card[name] as string)
    },
  ),
  ...refuses(
    '4.4.incentive.svcCardId.missing',
    '§4.4, incentive variant',
    'incentive variant: svcCardId is required',
    (s) => s.search('incentivePartner', scopeOf(s, 'incentivePartner')),
  ),
]

const reduced: readonly Check[] = [
  specified('4.4.rewards.twelve', '§2.5', 'rewards variant: the record has the twelve fields', async (s) =>
    wantKeys(await one(s), 'payload.data.0', namesOf(REDUCED_FIELDS)),
  ),
  decided('4.4.rewards.only', 'decision R6', 'rewards variant: the record has no other field', async (s) =>
    wantNoOtherKeys(await one(s), 'payload.data.0', namesOf(REDUCED_FIELDS)),
  ),
  ...REDUCED_FIELDS.map((row) =>
    specified(
      `4.4.rewards.data.${row.name}`,
      `§2.5, ${row.name}`,
      `rewards variant: ${row.name} is there and is ${row.words}`,
      async (s) => wantCardField(await one(s), `payload.data.0.${row.name}`, row),
    ),
  ),
  decided(
    '4.4.rewards.same',
    'decision S1',
    'rewards variant: the twelve say what the creation said',
    async (s) => {
      const response = await one(s)
      const { card } = await rewarded(s)
      for (const { name } of REDUCED_FIELDS)
        wantValue(response, `payload.data.0.${name}`, at(card, `payload.${name}`) as string)
    },
  ),
  specified(
    '4.4.rewards.one',
    '§4.4, svcCardId',
    'rewards variant: svcCardId finds that one card',
    async (s) => {
      const response = await one(s)
      wantValue(response, 'payload.recordsCount', 1)
      wantValue(response, 'payload.data.0.svcCardId', (await rewarded(s)).svcCardId)
    },
  ),
]

export const SEARCH_CHECKS: readonly Check[] = [
  ...envelopes,
  ...full,
  ...reduced,
  ...SEARCH_ACCOUNT_CHECKS,
  ...SEARCH_REQUEST_CHECKS,
]
