import { Type } from 'typebox'
import { parseRfc3339 } from '../kernel/time.ts'
import { statement } from '../platform/db/statement.ts'
import { query, succeed } from '../platform/http/operation.ts'
import { Cursor, LIMIT_DEFAULT, LIMIT_MAX, PageOf, page, readCursor } from '../platform/http/page.ts'
import { CoinConfigRecord, toWire } from './coin-config.ts'
import { COIN_CONFIG_COLUMNS, type CoinConfigRow, toCoinConfig } from './coin-config-store.ts'

const exact = Type.Optional(Type.String({ minLength: 1, maxLength: 64 }))

const SearchRequest = Type.Object(
  {
    status: Type.Optional(Type.Enum(['ACTIVE', 'INACTIVE'])),
    configuration: Type.Optional(Type.Enum(['DEFAULT', 'CUSTOM'])),
    event: exact,
    companyId: exact,
    validAt: Type.Optional(
      Type.String({
        format: 'date-time',
        'x-rule': 'must be an RFC 3339 date-time with a zone',
        description: 'Valid at this instant',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIMIT_MAX,
        description: `Records a page, ${LIMIT_DEFAULT} by default`,
      }),
    ),
    after: Type.Optional(Cursor),
  },
  { additionalProperties: false },
)

const SEARCH = statement<CoinConfigRow>(
  'coin_configs_search',
  `select ${COIN_CONFIG_COLUMNS} from coin_configs c
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
  path: '/api/v0/svc-coins/search',
  tag: 'Coins',
  summary: 'Search coin configurations',
  description:
    'All filters are optional and must all match. Newest first; pass `next` back as `after` for the next page.',
  auth: 'partner',
  family: 'response_code',
  body: SearchRequest,
  result: PageOf(CoinConfigRecord),
  errors: [],

  mount({ database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    return async ({ caller: { tenantId }, body }) => {
      const { status, configuration, event, companyId, validAt, limit = LIMIT_DEFAULT } = body
      const after = readCursor(body.after)
      const instant = validAt === undefined ? undefined : parseRfc3339(validAt)
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
      const positionOf = (row: CoinConfigRow) => ({ at: row.created_at, id: row.coin_config_id })
      return { body: succeed(page(rows, limit, positionOf, (row) => toWire(toCoinConfig(row), timeZone))) }
    }
  },
})
