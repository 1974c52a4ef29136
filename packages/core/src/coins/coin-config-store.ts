import { ByTenant } from '@svc/kernel/by-tenant'
import type { BatchTx } from '@svc/platform/db/batch'
import type { Writes } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { type CoinConfig, coinConfigRevisions, coinConfigs } from './coin-config.ts'

// A configuration that does not exist yet has no row to lock, so that changes of a partner's configurations are
// serialized by an advisory lock. The exclusion constraint stands behind it.
const LOCK_PARTNER = statement(
  'coin_configs_lock_partner',
  `select pg_advisory_xact_lock(hashtextextended('coin_configs ' || partner_id, 0))
   from (select unnest($1::text[]) as partner_id order by 1) as partners`,
)
const SIBLINGS = statement<CoinConfig>(
  'coin_configs_siblings',
  `select ${coinConfigs.columns} from coin_configs c where (c.partner_id, c.event) in (
     select * from unnest($1::text[], $2::text[])
     union
     select n.partner_id, n.event from coin_configs n
     where (n.partner_id, n.coin_config_id) in (select * from unnest($1::text[], $3::text[])))`,
)

export interface Wanted {
  readonly tenantId: string
  /** Of a configuration that is to be changed, or the event of one that is to be created. */
  readonly coinConfigId?: string
  readonly event?: string
}

/** Configurations of a partner, by id. */
export type CoinConfigs = Map<string, CoinConfig>

/** The configurations that are wanted, and all others of the same partners' same events. */
export async function lockCoinConfigs(
  tx: BatchTx,
  wanted: readonly Wanted[],
): Promise<ByTenant<CoinConfigs>> {
  if (wanted.length === 0) return new ByTenant(() => new Map())
  await tx.query(LOCK_PARTNER, [[...new Set(wanted.map(({ tenantId }) => tenantId))]])
  const keys = columns(
    wanted,
    (w) => w.tenantId,
    (w) => w.event ?? null,
    (w) => w.coinConfigId ?? null,
  )
  return coinConfigs.byTenant(await tx.query(SIBLINGS, keys))
}

const updateTerms = coinConfigs.updates([
  'amount',
  'title',
  'description',
  'status',
  'validFrom',
  'validTo',
  'perUserDailyLimit',
  'coinsExpireAfterDays',
  'activation',
  'activateAfterDays',
  'revision',
  'modifiedAt',
])

export function insertCoinConfigs(tx: Writes, configs: readonly CoinConfig[]): void {
  coinConfigs.insert(tx, configs)
  coinConfigRevisions.insert(tx, configs)
}

/** Writes revisions, oldest first: each is kept, and the last of a configuration is its current one. */
export function saveRevisions(tx: Writes, revisions: readonly CoinConfig[]): void {
  updateTerms(tx, revisions)
  coinConfigRevisions.insert(tx, revisions)
}
