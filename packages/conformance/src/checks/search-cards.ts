import { type Check, must, ours, refuses } from '../check.ts'
import type { PartnerName } from '../credentials.ts'
import type { HttpResponse } from '../exchange.ts'
import {
  at,
  fail,
  sameJson,
  wantFailure,
  wantJson,
  wantKeys,
  wantKind,
  wantNoOtherKeys,
  wantRefused,
  wantSameRefusal,
  wantStatus,
  wantValue,
} from '../expect.ts'
import { wantUnknownField } from '../interpretation.ts'
import { cardNumbersIn } from '../redact.ts'
import type { Subject } from '../subject.ts'
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
import { HOLDER, issued, newMobile } from './create-card.ts'
import { issuedCardId } from './issued-card.ts'

const MISSING_CARD = 'card_00000000000000000000000000'
const MISSING_COMPANY = 'com_00000000000000000000000000'

const scopeOf = (subject: Subject, who: PartnerName) => {
  const { companyId, cardAccountId } = subject.partner(who)
  return { companyId, cardAccountId }
}

/** The incentive variant, for the card that the run has made. */
const incentive = (subject: Subject): Promise<HttpResponse> =>
  subject.observe('a search for the created card', async () => {
    const svcCardId = await issuedCardId(subject)
    return subject.search('incentivePartner', { ...scopeOf(subject, 'incentivePartner'), svcCardId })
  })

interface Rewarded {
  readonly svcCardId: string
  readonly mobile: string
  readonly card: HttpResponse
}

const rewarded = (subject: Subject): Promise<Rewarded> =>
  subject.once('a card of the rewards partner', async () => {
    const mobile = newMobile()
    const { title, firstName, lastName } = HOLDER
    const order = subject.orderOf('rewardsPartner', { title, firstName, lastName, mobile })
    const card = await subject.createCard(order, { who: 'rewardsPartner' })
    wantStatus(card, 200)
    return { svcCardId: wantKind(card, 'payload.svcCardId', 'string') as string, mobile, card }
  })

/** The rewards variant for one card, and for all of the account. */
const one = (subject: Subject): Promise<HttpResponse> =>
  subject.observe('a search for one card of the rewards partner', async () => {
    const { svcCardId } = await rewarded(subject)
    return subject.search('rewardsPartner', { ...scopeOf(subject, 'rewardsPartner'), svcCardId })
  })
const everything = (subject: Subject): Promise<HttpResponse> =>
  subject.observe('a search for all cards of the rewards partner', async () => {
    await rewarded(subject)
    return subject.search('rewardsPartner', scopeOf(subject, 'rewardsPartner'))
  })

const records = (response: HttpResponse): Record<string, unknown>[] =>
  wantKind(response, 'payload.data', 'array') as Record<string, unknown>[]

const VARIANTS = [
  ['incentive', 'incentive variant', incentive],
  ['rewards', 'rewards variant, one card', one],
  ['account', 'rewards variant, all cards', everything],
] as const

const ENVELOPE = ['code', 'message', 'payload']
const PAYLOAD = ['recordsCount', 'data']

