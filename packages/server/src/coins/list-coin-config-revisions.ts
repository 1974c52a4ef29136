import { fail } from '@svc/contract/errors'
import {
  type CoinConfig,
  CoinConfigParams,
  CoinConfigRecord,
  coinConfigRevisions,
  toWire,
} from '@svc/core/coins/coin-config'
import { findRow, idFilter, listOf, type Resource } from '../http/resource.ts'
import { ofCoins } from './coin-configs.ts'
import { coinConfig } from './search-coin-configs.ts'

/** Configurations at each of their revisions, as every reader sees and finds them. */
export const coinConfigRevision = {
  titles: { tenant: 'CoinConfig', operator: 'CoinConfig' },
  record: { schema: CoinConfigRecord, toWire },
  from: {
    columns: `${coinConfigRevisions.columns}, c.configuration, c.company_id as "companyId", c.event, c.created_at as "createdAt"`,
    table: 'coin_config_revisions r',
    alias: 'r',
    joins: 'join coin_configs c using (coin_config_id, partner_id)',
  },
  tenant: 'r.partner_id',
  keys: [{ sql: 'r.revision', type: 'bigint' }],
  fields: {},
  filters: { coinConfigId: { schema: idFilter('Of this configuration'), sql: 'r.coin_config_id = ?' } },
} satisfies Resource<CoinConfig>

/** Ours (decision K3): what a configuration was and is, newest revision first. */
export const listCoinConfigRevisions = listOf<CoinConfig>(coinConfigRevision, {
  ...ofCoins('coins:read'),
  id: 'listCoinConfigRevisions',
  path: '/api/v0/svc-coins/:coinConfigId/revisions',
  summary: 'List revisions of a coin configuration',
  params: CoinConfigParams,
  errors: ['coin_config_not_found'],
  async within(tx, scope, { coinConfigId = '' }) {
    if (!(await findRow<CoinConfig>(tx, coinConfig, scope, coinConfigId))) fail('coin_config_not_found')
  },
})
