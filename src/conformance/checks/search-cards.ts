import { type Check, must, ours } from '../check.ts'
import type { PartnerName } from '../credentials.ts'
import type { Answer } from '../exchange.ts'
import {
  at,
  fail,
  sameJson,
  wantFailure,
  wantJson,
  wantKeys,
  wantKind,
  wantRefused,
  wantSameRefusal,
  wantStatus,
  wantValue,
} from '../expect.ts'
import { cardNumbersIn } from '../redact.ts'
import type { Subject } from '../subject.ts'
import {
  CARD_FIELDS,
  FURTHER_FIELDS,
  INCENTIVE_FIELDS,
  namesOf,
  REDUCED_FIELDS,
  wantCardField,
} from './card-fields.ts'
import { HOLDER, issued, newMobile } from './create-card.ts'

const MISSING_CARD = 'card_00000000000000000000000000'
const MISSING_COMPANY = 'com_00000000000000000000000000'

const scopeOf = (subject: Subject, who: PartnerName) => {
  const { companyId, cardAccountId } = subject.partner(who)
  return { companyId, cardAccountId }
}

/** The incentive variant, for the card that the run has made. */
const incentive = (subject: Subject): Promise<Answer> =>
  subject.observe('a search for the created card', async () => {
    const svcCardId = at((await issued(subject)).answer, 'payload.svcCardId')
    return subject.search('incentivePartner', { ...scopeOf(subject, 'incentivePartner'), svcCardId })
  })

