import type { Config } from '@svc/contract/config'
import { fail } from '@svc/contract/errors'
import {
  type CoinConfig,
  CoinConfigParams,
  CoinConfigRecord,
  coinConfigs,
  etagOf,
  looksLikeCoinConfigId,
  toWire,
} from '@svc/core/coins/coin-config'
import { refuseToken } from '@svc/core/tenants/refused-token'
import { required } from '@svc/kernel/invariant'
import { BatchedLookup } from '@svc/platform/db/batched-lookup'
import type { Database } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { LRUCache } from 'lru-cache'
import { query, succeed } from '../http/operation.ts'

const keysOf = (keys: readonly { readonly tenantId: string; readonly id: string }[]) =>
  coinConfigs.keys(keys.map(({ tenantId, id }) => ({ partnerId: tenantId, coinConfigId: id })))

/** Lookup of a partner's own configurations; `undefined` for those of others and for ids that cannot be ours. */
export function coinConfigLookup(
  database: Database,
): (tenantId: string, coinConfigId: string) => Promise<CoinConfig | undefined> {
  const configs = new BatchedLookup<CoinConfig>(
    (keys) =>
      database.read(
        keys.map(({ tenantId }) => tenantId),
        (tx) => tx.query(coinConfigs.find, keysOf(keys)),
      ),
    (config) => ({ tenantId: config.partnerId, id: config.coinConfigId }),
  )
  // An id that cannot be ours costs the same lookup, so that the response time reveals nothing (decision A10).
  return (tenantId, id) => configs.get(tenantId, looksLikeCoinConfigId(id) ? id : '')
}

type CurrentRevision = Pick<CoinConfig, 'partnerId' | 'coinConfigId' | 'revision'>

const REVISIONS = statement<CurrentRevision>(
  'coin_configs_revisions',
  `select partner_id as "partnerId", coin_config_id as "coinConfigId", revision from coin_configs
   where (partner_id, coin_config_id) in (select * from unnest($1::text[], $2::text[]))`,
)

const BODIES_CACHED = 10_000

interface Found {
  readonly partnerId: string
  readonly revision: number
  readonly etag: string
  readonly body: string
}

/**
 * Lookup of ready-made responses. The current revision is read every time, so that nothing has to be invalidated;
 * a revision never changes, so that its text is created once.
 */
function responseLookup(
  database: Database,
  timeZone: string,
): (tenantId: string, id: string) => Promise<Found | undefined> {
  // By configuration: the newest requested revision.
  const bodies = new LRUCache<string, Found>({ max: BODIES_CACHED })
  const find = coinConfigLookup(database)
  const current = new BatchedLookup<CurrentRevision>(
    (keys) =>
      database.read(
        keys.map(({ tenantId }) => tenantId),
        (tx) => tx.query(REVISIONS, keysOf(keys)),
      ),
    (row) => ({ tenantId: row.partnerId, id: row.coinConfigId }),
  )
  return async (tenantId, id) => {
    const row = await current.get(tenantId, looksLikeCoinConfigId(id) ? id : '')
    if (!row) return undefined
    const known = bodies.get(id)
    if (known?.revision === row.revision && known.partnerId === tenantId) return known
    // It may have been changed since: then this is the newer one, with its own tag.
    const config = required(await find(tenantId, id), 'configurations are never deleted')
    const { partnerId, revision } = config
    const made = { partnerId, revision, etag: etagOf(config), body: succeed(toWire(config, timeZone)) }
    bodies.set(id, made)
    return made
  }
}

interface Link {
  readonly merchantId: string
  readonly partnerId: string
}

const LINKS = statement<Link>(
  'merchants_linked_partner',
  `select merchant_id as "merchantId", linked_partner_id as "partnerId" from merchants
   where merchant_id = any ($1) and linked_partner_id is not null`,
)

const isMerchant = (tenantId: string): boolean => tenantId.startsWith('mer_')

/** Whose configurations a caller reads (decision K4): a partner its own, a merchant those of its linked partner. */
function partnerOfReader(
  database: Database,
  tokens: Config['COIN_LOOKUP_TOKEN'],
): (tenantId: string) => Promise<string> {
  const links = new BatchedLookup<Link>(
    (keys) => {
      const merchantIds = keys.map(({ tenantId }) => tenantId)
      return database.read(merchantIds, (tx) => tx.query(LINKS, [merchantIds]))
    },
    ({ merchantId }) => ({ tenantId: merchantId, id: '' }),
  )
  return async (tenantId) => {
    if (!isMerchant(tenantId)) return tenantId
    if (tokens === 'partner') refuseToken('of_merchant')
    // Without a link the merchant looks among its own: it has none, and the lookup costs the same (decision A10).
    return (await links.get(tenantId, ''))?.partnerId ?? tenantId
  }
}

/** Spec §4.5. One configuration of the partner (decisions K1, K2, K4). */
export const getCoinConfig = query({
  id: 'getCoinConfig',
  method: 'GET',
  path: '/api/v0/svc-coins/:coinConfigId',
  tag: 'Coins',
  summary: 'Get coin configuration',
  description:
    'Returns the record with its revision as `ETag`. With that tag in `If-None-Match` the response is 304 and empty while nothing has changed. Merchants read the configurations of the partner that they are linked to.',
  developing: true,
  ignores: ['query'],
  auth: 'tenant',
  hasSpecifiedTokenError: true,
  scope: 'coins:read',
  envelope: 'response_code',
  headers: { 'If-None-Match': 'The `ETag` of a previous response', Cookie: 'Optional; it has no effect' },
  params: CoinConfigParams,
  result: CoinConfigRecord,
  responseHeaders: { ETag: 'ETag' },
  errors: ['coin_config_not_found', 'invalid_token'],
  alsoReturns: { 304: 'The configuration is still the one of `If-None-Match`; no body' },

  mount({ database, config: { BUSINESS_TIME_ZONE: timeZone, COIN_LOOKUP_TOKEN } }) {
    const find = responseLookup(database, timeZone)
    const readerOf = partnerOfReader(database, COIN_LOOKUP_TOKEN)
    return async ({ caller, params, headers: requestHeaders }) => {
      const partnerId = await readerOf(caller.tenantId)
      const { etag, body } = (await find(partnerId, params.coinConfigId)) ?? fail('coin_config_not_found')
      const headers = { etag, 'cache-control': 'private, no-cache' }
      return isCurrent(requestHeaders['if-none-match'], etag)
        ? { status: 304, headers, body: '' }
        : { headers, body }
    }
  },
})

/** RFC 9110 section 13.1.2: any of the tags, compared weakly; `*` fits whatever exists. */
function isCurrent(ifNoneMatch: string | string[] | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const tags = String(ifNoneMatch).split(',')
  return tags.some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
}
