import type { BatchTx } from '../platform/db/batch.ts'
import type { Tx, Writes } from '../platform/db/database.ts'
import { columns, statement } from '../platform/db/statement.ts'
import { ALLOCATION_COLUMNS, type Allocation, type AllocationRow, toAllocation } from './allocation.ts'
import type { CoinConfig } from './coin-config.ts'
import { COIN_CONFIG_COLUMNS, type CoinConfigRow, toCoinConfig } from './coin-config-store.ts'
import { findUsers } from './coin-user.ts'
import type { Lot, Wallet } from './wallet.ts'
import { lockCoinAccounts, lockWallets, readWallets, type WalletNeed } from './wallet-store.ts'

/** What allocating coins depends on. Keys carry the tenant, so that nothing of another partner is found. */
export interface AllocationState {
  readonly wallets: Map<string, Wallet>
  /** By `partner company`. */
  readonly companies: ReadonlySet<string>
  /** Company of each user, by `partner user`. */
  readonly users: ReadonlyMap<string, string>
  readonly configs: readonly CoinConfig[]
  /** First allocations of these requests, by `partner request`. */
  readonly known: Map<string, Allocation>
  /** Coins by `user configuration day`. */
  readonly awarded: Map<string, bigint>
  /** Ledger accounts that are open. */
  readonly accounts: Set<string>
}

/** What of a command the state is read by. */
export interface AllocationNeed extends WalletNeed {
  readonly companyId: string
  readonly event: string
  readonly requestId: string
  readonly businessDay: string
}

export const requestKey = (partnerId: string, requestId: string): string => `${partnerId} ${requestId}`
export const awardedKey = (userId: string, coinConfigId: string, businessDay: string): string =>
  `${userId} ${coinConfigId} ${businessDay}`

const COMPANIES = statement<{ partner_id: string; company_id: string }>(
  'coin_allocations_companies',
  `select partner_id, company_id from companies
   where (partner_id, company_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const CONFIGS = statement<CoinConfigRow>(
  'coin_allocations_configs',
  `select ${COIN_CONFIG_COLUMNS} from coin_configs c
   where (c.partner_id, c.event) in (select * from unnest($1::text[], $2::text[])) and c.status = 'ACTIVE'
   order by c.coin_config_id`,
)
const KNOWN = statement<AllocationRow>(
  'coin_allocations_known',
  `select ${ALLOCATION_COLUMNS} from coin_lots l
   where (l.partner_id, l.request_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const AWARDED = statement<{ user_id: string; coin_config_id: string; business_day: string; coins: bigint }>(
  'coin_allocations_awarded',
  `select user_id, coin_config_id, business_day::text as business_day, sum(amount)::bigint as coins from coin_lots
   where (partner_id, user_id, business_day) in (select * from unnest($1::text[], $2::text[], $3::date[]))
   group by 1, 2, 3`,
)

/** Wallets first: whoever holds them sees all that was decided on them before. */
export async function lockAllocations(
  tx: BatchTx,
  needs: readonly AllocationNeed[],
): Promise<AllocationState> {
  const wallets = await lockWallets(tx, needs)
  const state = await readState(tx, needs, wallets)
  for (const id of await lockCoinAccounts(tx, wallets, 'coins_issued')) state.accounts.add(id)
  return state
}

/** The same without a lock, for a dry run. */
export const readAllocations = async (tx: Tx, needs: readonly AllocationNeed[]): Promise<AllocationState> =>
  readState(tx, needs, await readWallets(tx, needs))

async function readState(
  tx: Tx,
  needs: readonly AllocationNeed[],
  wallets: Map<string, Wallet>,
): Promise<AllocationState> {
  const tenants = needs.map(({ tenantId }) => tenantId)
  const by = (pick: (need: AllocationNeed) => string) => [tenants, needs.map(pick)]
  const [companies, users, configs, known, awarded] = await Promise.all([
    tx.query(
      COMPANIES,
      by(({ companyId }) => companyId),
    ),
    findUsers(tx, needs),
    tx.query(
      CONFIGS,
      by(({ event }) => event),
    ),
    tx.query(
      KNOWN,
      by(({ requestId }) => requestId),
    ),
    tx.query(AWARDED, [...by(({ userId }) => userId), needs.map(({ businessDay }) => businessDay)]),
  ])
  return {
    wallets,
    companies: new Set(companies.map((row) => `${row.partner_id} ${row.company_id}`)),
    users,
    configs: configs.map(toCoinConfig),
    known: new Map(known.map((row) => [requestKey(row.partner_id, row.request_id), toAllocation(row)])),
    awarded: new Map(
      awarded.map((row) => [awardedKey(row.user_id, row.coin_config_id, row.business_day), row.coins]),
    ),
    accounts: new Set(),
  }
}

const INSERT = statement(
  'coin_lots_insert',
  `insert into coin_lots (lot_id, entry, remaining, partner_id, request_id, request_hash, user_id, company_id, event,
     coin_config_id, revision, amount, occurred_at, business_day, expires_at, balance_after, created_at)
   select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bytea[], $7::text[], $8::text[],
     $9::text[], $10::text[], $11::integer[], $12::bigint[], $13::timestamptz[], $14::date[], $15::timestamptz[],
     $16::bigint[], $17::timestamptz[]) as n (lot_id, entry, remaining, partner_id, request_id)
   order by partner_id, request_id`,
)

export function insertAllocations(tx: Writes, made: readonly { allocation: Allocation; lot: Lot }[]): void {
  if (made.length === 0) return
  tx.write(
    INSERT,
    columns(
      made,
      ({ lot }) => lot.lotId,
      ({ lot }) => lot.entry,
      ({ lot }) => lot.remaining,
      ({ allocation: a }) => a.partnerId,
      ({ allocation: a }) => a.requestId,
      ({ allocation: a }) => a.requestHash,
      ({ allocation: a }) => a.userId,
      ({ allocation: a }) => a.companyId,
      ({ allocation: a }) => a.event,
      ({ allocation: a }) => a.coinConfigId,
      ({ allocation: a }) => a.revision,
      ({ allocation: a }) => a.amount,
      ({ allocation: a }) => a.occurredAt,
      ({ allocation: a }) => a.businessDay,
      ({ allocation: a }) => a.expiresAt,
      ({ allocation: a }) => a.balanceAfter,
      ({ allocation: a }) => a.createdAt,
    ),
  )
}