const envelopes: readonly Check[] = VARIANTS.flatMap(([id, words, find]) => {
  const seen = (name: string, source: string, title: string, look: (response: HttpResponse) => void): Check =>
    must(`4.4.${id}.${name}`, source, `${words}: ${title}`, async (s) => look(await find(s)))
  const own: typeof seen = (name, source, title, look) => ({
    ...seen(name, source, title, look),
    severity: 'ours',
  })
  return [
    seen('status', '§4.4, response envelope', 'status 200', (response) => wantStatus(response, 200)),
    seen('content-type', '§4, data formats', 'JSON, said to be so', (response) => void wantJson(response)),
    seen('envelope', '§4.4, response envelope', 'code, message and payload', (response) =>
      wantKeys(response, '', ENVELOPE),
    ),
    own('envelope.only', 'decision R6', 'no other field in the envelope', (response) =>
      wantNoOtherKeys(response, '', ENVELOPE),
    ),
    seen('code', '§7, rule 2', 'code is the integer 0', (response) => wantValue(response, 'code', 0)),
    seen('message', '§7, rule 2', 'message is Success', (response) =>
      wantValue(response, 'message', 'Success'),
    ),
    seen('payload', '§4.4, response envelope', 'the payload has recordsCount and data', (response) =>
      wantKeys(response, 'payload', PAYLOAD),
    ),
    own('payload.only', 'decision R6', 'no other field in the payload', (response) =>
      wantNoOtherKeys(response, 'payload', PAYLOAD),
    ),
    seen(
      'recordsCount',
      '§4.4, response envelope',
      'recordsCount is an integer, the number of records',
      (response) => {
        const count = wantKind(response, 'payload.recordsCount', 'integer')
        if (count !== records(response).length)
          fail(response, `recordsCount ${records(response).length}`, String(count))
      },
    ),
    seen('data', '§4.4, response envelope', 'data is an array of objects, with one at least', (response) => {
      if (records(response).length === 0) fail(response, 'a record at least', 'none')
      wantKind(response, 'payload.data.0', 'object')
    }),
    own('no-number', 'decision C11', 'no card number stands anywhere in the response', (response) => {
      if (cardNumbersIn(response.text).length > 0)
        fail(response, 'only masked numbers', 'a whole card number')
    }),
  ]
})

