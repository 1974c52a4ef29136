import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { fail } from '../errors.ts'
import type { Database } from '../platform/db/database.ts'
import { PointRead } from '../platform/db/point-read.ts'
import { columns, statement } from '../platform/db/statement.ts'
import { query, succeedWithCode } from '../platform/http/operation.ts'
import { looksLikeCardId } from './card.ts'
import type { CardProduct } from './card-account.ts'
import { IncentiveRecord, ReducedRecord, toIncentiveRecord, toReducedRecord } from './card-record.ts'
import { cardLookup } from './card-view.ts'
import { reducedPages } from './reduced-pages.ts'

/** Whole accounts that one partner may stream at a time (decision S3). */
const STREAMS_MAX = 2

const SearchRequest = Type.Object(
  {
    cardAccountId: Type.String({ maxLength: 64 }),
    companyId: Type.String({ maxLength: 64 }),
    svcCardId: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'One card. Required for incentive partners; without it all cards are answered',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000,
        description: 'Answer at most so many, and `next` if there are more',
      }),
    ),
    after: Type.Optional(Type.String({ maxLength: 64, description: 'The `next` of the page before' })),
  },
  { additionalProperties: false },
)

const SearchResult = Type.Object(
  {
    data: Type.Array(Type.Unsafe({ anyOf: [IncentiveRecord, ReducedRecord] })),
    recordsCount: Type.Integer({ description: 'Records in `data`' }),
    next: Type.Optional(
      Type.String({ description: 'With `limit`: pass it back as `after` for the next page' }),
    ),
  },
  { additionalProperties: false },
)

interface Scope {
  partner_id: string
  company_id: string
  card_account_id: string | null
  product: CardProduct | null
  products: CardProduct[]
}

const SCOPES = statement<Scope>(
  'card_search_scopes',
  `select co.partner_id, co.company_id, a.card_account_id, a.product, p.products
   from companies co join partners p using (partner_id)
   left join (
     select a.* from card_accounts a join unnest($1::text[], $2::text[], $3::text[]) as w (partner_id, company_id, card_account_id)
       using (partner_id, company_id, card_account_id)) a
     on a.partner_id = co.partner_id and a.company_id = co.company_id
   where (co.partner_id, co.company_id) in (select * from unnest($1::text[], $2::text[]))`,
)

/** Spec §4.4. Both documented variants; the partner's product says which (decision S1). */
export const searchCards = query({
  id: 'searchCards',
  method: 'POST',
  path: '/api/v0/partner/svcCard/search',
  tag: 'Cards',
  summary: 'Search cards',
  description:
    'Incentive partners name one card and get its full record. Employee-rewards partners get the twelve-field record of one card, or of all cards of the account: as a stream, complete when `recordsCount` has come.',
  developing: true,
  auth: 'partnerSession',
  family: 'code',
  sealed: 'answer',
  headers: {
    partnerId: 'The partner’s id, shared at sign-up (required)',
    Cookie: 'The `SVCSESSION` cookie that came with the token (required)',
  },
  body: SearchRequest,
  result: SearchResult,
  errors: ['company_not_found', 'card_account_not_found', 'too_many_streams'],

  mount({ clock, config, database }) {
    const findCard = cardLookup(database, clock, config.BUSINESS_TIME_ZONE)
    const findScope = scopeLookup(database)
    const streams = new Map<string, number>()

    function stream(partnerId: string, pages: AsyncGenerator<string>): Readable {
      const running = streams.get(partnerId) ?? 0
      if (running >= STREAMS_MAX) fail('too_many_streams', { retryAfterSeconds: 1 })
      streams.set(partnerId, running + 1)
      const readable = Readable.from(pages, { objectMode: false })
      readable.once('close', () => {
        const left = streams.get(partnerId)! - 1
        if (left > 0) streams.set(partnerId, left)
        else streams.delete(partnerId)
      })
      return readable
    }

    return async ({ caller: { tenantId: partnerId }, body }) => {
      const { companyId, cardAccountId, svcCardId, limit, after } = body
      const product = await findScope(partnerId, companyId, cardAccountId)
      if (product === 'incentive' && svcCardId === undefined)
        fail('validation_failed', { description: 'svcCardId: is required' })
      if (after !== undefined && !looksLikeCardId(after))
        fail('validation_failed', { description: 'after: must be the next of a former page' })
      if (svcCardId === undefined) {
        const pages = reducedPages(database, {
          partnerId,
          companyId,
          cardAccountId,
          after: after ?? '',
          limit,
        })
        return { body: stream(partnerId, pages) }
      }
      const view = await findCard(partnerId, svcCardId)
      const fits = view && view.card.companyId === companyId && view.card.cardAccountId === cardAccountId
      const record =
        product === 'incentive'
          ? (v: typeof view) => toIncentiveRecord(v!, config.BUSINESS_TIME_ZONE)
          : (v: typeof view) => toReducedRecord(v!)
      return { body: succeedWithCode({ data: fits ? [record(view)] : [], recordsCount: fits ? 1 : 0 }) }
    }
  },
})

/** Finds the account that is searched, 404 when it is not the partner's; answers the product that decides the variant. */
function scopeLookup(database: Database) {
  const scopes = new PointRead<Scope & { asked: string }>(
    async (keys) => {
      const asked = keys.map(({ tenantId, id }) => [tenantId, ...id.split(' ')] as const)
      const rows = await database.read(
        keys.map((key) => key.tenantId),
        (tx) =>
          tx.query(
            SCOPES,
            columns(
              asked,
              (a) => a[0],
              (a) => a[1],
              (a) => a[2],
            ),
          ),
      )
      return asked.flatMap(([partner, company, account]) => {
        const ofCompany = rows.filter((row) => row.partner_id === partner && row.company_id === company)
        const [first] = ofCompany
        if (!first) return []
        const exact = ofCompany.find((row) => row.card_account_id === account)
        return [{ ...(exact ?? { ...first, card_account_id: null }), asked: `${company} ${account}` }]
      })
    },
    ({ partner_id: tenantId, asked }) => ({ tenantId, id: asked }),
  )
  return async (partnerId: string, companyId: string, cardAccountId: string): Promise<CardProduct> => {
    // Ids with a space cannot be ours, and would blur the pair.
    const known = /^[a-z0-9_]+ [a-z0-9_]+$/.test(`${companyId} ${cardAccountId}`)
    const scope =
      (known ? await scopes.get(partnerId, `${companyId} ${cardAccountId}`) : undefined) ??
      fail('company_not_found')
    if (!scope.card_account_id) fail('card_account_not_found')
    return scope.products.length === 1 ? scope.products[0]! : scope.product!
  }
}
