import type { BatchTx } from '../platform/db/batch.ts'
import type { Writes } from '../platform/db/database.ts'
import { columns, statement } from '../platform/db/statement.ts'
import type { CoinConfig } from './coin-config.ts'

export interface CoinConfigRow {
  coin_config_id: string
  partner_id: string
  configuration: 'DEFAULT' | 'CUSTOM'
  company_id: string | null
  event: string
  amount: bigint
  title: string
  description: string | null
  status: 'ACTIVE' | 'INACTIVE'
  valid_from: Date
  valid_to: Date | null
  per_user_daily_limit: bigint | null
  coins_expire_after_days: number | null
  revision: number
  created_at: Date
  modified_at: Date
}

export const COIN_CONFIG_COLUMNS = `c.coin_config_id, c.partner_id, c.configuration, c.company_id, c.event, c.amount, c.title,
  c.description, c.status, c.valid_from, c.valid_to, c.per_user_daily_limit, c.coins_expire_after_days, c.revision,
  c.created_at, c.modified_at`

export const toCoinConfig = (row: CoinConfigRow): CoinConfig => ({
  coinConfigId: row.coin_config_id,
  partnerId: row.partner_id,
  configuration: row.configuration,
  companyId: row.company_id,
  event: row.event,
  amount: row.amount,
  title: row.title,
  description: row.description,
  status: row.status,
  validFrom: row.valid_from,
  validTo: row.valid_to,
  perUserDailyLimit: row.per_user_daily_limit,
  coinsExpireAfterDays: row.coins_expire_after_days,
  revision: row.revision,
  createdAt: row.created_at,
  modifiedAt: row.modified_at,
})

// There is no row to lock for a configuration that does not exist yet, so those who write configurations of a partner
// take turns; the exclusion constraint stands behind it.
const TAKE_TURNS = statement(
  'coin_configs_take_turns',
  `select pg_advisory_xact_lock(hashtextextended('coin_configs ' || partner_id, 0))
   from (select unnest($1::text[]) as partner_id order by 1) as partners`,
)
const SIBLINGS = statement<CoinConfigRow>(
  'coin_configs_siblings',
  `select ${COIN_CONFIG_COLUMNS} from coin_configs c where (c.partner_id, c.event) in (
     select * from unnest($1::text[], $2::text[])
     union
     select n.partner_id, n.event from coin_configs n
     where (n.partner_id, n.coin_config_id) in (select * from unnest($1::text[], $3::text[])))`,
)

export interface Wanted {
  readonly tenantId: string
  /** Of a configuration that is to be changed, or the event of one that is to be made. */
  readonly coinConfigId?: string
  readonly event?: string
}

/** Configurations by id: those that are wanted, and all others of the same partners' same events. */
export async function lockCoinConfigs(
  tx: BatchTx,
  wanted: readonly Wanted[],
): Promise<Map<string, CoinConfig>> {
  if (wanted.length === 0) return new Map()
  await tx.query(TAKE_TURNS, [[...new Set(wanted.map(({ tenantId }) => tenantId))]])
  const keys = columns(
    wanted,
    (w) => w.tenantId,
    (w) => w.event ?? null,
    (w) => w.coinConfigId ?? null,
  )
  const rows = await tx.query(SIBLINGS, keys)
  return new Map(rows.map((row) => [row.coin_config_id, toCoinConfig(row)]))
}

const TERMS = [
  (c: CoinConfig) => c.amount,
  (c: CoinConfig) => c.title,
  (c: CoinConfig) => c.description,
  (c: CoinConfig) => c.status,
  (c: CoinConfig) => c.validFrom,
  (c: CoinConfig) => c.validTo,
  (c: CoinConfig) => c.perUserDailyLimit,
  (c: CoinConfig) => c.coinsExpireAfterDays,
  (c: CoinConfig) => c.revision,
  (c: CoinConfig) => c.modifiedAt,
]
const TERM_NAMES = `amount, title, description, status, valid_from, valid_to, per_user_daily_limit,
  coins_expire_after_days, revision, modified_at`
const TERM_TYPES = `$3::bigint[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::timestamptz[], $9::bigint[],
  $10::integer[], $11::integer[], $12::timestamptz[]`

const INSERT = statement(
  'coin_configs_insert',
  `insert into coin_configs (coin_config_id, partner_id, ${TERM_NAMES}, configuration, company_id, event, created_at)
   select * from unnest($1::text[], $2::text[], ${TERM_TYPES}, $13::text[], $14::text[], $15::text[], $16::timestamptz[])
   order by 1`,
)
const UPDATE = statement(
  'coin_configs_update',
  `update coin_configs c set amount = new.amount, title = new.title, description = new.description,
     status = new.status, valid_from = new.valid_from, valid_to = new.valid_to,
     per_user_daily_limit = new.per_user_daily_limit, coins_expire_after_days = new.coins_expire_after_days,
     revision = new.revision, modified_at = new.modified_at
   from unnest($1::text[], $2::text[], ${TERM_TYPES}) as new (coin_config_id, partner_id, ${TERM_NAMES})
   where c.coin_config_id = new.coin_config_id and c.partner_id = new.partner_id`,
)
const INSERT_REVISIONS = statement(
  'coin_config_revisions_insert',
  `insert into coin_config_revisions (coin_config_id, partner_id, ${TERM_NAMES})
   select * from unnest($1::text[], $2::text[], ${TERM_TYPES})`,
)

const identity = [(c: CoinConfig) => c.coinConfigId, (c: CoinConfig) => c.partnerId]

export function insertCoinConfigs(tx: Writes, configs: readonly CoinConfig[]): void {
  const owner = [
    (c: CoinConfig) => c.configuration,
    (c: CoinConfig) => c.companyId,
    (c: CoinConfig) => c.event,
    (c: CoinConfig) => c.createdAt,
  ]
  tx.write(INSERT, columns(configs, ...identity, ...TERMS, ...owner))
  tx.write(INSERT_REVISIONS, columns(configs, ...identity, ...TERMS))
}

/** Writes revisions, oldest first: each is kept, the last of each configuration is what it is now. */
export function saveRevisions(tx: Writes, revisions: readonly CoinConfig[]): void {
  if (revisions.length === 0) return
  const last = new Map(revisions.map((config) => [config.coinConfigId, config]))
  tx.write(UPDATE, columns([...last.values()], ...identity, ...TERMS))
  tx.write(INSERT_REVISIONS, columns(revisions, ...identity, ...TERMS))
}
