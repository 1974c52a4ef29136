import { LRUCache } from 'lru-cache'
import { fail } from '../errors.ts'
import type { Database } from '../platform/db/database.ts'
import { PointRead } from '../platform/db/point-read.ts'
import { columns, statement } from '../platform/db/statement.ts'
import { query, succeed } from '../platform/http/operation.ts'
import {
  type CoinConfig,
  CoinConfigParams,
  CoinConfigRecord,
  etagOf,
  looksLikeCoinConfigId,
  toWire,
} from './coin-config.ts'
import { COIN_CONFIG_COLUMNS, type CoinConfigRow, toCoinConfig } from './coin-config-store.ts'

const FIND = statement<CoinConfigRow>(
  'coin_configs_find',
  `select ${COIN_CONFIG_COLUMNS} from coin_configs c
   where (c.partner_id, c.coin_config_id) in (select * from unnest($1::text[], $2::text[]))`,
)

/** Look-up of a partner's own configurations; `undefined` for those of others and for ids that cannot be ours. */
export function coinConfigLookup(
  database: Database,
): (tenantId: string, coinConfigId: string) => Promise<CoinConfig | undefined> {
  const configs = new PointRead<CoinConfig>(
    async (keys) => {
      const wanted = columns(
        keys,
        (k) => k.tenantId,
        (k) => k.id,
      )
      const rows = await database.read(wanted[0] as string[], (tx) => tx.query(FIND, wanted))
      return rows.map(toCoinConfig)
    },
    (config) => ({ tenantId: config.partnerId, id: config.coinConfigId }),
  )
  // An id that cannot be ours costs the same look-up, so that the answer's time tells nothing (decision A10).
  return (tenantId, id) => configs.get(tenantId, looksLikeCoinConfigId(id) ? id : '')
}

interface RevisionRow {
  coin_config_id: string
  partner_id: string
  revision: number
}

const REVISIONS = statement<RevisionRow>(
  'coin_configs_revisions',
  `select coin_config_id, partner_id, revision from coin_configs
   where (partner_id, coin_config_id) in (select * from unnest($1::text[], $2::text[]))`,
)

const BODIES_CACHED = 10_000

interface Found {
  readonly etag: string
  readonly body: string
}

/**
 * Look-up of ready-made answers. Which revision is current is read every time, so that nothing has to be invalidated;
 * what a revision looks like never changes, so that its text is made once.
 */
function answerLookup(
  database: Database,
  timeZone: string,
): (tenantId: string, id: string) => Promise<Found | undefined> {
  const bodies = new LRUCache<string, Found>({ max: BODIES_CACHED })
  const find = coinConfigLookup(database)
  const current = new PointRead<RevisionRow>(
    (keys) => {
      const wanted = columns(
        keys,
        (k) => k.tenantId,
        (k) => k.id,
      )
      return database.read(wanted[0] as string[], (tx) => tx.query(REVISIONS, wanted))
    },
    (row) => ({ tenantId: row.partner_id, id: row.coin_config_id }),
  )
  return async (tenantId, id) => {
    const row = await current.get(tenantId, looksLikeCoinConfigId(id) ? id : '')
    if (!row) return undefined
    const known = bodies.get(`${id} ${row.revision}`)
    if (known) return known
    // It may have been changed since: then this is the newer one, with its own tag.
    const config = (await find(tenantId, id))!
    const made = { etag: etagOf(config), body: succeed(toWire(config, timeZone)) }
    bodies.set(`${id} ${config.revision}`, made)
    return made
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
    'Answers the record with its revision as `ETag`. With that tag in `If-None-Match` the answer is 304 and empty while nothing has changed. The `Cookie` header may be sent; it has no effect.',
  developing: true,
  auth: 'partner',
  family: 'response_code',
  headers: { 'If-None-Match': 'The `ETag` of a former answer' },
  params: CoinConfigParams,
  result: CoinConfigRecord,
  errors: ['coin_config_not_found'],
  alsoAnswers: { 304: 'The configuration is still the one of `If-None-Match`; no body' },

  mount({ database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    const find = answerLookup(database, timeZone)
    return async ({ caller, params, headers: asked }) => {
      const { etag, body } =
        (await find(caller.tenantId, params.coinConfigId)) ?? fail('coin_config_not_found')
      const headers = { etag, 'cache-control': 'private, no-cache' }
      return isCurrent(asked['if-none-match'], etag) ? { status: 304, headers, body: '' } : { headers, body }
    }
  },
})

/** RFC 9110 section 13.1.2: any of the tags, compared weakly; `*` fits whatever exists. */
function isCurrent(ifNoneMatch: string | string[] | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const tags = String(ifNoneMatch).split(',')
  return tags.some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
}
