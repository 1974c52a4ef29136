import { fail } from '@svc/contract/errors'
import {
  type CoinConfig,
  CoinConfigParams,
  CoinConfigRecord,
  coinConfigRevisions,
  toWire,
} from '@svc/core/coins/coin-config'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { query, succeed } from '../http/operation.ts'
import { PageOf, PageQuery, page, readLimit, readNumberedCursor } from '../http/page.ts'
import { coinConfigLookup } from './get-coin-config.ts'

const LIST = statement<CoinConfig>(
  'coin_config_revisions_list',
  `select ${coinConfigRevisions.columns}, c.configuration, c.company_id as "companyId", c.event,
     c.created_at as "createdAt"
   from coin_config_revisions r join coin_configs c using (coin_config_id, partner_id)
   where r.partner_id = $1 and r.coin_config_id = $2 and ($3::bigint is null or r.revision < $3)
   order by r.revision desc limit $4`,
)

interface Wanted {
  readonly partnerId: string
  readonly coinConfigId: string
  readonly limit: number
  /** Only revisions before this one. */
  readonly before?: number | undefined
}

/** A configuration at its revisions, newest first. */
export const readRevisions = (
  tx: Tx,
  { partnerId, coinConfigId, limit, before }: Wanted,
): Promise<CoinConfig[]> => tx.query(LIST, [partnerId, coinConfigId, before, limit])

/** Ours (decision K3): what a configuration was and is, newest revision first. */
export const listCoinConfigRevisions = query({
  id: 'listCoinConfigRevisions',
  method: 'GET',
  path: '/api/v0/svc-coins/:coinConfigId/revisions',
  tag: 'Coins',
  summary: 'List revisions of a coin configuration',
  auth: 'partner',
  scope: 'coins:read',
  envelope: 'response_code',
  params: CoinConfigParams,
  query: PageQuery,
  result: PageOf(CoinConfigRecord),
  errors: ['coin_config_not_found'],

  mount({ database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    const find = coinConfigLookup(database)
    return async ({ caller: { tenantId }, params: { coinConfigId }, query }) => {
      const limit = readLimit(query.limit)
      const before = readNumberedCursor(query.after)
      if (!(await find(tenantId, coinConfigId))) fail('coin_config_not_found')
      const rows = await database.read([tenantId], (tx) =>
        readRevisions(tx, { partnerId: tenantId, coinConfigId, limit: limit + 1, before }),
      )
      const positionOf = (config: CoinConfig) => ({ at: config.modifiedAt, id: String(config.revision) })
      return { body: succeed(page(rows, limit, positionOf, (config) => toWire(config, timeZone))) }
    }
  },
})
