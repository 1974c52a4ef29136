import { type Check, decided, specified } from '../check.ts'
import { fail, wantKeys, wantNoOtherKeys, wantText, wantValue } from '../expect.ts'
import { namesOf, REDUCED_FIELDS, wantCardField } from './card-fields.ts'
import { bothRewarded, everything, records, scopeOf } from './searched-cards.ts'

export const SEARCH_ACCOUNT_CHECKS: readonly Check[] = [
  specified(
    '4.4.account.all',
    '§4.4, svcCardId',
    'rewards variant: without svcCardId all cards of the account come, each once',
    async (s) => {
      const response = await everything(s)
      const ids = records(response).map((card) => card['svcCardId'])
      for (const id of await bothRewarded(s))
        if (!ids.includes(id)) fail(response, 'both cards that were just made, among all', `no ${id}`)
      if (new Set(ids).size !== ids.length) fail(response, 'each card once', 'one of them twice')
    },
  ),
  specified(
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
  decided('4.4.account.only', 'decision R6', 'rewards variant: no record has another field', async (s) => {
    const response = await everything(s)
    for (const index of records(response).keys())
      wantNoOtherKeys(response, `payload.data.${index}`, namesOf(REDUCED_FIELDS))
  }),
  specified(
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
  decided(
    '4.4.pages',
    'decision S3',
    'rewards variant: pages by limit and after add up to all cards',
    async (s) => {
      const all = await everything(s)
      const first = await s.search('rewardsPartner', { ...scopeOf(s, 'rewardsPartner'), limit: 1 })
      wantValue(first, 'payload.recordsCount', 1)
      const after = wantText(first, 'payload.next')
      const rest = await s.search('rewardsPartner', { ...scopeOf(s, 'rewardsPartner'), limit: 10_000, after })
      const ids = [...records(first), ...records(rest)].map((card) => card['svcCardId'])
      const wanted = records(all).map((card) => card['svcCardId'])
      if (wanted.some((id) => !ids.includes(id)) || new Set(ids).size !== ids.length)
        fail(rest, 'every card once, over the pages', `${ids.length} records for ${wanted.length} cards`)
    },
  ),
]
