import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { statement } from './database.ts'
import { fail } from './failures.ts'
import type { Services } from './services.ts'
import { rfc3339 } from './values.ts'

interface CoinConfigRow extends pg.QueryResultRow {
  readonly coin_config_id: string
  readonly configuration: string
  readonly company_id: string | null
  readonly event: string
  readonly amount: bigint
  readonly title: string
  readonly description: string | null
  readonly status: string
  readonly valid_from: Date
  readonly valid_to: Date | null
  readonly per_user_daily_limit: bigint | null
  readonly coins_expire_after_days: number | null
  readonly revision: number
  readonly created_at: Date
  readonly modified_at: Date
}

// A merchant reads the configurations of the partner that it is linked to.
const FIND = statement<CoinConfigRow>(
  'coin_config',
  `select * from coin_configs where coin_config_id = $2
   and partner_id = coalesce((select linked_partner_id from merchants where merchant_id = $1), $1)`,
)

const toWire = (config: CoinConfigRow) => ({
  coinConfigId: config.coin_config_id,
  configuration: config.configuration,
  companyId: config.company_id ?? undefined,
  event: config.event,
  amount: Number(config.amount),
  title: config.title,
  description: config.description ?? undefined,
  status: config.status,
  validFrom: rfc3339(config.valid_from),
  validTo: config.valid_to ? rfc3339(config.valid_to) : undefined,
  perUserDailyLimit: config.per_user_daily_limit === null ? undefined : Number(config.per_user_daily_limit),
  coinsExpireAfterDays: config.coins_expire_after_days ?? undefined,
  revision: config.revision,
  createdOn: rfc3339(config.created_at),
  modifiedOn: rfc3339(config.modified_at),
})

export function mountCoins(app: FastifyInstance, { pool, access }: Services): void {
  app.route<{ Params: { coinConfigId: string } }>({
    method: 'GET',
    url: '/api/v0/svc-coins/:coinConfigId',
    onRequest: access.either('coins:read'),
    async handler({ tenantId, params, headers }, reply) {
      const [config] = await FIND(pool, [tenantId, params.coinConfigId])
      if (!config) return fail('coin_config_not_found')
      const etag = `"${config.revision}"`
      reply.header('etag', etag).header('cache-control', 'private, no-cache')
      if (headers['if-none-match'] === etag) return reply.code(304).send()
      return JSON.stringify({ response_code: 0, response_message: 'Success', payload: toWire(config) })
    },
  })
}