const full: readonly Check[] = [
  must(
    '4.4.incentive.record',
    '§4.4, incentive variant; §2.4',
    'incentive variant: the full card record, each field of its type',
    async (s) => {
      const response = await incentive(s)
      for (const row of CARD_FIELDS) wantCardField(response, `payload.data.0.${row.name}`, row)
      for (const row of FURTHER_FIELDS) wantFurtherField(response, `payload.data.0.${row.name}`, row)
    },
  ),
  ours(
    '4.4.incentive.further',
    'decision C12',
    'incentive variant: the further and the incentive fields are all there, in their forms',
    async (s) => {
      const response = await incentive(s)
      wantKeys(response, 'payload.data.0', namesOf([...FURTHER_FIELDS, ...INCENTIVE_FIELDS]))
      wantForms(response, 'payload.data.0', [...CARD_FIELDS, ...FURTHER_FIELDS])
    },
  ),
  must(
    '4.4.incentive.one',
    '§4.4, svcCardId',
    'incentive variant: svcCardId finds that one card',
    async (s) => wantValue(await incentive(s), 'payload.data.0.svcCardId', await issuedCardId(s)),
  ),
  ours(
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
    must(
      `4.4.incentive.data.${row.name}`,
      '§2.4, incentive fields',
      `incentive variant: ${row.name} is ${row.words}, if it is there`,
      async (s) => wantFurtherField(await incentive(s), `payload.data.0.${row.name}`, row),
    ),
  ),
  ours(
    '4.4.incentive.same',
    'decision S1',
    'incentive variant: the card reads as its creation returned it',
    async (s) => {
      const card = at((await issued(s)).response, 'payload') as Record<string, unknown>
      const response = await incentive(s)
      for (const { name } of CARD_FIELDS)
        if (!sameJson(at(response, `payload.data.0.${name}`), card[name]))
          wantValue(response, `payload.data.0.${name}`, card[name] as string)
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
  must('4.4.rewards.twelve', '§2.5', 'rewards variant: the record has the twelve fields', async (s) =>
    wantKeys(await one(s), 'payload.data.0', namesOf(REDUCED_FIELDS)),
  ),
  ours('4.4.rewards.only', 'decision R6', 'rewards variant: the record has no other field', async (s) =>
    wantNoOtherKeys(await one(s), 'payload.data.0', namesOf(REDUCED_FIELDS)),
  ),
  ...REDUCED_FIELDS.map((row) =>
    must(
      `4.4.rewards.data.${row.name}`,
      `§2.5, ${row.name}`,
      `rewards variant: ${row.name} is there and is ${row.words}`,
      async (s) => wantCardField(await one(s), `payload.data.0.${row.name}`, row),
    ),
  ),
  ours(
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
  must('4.4.rewards.one', '§4.4, svcCardId', 'rewards variant: svcCardId finds that one card', async (s) => {
    const response = await one(s)
    wantValue(response, 'payload.recordsCount', 1)
    wantValue(response, 'payload.data.0.svcCardId', (await rewarded(s)).svcCardId)
  }),
  must(
    '4.4.account.all',
    '§4.4, svcCardId',
    'rewards variant: without svcCardId all cards of the account come, each once',
    async (s) => {
      const response = await everything(s)
      const ids = records(response).map((card) => card['svcCardId'])
      if (!ids.includes((await rewarded(s)).svcCardId))
        fail(response, 'the card that was just made, among all', 'not there')
      if (new Set(ids).size !== ids.length) fail(response, 'each card once', 'one of them twice')
    },
  ),
  must(
    '4.4.account.twelve',
    '§2.5',
    'rewards variant: every one of all cards has the twelve fields',
    async (s) => {
      const response = await everything(s)
      for (const index of records(response).keys()) {
        wantKeys(response, `payload.data.${index}`, namesOf(REDUCED_FIELDS))
        for (const row of REDUCED_FIELDS) wantCardField(response, `payload.data.${index}.${row.name}`, row)
      }
    },
  ),
  ours('4.4.account.only', 'decision R6', 'rewards variant: no record has another field', async (s) => {
    const response = await everything(s)
    for (const index of records(response).keys())
      wantNoOtherKeys(response, `payload.data.${index}`, namesOf(REDUCED_FIELDS))
  }),
  must(
    '4.4.account.scope',
    '§4.4',
    'rewards variant: every card is of the company and the account asked for',
    async (s) => {
      const response = await everything(s)
      for (const [name, wanted] of Object.entries(scopeOf(s, 'rewardsPartner')))
        for (const index of records(response).keys())
          wantValue(response, `payload.data.${index}.${name}`, wanted)
    },
  ),
  ours(
    '4.4.pages',
    'decision S3',
    'rewards variant: pages by limit and after add up to all cards',
    async (s) => {
      await rewarded(s)
      const [first, all] = [
        await s.search('rewardsPartner', { ...scopeOf(s, 'rewardsPartner'), limit: 2 }),
        await everything(s),
      ]
      const after = at(first, 'payload.next')
      wantValue(first, 'payload.recordsCount', Math.min(2, records(all).length))
      if (records(all).length <= 2) return
      const rest = await s.search('rewardsPartner', { ...scopeOf(s, 'rewardsPartner'), limit: 10_000, after })
      const ids = [...records(first), ...records(rest)].map((card) => card['svcCardId'])
      const wanted = records(all).map((card) => card['svcCardId'])
      if (wanted.some((id) => !ids.includes(id)) || new Set(ids).size !== ids.length)
        fail(rest, 'every card once, over the pages', `${ids.length} records for ${wanted.length} cards`)
    },
  ),
]

const requests: readonly Check[] = (['incentivePartner', 'rewardsPartner'] as const).flatMap((who) => {
  const variant = who === 'incentivePartner' ? 'incentive' : 'rewards'
  const request = (subject: Subject) => ({ ...scopeOf(subject, who), svcCardId: MISSING_CARD })
  return [
    ...(['companyId', 'cardAccountId'] as const).flatMap((field) => [
      ...refuses(
        `4.4.${variant}.${field}.missing`,
        `§4.4, ${field}`,
        `${variant} variant: ${field} is required`,
        (s) => {
          const { [field]: _, ...rest } = request(s)
          return s.search(who, rest)
        },
      ),
      ours(
        `4.4.${variant}.${field}.number`,
        'decision C14',
        `${variant} variant: ${field} as a number is refused`,
        async (s) => wantRefused(await s.search(who, { ...request(s), [field]: 7 })),
      ),
    ]),
    ours(
      `4.4.${variant}.svcCardId.number`,
      'decision C14',
      `${variant} variant: svcCardId as a number is refused`,
      async (s) => wantRefused(await s.search(who, { ...request(s), svcCardId: 7 })),
    ),
    ours(
      `4.4.${variant}.nothing`,
      'decision S2',
      `${variant} variant: a card that does not exist is an empty result`,
      async (s) => {
        const response = await s.search(who, request(s))
        wantStatus(response, 200)
        wantValue(response, 'payload', { data: [], recordsCount: 0 })
      },
    ),
    ours(
      `4.4.${variant}.company`,
      'decision S2',
      `${variant} variant: an unknown company is 404`,
      async (s) =>
        wantFailure(
          await s.search(who, { ...request(s), companyId: MISSING_COMPANY }),
          404,
          'company_not_found',
        ),
    ),
    ours(
      `4.4.${variant}.foreign-company`,
      'decision A10',
      `${variant} variant: another partner’s company gets the same response as one that does not exist`,
      async (s) => {
        const theirs = { ...request(s), ...scopeOf(s, 'otherPartner') }
        const none = { ...theirs, companyId: MISSING_COMPANY }
        wantSameRefusal(
          await s.search(who, theirs),
          await s.search(who, none),
          'the response to a missing company',
        )
      },
    ),
    ours(
      `4.4.${variant}.unknown-field`,
      'decision C14',
      `${variant} variant: an unknown field is refused by name`,
      async (s) =>
        void (await wantUnknownField(s, await s.search(who, { ...request(s), svcCardID: 'x' }), 'svcCardID')),
    ),
  ]
})

const tenants: readonly Check[] = [
  ours(
    '4.4.foreign-card',
    'decision A10',
    'Another partner’s card is an empty result, like a card that does not exist',
    async (s) => {
      const { svcCardId } = await rewarded(s)
      const theirs = await s.search('incentivePartner', { ...scopeOf(s, 'incentivePartner'), svcCardId })
      const none = await s.search('incentivePartner', {
        ...scopeOf(s, 'incentivePartner'),
        svcCardId: MISSING_CARD,
      })
      if (theirs.status !== none.status || theirs.text !== none.text) fail(theirs, none.text, theirs.text)
    },
  ),
  ours(
    '4.4.foreign-scope',
    'decision A10',
    'A partner sees no card of another partner’s company',
    async (s) => {
      const response = await s.search('rewardsPartner', scopeOf(s, 'otherPartner'))
      const data = at(response, 'payload.data')
      if (Array.isArray(data) && data.length > 0) fail(response, 'no record', `${data.length} records`)
    },
  ),
  ours('4.4.limit.least', 'decision S3', 'limit 0 is refused', async (s) =>
    wantFailure(
      await s.search('rewardsPartner', { ...scopeOf(s, 'rewardsPartner'), limit: 0 }),
      400,
      'validation_failed',
      'limit',
    ),
  ),
  ours('4.4.limit.most', 'decision S3', 'limit 10,001 is refused', async (s) =>
    wantFailure(
      await s.search('rewardsPartner', { ...scopeOf(s, 'rewardsPartner'), limit: 10_001 }),
      400,
      'validation_failed',
      'limit',
    ),
  ),
  ours('4.4.encrypted-many', 'decision S3', 'An encrypted response holds one card: more are 406', async (s) =>
    wantFailure(
      await s.search(
        'rewardsPartner',
        { ...scopeOf(s, 'rewardsPartner'), limit: 2 },
        { accept: 'application/jose' },
      ),
      406,
      'not_acceptable',
    ),
  ),
]

export const SEARCH_CHECKS: readonly Check[] = [...envelopes, ...full, ...reduced, ...requests, ...tenants]
