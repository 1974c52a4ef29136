import { ByTenant, byTenant } from '@svc/kernel/by-tenant'
import { NestedMap } from '@svc/kernel/nested-map'
import type { BatchTx } from '@svc/platform/db/batch'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { account } from '../ledger/accounts.ts'
import { findMembership, lockUsers, type Membership } from '../tenants/user.ts'
import { type Allocation, coinLots } from './allocation.ts'
import { type CoinConfig, coinConfigs, delays } from './coin-config.ts'
import { lockCoinAccounts, lockWallets, readWallets, type WalletNeed, type Wallets } from './wallet-store.ts'

/** What allocating coins depends on, of one partner. */
export interface AllocationState extends Membership {
  readonly wallets: Wallets
  readonly configs: readonly CoinConfig[]
  /** First allocations, by request. */
  readonly known: Map<string, Allocation>
  /** Coins of a day. */
  readonly awarded: NestedMap<[userId: string, coinConfigId: string, businessDay: string], bigint>
  /** Ledger accounts that are open. */
  readonly accounts: Set<string>
}

/** What of a command the state is read by. */
export interface AllocationNeed extends WalletNeed {
  readonly companyId: string
  readonly event: string
  readonly requestId: string
  /** The day of an event whose time is given; otherwise the day of the decision counts (decision K11). */
  readonly occurredDay: string | undefined
  readonly timeZone: string
}

const CONFIGS = statement<CoinConfig>(
  'coin_allocations_configs',
  `select ${coinConfigs.columns} from coin_configs c
   where (c.partner_id, c.event) in (select * from unnest($1::text[], $2::text[])) and c.status = 'ACTIVE'
   order by c.coin_config_id`,
)
const KNOWN = statement<Allocation>(
  'coin_allocations_known',
  `select ${coinLots.columns} from coin_lots l
   where (l.partner_id, l.request_id) in (select * from unnest($1::text[], $2::text[]))`,
)
interface Awarded {
  readonly partnerId: string
  readonly userId: string
  readonly coinConfigId: string
  readonly businessDay: string
  readonly coins: bigint
}
// Without a day: that of the database, and the next one, which may have begun when the decision is made (decision X35).
const AWARDED = statement<Awarded>(
  'coin_allocations_awarded',
  `select partner_id as "partnerId", user_id as "userId", coin_config_id as "coinConfigId",
     business_day::text as "businessDay", sum(amount)::bigint as coins
   from coin_lots
   where (partner_id, user_id, business_day) in (
     select w.partner_id, w.user_id,
       coalesce(w.day, ((clock_timestamp() + w.ahead_ms * interval '1 millisecond') at time zone $5)::date + n.days)
     from unnest($1::text[], $2::text[], $3::date[], $4::bigint[]) as w (partner_id, user_id, day, ahead_ms)
       join (values (0), (1)) as n (days) on n.days = 0 or w.day is null)
   group by 1, 2, 3, 4`,
)

/**
 * Users and wallets first: what is read under their lock includes every earlier decision on them, also that a user is
 * erased, who then gets no coins.
 */
export async function lockAllocations(
  tx: BatchTx,
  needs: readonly AllocationNeed[],
): Promise<ByTenant<AllocationState>> {
  const [, wallets] = await Promise.all([lockUsers(tx, needs), lockWallets(tx, needs)])
  const state = await readState(tx, needs, wallets)
  const accounts = await lockCoinAccounts(tx, needs, wallets, ({ tenantId, userId }) => [
    account('coins_issued', tenantId),
    ...(state.of(tenantId).configs.some(delays) ? [account('coins_pending', tenantId, userId)] : []),
  ])
  return new ByTenant((tenantId) => ({
    ...state.of(tenantId),
    accounts: new Set(accounts.of(tenantId).keys()),
  }))
}

/** The same without a lock, for a dry run. */
export const readAllocations = async (
  tx: Tx,
  needs: readonly AllocationNeed[],
): Promise<ByTenant<AllocationState>> => readState(tx, needs, await readWallets(tx, needs))

async function readState(
  tx: Tx,
  needs: readonly AllocationNeed[],
  wallets: ByTenant<Wallets>,
): Promise<ByTenant<AllocationState>> {
  const tenants = needs.map(({ tenantId }) => tenantId)
  const by = (pick: (need: AllocationNeed) => string) => [tenants, needs.map(pick)]
  const [members, configRows, knownRows, awardedRows] = await Promise.all([
    findMembership(tx, needs),
    tx.query(
      CONFIGS,
      by(({ event }) => event),
    ),
    tx.query(
      KNOWN,
      by(({ requestId }) => requestId),
    ),
    tx.query(AWARDED, [
      ...by(({ userId }) => userId),
      needs.map(({ occurredDay = null }) => occurredDay),
      needs.map(({ clockOffsetMs }) => clockOffsetMs),
      needs[0]?.timeZone ?? 'UTC',
    ]),
  ])
  const known = byTenant<Allocation, Allocation>(
    knownRows,
    ({ partnerId }) => partnerId,
    ({ requestId }) => requestId,
    (allocation) => allocation,
  )
  const configs = new ByTenant((): CoinConfig[] => [])
  for (const config of configRows) configs.of(config.partnerId).push(config)
  const awarded = new ByTenant((): AllocationState['awarded'] => new NestedMap())
  for (const { partnerId, userId, coinConfigId, businessDay, coins } of awardedRows)
    awarded.of(partnerId).set([userId, coinConfigId, businessDay], coins)
  return new ByTenant((tenantId) => ({
    wallets: wallets.of(tenantId),
    ...members.of(tenantId),
    configs: configs.of(tenantId),
    known: known.of(tenantId),
    awarded: awarded.of(tenantId),
    accounts: new Set(),
  }))
}
