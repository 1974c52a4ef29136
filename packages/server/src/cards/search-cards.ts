import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import type { CardProduct } from '@svc/core/cards/account/card-account'
import { looksLikeCardId } from '@svc/core/cards/card/card'
import { cardFormOf, IncentiveRecord, toIncentiveRecord } from '@svc/core/cards/card/card-record'
import { cardLookup } from '@svc/core/cards/card/card-view'
import { reducedPages } from '@svc/core/cards/card/reduced-pages'
import { ReducedRecord, toReducedRecord } from '@svc/core/cards/card/reduced-record'
import { BatchedLookup, type PointKey } from '@svc/platform/db/batched-lookup'
import type { Database } from '@svc/platform/db/database'
import { type Statement, statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { PARTNER_ID, streamingQuery, succeedWithCode } from '../http/operation.ts'
import { limitInBody, refuseCursor } from '../http/page.ts'
import { StreamSlots, streamWhileValid } from '../http/stream-slots.ts'

/** Largest page of an account (decision S3). */
const CARDS_MAX = 10_000
/** Whole accounts that one partner may stream at a time (decision S3). */
const STREAMS_MAX = 2

const SearchRequest = Type.Object(
  {
    cardAccountId: Type.String(),
    companyId: Type.String(),
    svcCardId: Type.Optional(
      Type.String({
        description: 'One card. Required for incentive partners; without it all cards are returned',
      }),
    ),
    limit: limitInBody(CARDS_MAX, 'Return at most so many, and `next` if there are more'),
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

interface AccountRow {
  partner_id: string
  card_account_id: string
  company_id: string
  product: CardProduct
  /** Of the partner. */
  products: CardProduct[]
}

const ACCOUNTS = statement<AccountRow>(
  'card_search_accounts',
  `select a.partner_id, a.card_account_id, a.company_id, a.product, p.products
   from card_accounts a join partners p using (partner_id)
   where (a.partner_id, a.card_account_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const COMPANIES = statement<{ partner_id: string; company_id: string }>(
  'card_search_companies',
  `select partner_id, company_id from companies
   where (partner_id, company_id) in (select * from unnest($1::text[], $2::text[]))`,
)

/** Spec §4.4. Both documented variants; the partner's product says which (decision S1). */
export const searchCards = streamingQuery({
  id: 'searchCards',
  method: 'POST',
  safe: true,
  path: '/api/v0/partner/svcCard/search',
  tag: 'Cards',
  summary: 'Search cards',
  description:
    'Incentive partners name one card and get its full record. Employee-rewards partners get the twelve-field record of one card, or of all cards of the account: as a stream, complete when `recordsCount` has come.',
  developing: true,
  ignores: ['query'],
  auth: 'partnerSession',
  scope: 'cards:read',
  envelope: 'code',
  encrypted: 'response',
  headers: {
    partnerId: PARTNER_ID,
    Cookie: {
      description: 'The session cookie that came with the token, in the `Cookie` header.',
      required: true,
      cookie: 'SVCSESSION',
    },
  },
  body: SearchRequest,
  result: SearchResult,
  errors: ['company_not_found', 'card_account_not_found', 'too_many_streams'],

  mount({ clock, config, database }) {
    const findCard = cardLookup(database, clock, config.BUSINESS_TIME_ZONE)
    const findScope = scopeLookup(database)
    const streams = new StreamSlots(STREAMS_MAX)

    return async ({ caller, body }) => {
      const { tenantId: partnerId } = caller
      const { companyId, cardAccountId, svcCardId, limit, after } = body
      const product = await findScope(partnerId, companyId, cardAccountId)
      if (product === 'incentive' && svcCardId === undefined)
        failField('svcCardId', 'required', 'is required')
      if (after !== undefined && !looksLikeCardId(after)) refuseCursor('body')
      if (svcCardId === undefined) {
        const pages = reducedPages(database, {
          partnerId,
          companyId,
          cardAccountId,
          after: after ?? '',
          limit,
        })
        // A page is at most `limit` cards; only a response without bounds counts as a stream (decision S3).
        return {
          body:
            limit === undefined
              ? streams.stream(partnerId, caller, () => pages)
              : streamWhileValid(caller, pages),
        }
      }
      const view = await findCard(partnerId, svcCardId)
      const fits = view && view.card.companyId === companyId && view.card.cardAccountId === cardAccountId
      const record =
        product === 'incentive'
          ? (v: typeof view) => toIncentiveRecord(v!, cardFormOf(config))
          : (v: typeof view) => toReducedRecord(v!)
      return { body: succeedWithCode({ data: fits ? [record(view)] : [], recordsCount: fits ? 1 : 0 }) }
    }
  },
})

/** Finds the account that is searched, 404 when it is not the partner's; returns the product that decides the variant. */
function scopeLookup(database: Database) {
  const read =
    <Row>(of: Statement<Row>) =>
    (keys: readonly PointKey[]) => {
      const tenants = keys.map(({ tenantId }) => tenantId)
      return database.read(tenants, (tx) => tx.query(of, [tenants, keys.map(({ id }) => id)]))
    }
  const accounts = new BatchedLookup<AccountRow>(read(ACCOUNTS), (row) => ({
    tenantId: row.partner_id,
    id: row.card_account_id,
  }))
  const companies = new BatchedLookup<{ partner_id: string; company_id: string }>(read(COMPANIES), (row) => ({
    tenantId: row.partner_id,
    id: row.company_id,
  }))
  return async (partnerId: string, companyId: string, cardAccountId: string): Promise<CardProduct> => {
    const account = await accounts.get(partnerId, cardAccountId)
    if (account?.company_id === companyId)
      return account.products.length === 1 ? account.products[0]! : account.product
    const company = await companies.get(partnerId, companyId)
    return fail(company ? 'card_account_not_found' : 'company_not_found')
  }
}
