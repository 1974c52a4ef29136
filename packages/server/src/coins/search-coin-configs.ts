import { failField } from '@svc/contract/fail-fields'
import { type CoinConfig, CoinConfigRecord, coinConfigs, toWire } from '@svc/core/coins/coin-config'
import { Type } from 'typebox'
import { choiceFilter, exactFilter, instantFilter, listOf, type Resource } from '../http/resource.ts'
import { ofCoins } from './coin-configs.ts'

/** Coin configurations, as every reader sees and finds them. */
export const coinConfig = {
  titles: { tenant: 'CoinConfig', operator: 'CoinConfigRow' },
  record: { schema: CoinConfigRecord, toWire },
  from: { columns: coinConfigs.columns, table: 'coin_configs c', alias: 'c' },
  tenant: 'c.partner_id',
  keys: [{ sql: 'c.coin_config_id', type: 'text' }],
  tenantKeys: [
    { sql: 'c.created_at', type: 'timestamptz' },
    { sql: 'c.coin_config_id', type: 'text' },
  ],
  fields: {
    partnerId: { schema: Type.String(), of: ({ partnerId }) => partnerId, operatorOnly: true },
  },
  filters: {
    q: { schema: exactFilter('Id'), sql: 'c.coin_config_id = ?', operatorOnly: true },
    partnerId: { schema: exactFilter('Of this partner'), sql: 'c.partner_id = ?', operatorOnly: true },
    companyId: {
      schema: Type.Optional(Type.String({ minLength: 1, description: 'Of this company' })),
      // The indexes of configurations begin with the partner.
      sql: 'c.company_id = ? and c.partner_id = (select partner_id from companies where company_id = ?)',
    },
    event: {
      schema: exactFilter('Of this event'),
      sql(filters, event, { partnerId, companyId }, { tenantId }) {
        if ((partnerId ?? companyId ?? tenantId) === undefined)
          failField('event', 'not_allowed', 'can only be sent together with partnerId or companyId', 'query')
        filters.add('c.event = ?', event)
      },
    },
    status: { schema: choiceFilter(['ACTIVE', 'INACTIVE']), sql: 'c.status = ?' },
    configuration: { schema: choiceFilter(['DEFAULT', 'CUSTOM']), sql: 'c.configuration = ?' },
    validAt: instantFilter('validAt', 'Valid at this instant', (filters, at) =>
      filters.add('c.valid_from <= ? and (c.valid_to is null or c.valid_to > ?)', at),
    ),
  },
} satisfies Resource<CoinConfig>

/** Ours (decision K3): the partner's configurations, newest first. */
export const searchCoinConfigs = listOf<CoinConfig>(coinConfig, {
  ...ofCoins('coins:read'),
  id: 'searchCoinConfigs',
  inBody: {},
  path: '/api/v0/svc-coins/search',
  summary: 'Search coin configurations',
  description:
    'All filters are optional and must all match. Newest first; pass `next` back as `after` for the next page.',
})
