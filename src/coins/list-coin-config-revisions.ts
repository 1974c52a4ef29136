import { fail } from '../errors.ts'
import { statement } from '../platform/db/statement.ts'
import { query, succeed } from '../platform/http/operation.ts'
import { PageOf, page } from '../platform/http/page.ts'
import { CoinConfigParams, CoinConfigRecord, toWire } from './coin-config.ts'
import { type CoinConfigRow, toCoinConfig } from './coin-config-store.ts'
import { coinConfigLookup } from './get-coin-config.ts'
import { PageQuery, readLimit, readNumberedCursor } from './page-query.ts'

const LIST = statement<CoinConfigRow>(
  'coin_config_revisions_list',
  `select c.coin_config_id, c.partner_id, c.configuration, c.company_id, c.event, r.amount, r.title, r.description,
     r.status, r.valid_from, r.valid_to, r.per_user_daily_limit, r.coins_expire_after_days, r.revision, c.created_at,
     r.modified_at
   from coin_config_revisions r join coin_configs c using (coin_config_id, partner_id)
   where r.partner_id = $1 and r.coin_config_id = $2 and ($3::bigint is null or r.revision < $3)
   order by r.revision desc limit $4`,
)

/** Ours (decision K3): what a configuration was and is, newest revision first. */
export const listCoinConfigRevisions = query({
  id: 'listCoinConfigRevisions',
  method: 'GET',
  path: '/api/v0/svc-coins/:coinConfigId/revisions',
  tag: 'Coins',
  summary: 'List revisions of a coin configuration',
  auth: 'partner',
  family: 'response_code',
  params: CoinConfigParams,
  query: PageQuery,
  result: PageOf(CoinConfigRecord),
  errors: ['coin_config_not_found'],

  mount({ database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    const find = coinConfigLookup(database)
    return async ({ caller: { tenantId }, params: { coinConfigId }, query }) => {
      const limit = readLimit(query.limit)
      const after = readNumberedCursor(query.after)
      if (!(await find(tenantId, coinConfigId))) fail('coin_config_not_found')
      const rows = await database.read([tenantId], (tx) =>
        tx.query(LIST, [tenantId, coinConfigId, after, limit + 1]),
      )
      const positionOf = (row: CoinConfigRow) => ({ at: row.modified_at, id: String(row.revision) })
      return { body: succeed(page(rows, limit, positionOf, (row) => toWire(toCoinConfig(row), timeZone))) }
    }
  },
})