interface Rewarded {
  readonly svcCardId: string
  readonly mobile: string
  readonly card: Answer
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
const one = (subject: Subject): Promise<Answer> =>
  subject.observe('a search for one card of the rewards partner', async () => {
    const { svcCardId } = await rewarded(subject)
    return subject.search('rewardsPartner', { ...scopeOf(subject, 'rewardsPartner'), svcCardId })
  })
const everything = (subject: Subject): Promise<Answer> =>
  subject.observe('a search for all cards of the rewards partner', async () => {
    await rewarded(subject)
    return subject.search('rewardsPartner', scopeOf(subject, 'rewardsPartner'))
  })

const records = (answer: Answer): Record<string, unknown>[] =>
  wantKind(answer, 'payload.data', 'array') as Record<string, unknown>[]

const VARIANTS = [
  ['incentive', 'incentive variant', incentive],
  ['rewards', 'rewards variant, one card', one],
  ['account', 'rewards variant, all cards', everything],
] as const

const envelopes: readonly Check[] = VARIANTS.flatMap(([id, words, find]) => {
  const seen = (name: string, source: string, title: string, look: (answer: Answer) => void): Check =>
    must(`4.4.${id}.${name}`, source, `${words}: ${title}`, async (s) => look(await find(s)))
  return [
    seen('status', '§4.4, response envelope', 'status 200', (answer) => wantStatus(answer, 200)),
    seen('content-type', '§4, data formats', 'JSON, said to be so', (answer) => void wantJson(answer)),
    seen('envelope', '§4.4, response envelope', 'exactly code, message and payload', (answer) =>
      wantKeys(answer, '', ['code', 'message', 'payload']),
    ),
    seen('code', '§7, rule 2', 'code is the integer 0', (answer) => wantValue(answer, 'code', 0)),
    seen('message', '§7, rule 2', 'message is Success', (answer) => wantValue(answer, 'message', 'Success')),
    seen('payload', '§4.4, response envelope', 'the payload has exactly recordsCount and data', (answer) =>
      wantKeys(answer, 'payload', ['recordsCount', 'data']),
    ),
    seen(
      'recordsCount',
      '§4.4, response envelope',
      'recordsCount is an integer, the number of records',
      (answer) => {
        const count = wantKind(answer, 'payload.recordsCount', 'integer')
        if (count !== records(answer).length)
          fail(answer, `recordsCount ${records(answer).length}`, String(count))
      },
    ),
    seen('data', '§4.4, response envelope', 'data is an array of objects, with one at least', (answer) => {
      if (records(answer).length === 0) fail(answer, 'a record at least', 'none')
      wantKind(answer, 'payload.data.0', 'object')
    }),
    seen('no-number', '§2.4, maskedNumber', 'no card number stands anywhere in the answer', (answer) => {
      if (cardNumbersIn(answer.text).length > 0) fail(answer, 'only masked numbers', 'a whole card number')
    }),
  ]
})

const full: readonly Check[] = [
  must(
    '4.4.incentive.record',
    '§4.4, incentive variant; §2.4',
    'incentive variant: the full card record, each field of its type',
    async (s) => {
      const answer = await incentive(s)
      for (const row of [...CARD_FIELDS, ...FURTHER_FIELDS])
        wantCardField(answer, `payload.data.0.${row.name}`, row)
    },
  ),
  must(
    '4.4.incentive.fields',
    '§4.4, incentive variant; §2.4',
    'incentive variant: no field beside the full record and the incentive fields',
    async (s) =>
      wantKeys(
        await incentive(s),
        'payload.data.0',
        [],
        [...CARD_FIELDS, ...FURTHER_FIELDS, ...INCENTIVE_FIELDS].map(({ name }) => name),
      ),
  ),
  ...INCENTIVE_FIELDS.map((row) =>
    must(
      `4.4.incentive.data.${row.name}`,
      '§2.4, incentive fields',
      `incentive variant: ${row.name} is there and is ${row.words}`,
      async (s) => wantCardField(await incentive(s), `payload.data.0.${row.name}`, row),
    ),
  ),
  must(
    '4.4.incentive.same',
    '§4.4, incentive variant',
    'incentive variant: the card reads as its creation answered it',
    async (s) => {
      const card = at((await issued(s)).answer, 'payload') as Record<string, unknown>
      const answer = await incentive(s)
      for (const { name } of CARD_FIELDS)
        if (!sameJson(at(answer, `payload.data.0.${name}`), card[name]))
          wantValue(answer, `payload.data.0.${name}`, card[name] as string)
    },
  ),
  must(
    '4.4.incentive.svcCardId.missing',
    '§4.4, incentive variant',
    'incentive variant: svcCardId is required',
    async (s) => wantRefused(await s.search('incentivePartner', scopeOf(s, 'incentivePartner'))),
  ),
]

const reduced: readonly Check[] = [
  must(
    '4.4.rewards.twelve',
    '§2.5',
    'rewards variant: the record has the twelve fields and no other',
    async (s) => wantKeys(await one(s), 'payload.data.0', namesOf(REDUCED_FIELDS)),
  ),
  ...REDUCED_FIELDS.map((row) =>
    must(
      `4.4.rewards.data.${row.name}`,
      `§2.5, ${row.name}`,
      `rewards variant: ${row.name} is there and is ${row.words}`,
      async (s) => wantCardField(await one(s), `payload.data.0.${row.name}`, row),
    ),
  ),
  must('4.4.rewards.same', '§2.5', 'rewards variant: the twelve say what the creation said', async (s) => {
    const answer = await one(s)
    const { card } = await rewarded(s)
    for (const { name } of REDUCED_FIELDS)
      wantValue(answer, `payload.data.0.${name}`, at(card, `payload.${name}`) as string)
  }),
  must('4.4.rewards.one', '§4.4, svcCardId', 'rewards variant: svcCardId finds that one card', async (s) => {
    const answer = await one(s)
    wantValue(answer, 'payload.recordsCount', 1)
    wantValue(answer, 'payload.data.0.svcCardId', (await rewarded(s)).svcCardId)
  }),
  must(
    '4.4.account.all',
    '§4.4, svcCardId',
    'rewards variant: without svcCardId all cards of the account come, each once',
    async (s) => {
      const answer = await everything(s)
      const ids = records(answer).map((card) => card['svcCardId'])
      if (!ids.includes((await rewarded(s)).svcCardId))
        fail(answer, 'the card that was just made, among all', 'not there')
      if (new Set(ids).size !== ids.length) fail(answer, 'each card once', 'one of them twice')
    },
  ),
  must(
    '4.4.account.twelve',
    '§2.5',
    'rewards variant: every one of all cards has the twelve fields',
    async (s) => {
      const answer = await everything(s)
      for (const index of records(answer).keys()) {
        wantKeys(answer, `payload.data.${index}`, namesOf(REDUCED_FIELDS))
        for (const row of REDUCED_FIELDS) wantCardField(answer, `payload.data.${index}.${row.name}`, row)
      }
    },
  ),
  must(
    '4.4.account.scope',
    '§4.4',
    'rewards variant: every card is of the company and the account asked for',
    async (s) => {
      const answer = await everything(s)
      for (const [name, wanted] of Object.entries(scopeOf(s, 'rewardsPartner')))
        for (const index of records(answer).keys()) wantValue(answer, `payload.data.${index}.${name}`, wanted)
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
      must(
        `4.4.${variant}.${field}.missing`,
        `§4.4, ${field}`,
        `${variant} variant: ${field} is required`,
        async (s) => {
          const { [field]: _, ...rest } = request(s)
          wantRefused(await s.search(who, rest))
        },
      ),
      must(
        `4.4.${variant}.${field}.number`,
        `§4.4, ${field}`,
        `${variant} variant: ${field} as a number is refused`,
        async (s) => wantRefused(await s.search(who, { ...request(s), [field]: 7 })),
      ),
    ]),
    must(
      `4.4.${variant}.svcCardId.number`,
      '§4.4, svcCardId',
      `${variant} variant: svcCardId as a number is refused`,
      async (s) => wantRefused(await s.search(who, { ...request(s), svcCardId: 7 })),
    ),
    ours(
      `4.4.${variant}.nothing`,
      'decision S2',
      `${variant} variant: a card that does not exist is an empty result`,
      async (s) => {
        const answer = await s.search(who, request(s))
        wantStatus(answer, 200)
        wantValue(answer, 'payload', { data: [], recordsCount: 0 })
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
      `${variant} variant: another partner’s company is answered like one that does not exist`,
      async (s) => {
        const theirs = { ...request(s), ...scopeOf(s, 'otherPartner') }
        const none = { ...theirs, companyId: MISSING_COMPANY }
        wantSameRefusal(
          await s.search(who, theirs),
          await s.search(who, none),
          'the answer to a missing company',
        )
      },
    ),
    ours(
      `4.4.${variant}.unknown-field`,
      'decision C14',
      `${variant} variant: an unknown field is refused by name`,
      async (s) =>
        wantFailure(
          await s.search(who, { ...request(s), svcCardID: 'x' }),
          400,
          'validation_failed',
          'svcCardID',
        ),
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
  must(
    '4.4.foreign-scope',
    '§4.4, §5.4',
    'A partner sees no card of another partner’s company',
    async (s) => {
      const answer = await s.search('rewardsPartner', scopeOf(s, 'otherPartner'))
      const data = at(answer, 'payload.data')
      if (Array.isArray(data) && data.length > 0) fail(answer, 'no record', `${data.length} records`)
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
  ours('4.4.sealed-many', 'decision S3', 'A sealed answer holds one card: more are 406', async (s) =>
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
