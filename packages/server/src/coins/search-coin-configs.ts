import { type CoinConfig, CoinConfigRecord, coinConfigs, toWire } from '@svc/core/coins/coin-config'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { Instant, readInstant } from '../http/fields.ts'
import { query, succeed } from '../http/operation.ts'
import { PAGE_IN_BODY, PageOf, page, readPage } from '../http/page.ts'

const exact = Type.Optional(Type.String({ minLength: 1, maxLength: 64 }))

const SearchRequest = Type.Object(
  {
    status: Type.Optional(Type.Enum(['ACTIVE', 'INACTIVE'])),
    configuration: Type.Optional(Type.Enum(['DEFAULT', 'CUSTOM'])),
    event: exact,
    companyId: Type.Optional(Type.String({ minLength: 1 })),
    validAt: Type.Optional(Instant('Valid at this instant')),
    ...PAGE_IN_BODY,
  },
  { additionalProperties: false },
)

const SEARCH = statement<CoinConfig>(
  'coin_configs_search',
  `select ${coinConfigs.columns} from coin_configs c
   where c.partner_id = $1
     and ($2::text is null or c.status = $2)
     and ($3::text is null or c.configuration = $3)
     and ($4::text is null or c.event = $4)
     and ($5::text is null or c.company_id = $5)
     and ($6::timestamptz is null or (c.valid_from <= $6 and (c.valid_to is null or c.valid_to > $6)))
     and ($7::timestamptz is null or (c.created_at, c.coin_config_id) < ($7, $8::text))
   order by c.created_at desc, c.coin_config_id desc limit $9`,
)

/** Ours (decision K3): the partner's configurations, newest first. */
export const searchCoinConfigs = query({
  id: 'searchCoinConfigs',
  method: 'POST',
  safe: true,
  path: '/api/v0/svc-coins/search',
  tag: 'Coins',
  summary: 'Search coin configurations',
  description:
    'All filters are optional and must all match. Newest first; pass `next` back as `after` for the next page.',
  auth: 'partner',
  scope: 'coins:read',
  envelope: 'response_code',
  body: SearchRequest,
  result: PageOf(CoinConfigRecord),
  errors: [],

  mount({ database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    return async ({ caller: { tenantId }, body }) => {
      const { status, configuration, event, companyId, validAt } = body
      const { limit, after } = readPage(body)
      const instant = readInstant('validAt', validAt)
      const rows = await database.read([tenantId], (tx) =>
        tx.query(SEARCH, [
          tenantId,
          status,
          configuration,
          event,
          companyId,
          instant,
          after?.at,
          after?.id,
          limit + 1,
        ]),
      )
      const positionOf = (config: CoinConfig) => ({ at: config.createdAt, id: config.coinConfigId })
      return { body: succeed(page(rows, limit, positionOf, (config) => toWire(config, timeZone))) }
    }
  },
})
