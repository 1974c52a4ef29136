import { type Check, decided, refuses } from '../check.ts'
import { at, fail, wantFailure, wantRefused, wantSameRefusal, wantStatus, wantValue } from '../expect.ts'
import { wantUnknownField } from '../interpretation.ts'
import type { Subject } from '../subject.ts'
import { issuedCardId } from './issued-card.ts'
import { foreign, rewarded, scopeOf } from './searched-cards.ts'

const MISSING_CARD = 'card_00000000000000000000000000'
const MISSING_COMPANY = 'com_00000000000000000000000000'

type Searcher = 'incentivePartner' | 'rewardsPartner'
const SEARCHERS: readonly Searcher[] = ['incentivePartner', 'rewardsPartner']
const variantOf = (who: Searcher): string => (who === 'incentivePartner' ? 'incentive' : 'rewards')

/** For a card that is there, so that nothing but the field in question is wrong. */
const sound = async (subject: Subject, who: Searcher) => ({
  ...scopeOf(subject, who),
  svcCardId: who === 'incentivePartner' ? await issuedCardId(subject) : (await rewarded(subject)).svcCardId,
})

const fields: readonly Check[] = SEARCHERS.flatMap((who) => {
  const variant = variantOf(who)
  return [
    ...(['companyId', 'cardAccountId'] as const).flatMap((field) => [
      ...refuses(
        `4.4.${variant}.${field}.missing`,
        `§4.4, ${field}`,
        `${variant} variant: ${field} is required`,
        async (s) => {
          const { [field]: _, ...rest } = await sound(s, who)
          return s.search(who, rest)
        },
      ),
      decided(
        `4.4.${variant}.${field}.number`,
        'decision C14',
        `${variant} variant: ${field} as a number is refused`,
        async (s) => wantRefused(await s.search(who, { ...(await sound(s, who)), [field]: 7 })),
      ),
    ]),
    decided(
      `4.4.${variant}.svcCardId.number`,
      'decision C14',
      `${variant} variant: svcCardId as a number is refused`,
      async (s) => wantRefused(await s.search(who, { ...(await sound(s, who)), svcCardId: 7 })),
    ),
  ]
})

const requests: readonly Check[] = SEARCHERS.flatMap((who) => {
  const variant = variantOf(who)
  return [
    decided(
      `4.4.${variant}.nothing`,
      'decision S2',
      `${variant} variant: a card that does not exist is an empty result`,
      async (s) => {
        const response = await s.search(who, { ...scopeOf(s, who), svcCardId: MISSING_CARD })
        wantStatus(response, 200)
        wantValue(response, 'payload', { data: [], recordsCount: 0 })
      },
    ),
    decided(
      `4.4.${variant}.company`,
      'decision S2',
      `${variant} variant: an unknown company is 404`,
      async (s) =>
        wantFailure(
          await s.search(who, { ...(await sound(s, who)), companyId: MISSING_COMPANY }),
          404,
          'company_not_found',
        ),
    ),
    decided(
      `4.4.${variant}.foreign-company`,
      'decision A10',
      `${variant} variant: another partner’s company gets the same response as one that does not exist`,
      async (s) => {
        const theirs = { ...(await sound(s, who)), ...scopeOf(s, 'otherPartner') }
        const none = { ...theirs, companyId: MISSING_COMPANY }
        wantSameRefusal(
          await s.search(who, theirs),
          await s.search(who, none),
          'the response to a missing company',
        )
      },
    ),
    decided(
      `4.4.${variant}.unknown-field`,
      'decision C14',
      `${variant} variant: an unknown field is refused by name`,
      async (s) =>
        void (await wantUnknownField(
          s,
          await s.search(who, { ...(await sound(s, who)), svcCardID: 'x' }),
          'svcCardID',
        )),
    ),
  ]
})

const tenants: readonly Check[] = [
  decided(
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
      wantStatus(none, 200)
      wantValue(none, 'payload.data', [])
      if (theirs.status !== none.status || theirs.text !== none.text) fail(theirs, none.text, theirs.text)
    },
  ),
  decided(
    '4.4.foreign-scope',
    'decision A10',
    'A partner sees no card of another partner’s company',
    async (s) => {
      await foreign(s)
      const response = await s.search('rewardsPartner', scopeOf(s, 'otherPartner'))
      const data = at(response, 'payload.data')
      if (Array.isArray(data) && data.length > 0) fail(response, 'no record', `${data.length} records`)
    },
  ),
  decided('4.4.limit.least', 'decision S3', 'limit 0 is refused', async (s) =>
    wantFailure(
      await s.search('rewardsPartner', { ...scopeOf(s, 'rewardsPartner'), limit: 0 }),
      400,
      'validation_failed',
      'limit',
    ),
  ),
  decided('4.4.limit.most', 'decision S3', 'limit 10,001 is refused', async (s) =>
    wantFailure(
      await s.search('rewardsPartner', { ...scopeOf(s, 'rewardsPartner'), limit: 10_001 }),
      400,
      'validation_failed',
      'limit',
    ),
  ),
  decided(
    '4.4.encrypted-many',
    'decision S3',
    'An encrypted response to a search for more than one card is 406',
    async (s) =>
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

export const SEARCH_REQUEST_CHECKS: readonly Check[] = [...fields, ...requests, ...tenants]
