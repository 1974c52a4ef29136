import { groupBy } from '../kernel/group-by.ts'
import { type Account, account, lockAccounts } from '../ledger/accounts.ts'
import { saveTransfers } from '../ledger/transfers.ts'
import type { BatchTx } from '../platform/db/batch.ts'
import type { Tx, Writes } from '../platform/db/database.ts'
import { type RowLock, rowLock } from '../platform/db/row-lock.ts'
import { columns, statement } from '../platform/db/statement.ts'
import { saveEvents } from '../platform/outbox.ts'
import type { Lot, Wallet, WalletChange } from './wallet.ts'

interface WalletRow {
  user_id: string
  partner_id: string
  entries: bigint
  allocated: bigint
  spent: bigint
  expired: bigint
}

const WALLETS: RowLock<WalletRow> = rowLock('coin_wallets_lock', {
  select: 'w.user_id, w.partner_id, w.entries, w.allocated, w.spent, w.expired',
  from: `from coin_wallets w where (w.partner_id, w.user_id) in (select * from unnest($1::text[], $2::text[]))
    order by w.user_id`,
  tenant: 'w.partner_id',
  id: 'w.user_id',
  of: 'w',
})

const READ = statement<WalletRow>(
  'coin_wallets_read',
  `select user_id, partner_id, entries, allocated, spent, expired from coin_wallets
   where (partner_id, user_id) in (select * from unnest($1::text[], $2::text[]))`,
)

interface LotRow {
  lot_id: string
  user_id: string
  entry: bigint
  remaining: bigint
  spent: bigint
  expired: bigint
  expires_at: Date | null
}

// Those that are due, now or in a moment; and of the others as many, oldest first, as so many coins can need.
const LOTS = statement<LotRow>(
  'coin_lots_open',
  `with wanted as (
     select partner_id, user_id, sum(coins)::bigint as coins,
       statement_timestamp() + $4::double precision * interval '1 millisecond' + interval '1 minute' as until
     from unnest($1::text[], $2::text[], $3::bigint[]) as w (partner_id, user_id, coins) group by 1, 2)
   select l.lot_id, l.user_id, l.entry, l.remaining, l.spent, l.expired, l.expires_at
   from wanted w cross join lateral (
     (select * from coin_lots o where o.user_id = w.user_id and o.partner_id = w.partner_id and o.remaining > 0
        and o.expires_at <= w.until)
     union all
     (select * from coin_lots o where o.user_id = w.user_id and o.partner_id = w.partner_id and o.remaining > 0
        and (o.expires_at is null or o.expires_at > w.until) order by o.entry limit w.coins)) as l
   order by l.entry`,
)
// Sent before `LOTS`, so that what it answers is no later than what that one reads to.
const READY_UNTIL = statement<{ until: Date }>(
  'coin_lots_ready_until',
  `select statement_timestamp() + $1::double precision * interval '1 millisecond' + interval '1 minute' as until`,
)

/** A user whose wallet a command changes, and the coins that it takes out. */
export interface WalletNeed {
  readonly tenantId: string
  readonly userId: string
  readonly coins: bigint
  /** What the service's clock is ahead of the database's, in milliseconds. */
  readonly clockOffsetMs: number
}

const emptyWallet = (partnerId: string, userId: string, readyUntil: Date): Wallet => ({
  partnerId,
  userId,
  exists: false,
  entries: 0n,
  allocated: 0n,
  spent: 0n,
  expired: 0n,
  lots: [],
  readyUntil,
})

const toLot = (row: LotRow): Lot => ({
  lotId: row.lot_id,
  entry: row.entry,
  remaining: row.remaining,
  spent: row.spent,
  expired: row.expired,
  expiresAt: row.expires_at,
})

const keysOf = (needs: readonly WalletNeed[]) =>
  columns(
    needs,
    (need) => need.tenantId,
    (need) => need.userId,
  )

/** Locks the wallets, in order of user. The first lock of whatever is done with coins. */
export async function lockWallets(tx: BatchTx, needs: readonly WalletNeed[]): Promise<Map<string, Wallet>> {
  if (needs.length === 0) return new Map()
  const rows = await tx.lock(WALLETS, keysOf(needs), new Set(needs.map(({ userId }) => userId)).size)
  return withLots(tx, needs, rows)
}

/** As `lockWallets`, for those who only look. */
export async function readWallets(tx: Tx, needs: readonly WalletNeed[]): Promise<Map<string, Wallet>> {
  return withLots(tx, needs, await tx.query(READ, keysOf(needs)))
}

async function withLots(
  tx: Tx,
  needs: readonly WalletNeed[],
  rows: readonly WalletRow[],
): Promise<Map<string, Wallet>> {
  const offsetMs = needs[0]!.clockOffsetMs
  const [times, lots] = await Promise.all([
    tx.query(READY_UNTIL, [offsetMs]),
    tx.query(LOTS, [
      ...columns(
        needs,
        (need) => need.tenantId,
        (need) => need.userId,
        (need) => need.coins,
      ),
      offsetMs,
    ]),
  ])
  const readyUntil = times[0]!.until
  const lotsOf = groupBy(lots, (lot) => lot.user_id)
  const known = new Map(rows.map((row) => [walletKey(row.partner_id, row.user_id), row]))
  return new Map(
    needs.map(({ tenantId, userId }): [string, Wallet] => {
      const key = walletKey(tenantId, userId)
      const row = known.get(key)
      const empty = emptyWallet(tenantId, userId, readyUntil)
      if (!row) return [key, empty]
      const { entries, allocated, spent, expired } = row
      const open = lotsOf.get(userId)?.map(toLot) ?? []
      return [key, { ...empty, exists: true, entries, allocated, spent, expired, lots: open }]
    }),
  )
}

export const walletKey = (partnerId: string, userId: string): string => `${partnerId} ${userId}`

/**
 * Locks the accounts that changes of these wallets move, after the wallets: users' accounts sort before their
 * partners'. Answers those that exist.
 */
export async function lockCoinAccounts(
  tx: BatchTx,
  wallets: ReadonlyMap<string, Wallet>,
  other: 'coins_issued' | 'coins_redeemed' | undefined,
): Promise<Set<string>> {
  const accounts: Account[] = []
  for (const { partnerId, userId, readyUntil, lots } of wallets.values()) {
    accounts.push(account('coins', partnerId, userId))
    if (other) accounts.push(account(other, partnerId))
    // Most commands meet nothing that is due; those of other lanes need not wait for them.
    if (lots.some(({ expiresAt }) => expiresAt !== null && expiresAt <= readyUntil))
      accounts.push(account('coins_expired', partnerId))
  }
  return new Set((await lockAccounts(tx, accounts)).keys())
}

const TOTALS = [
  (w: Wallet) => w.userId,
  (w: Wallet) => w.partnerId,
  (w: Wallet) => w.entries,
  (w: Wallet) => w.allocated,
  (w: Wallet) => w.spent,
  (w: Wallet) => w.expired,
]
// A plain insert on purpose: when another process wrote the user's first coins meanwhile, the batch runs again.
const INSERT_WALLETS = statement(
  'coin_wallets_insert',
  `insert into coin_wallets (user_id, partner_id, entries, allocated, spent, expired)
   select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) order by 1`,
)
const UPDATE_WALLETS = statement(
  'coin_wallets_update',
  `update coin_wallets w set entries = new.entries, allocated = new.allocated, spent = new.spent, expired = new.expired
   from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
     as new (user_id, partner_id, entries, allocated, spent, expired)
   where w.user_id = new.user_id and w.partner_id = new.partner_id`,
)
const UPDATE_LOTS = statement(
  'coin_lots_update',
  `update coin_lots l set remaining = new.remaining, spent = new.spent, expired = new.expired
   from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) as new (lot_id, remaining, spent, expired)
   where l.lot_id = new.lot_id and l.partner_id = any ($5)`,
)
const INSERT_ENTRIES = statement(
  'coin_entries_insert',
  `insert into coin_entries (user_id, entry, partner_id, kind, amount, balance_after, object_id, created_at)
   select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[],
     $8::timestamptz[]) order by 1, 2`,
)

/** Writes what commands made of wallets, in their order; lots that are new are written by who made them. */
export function saveWalletChanges(tx: Writes, changes: readonly WalletChange[]): void {
  if (changes.length === 0) return
  const last = new Map(changes.map(({ wallet }) => [wallet.userId, wallet]))
  const isNew = new Set(changes.filter(({ before }) => !before.exists).map(({ before }) => before.userId))
  const [fresh, known] = [
    [...last.values()].filter((w) => isNew.has(w.userId)),
    [...last.values()].filter((w) => !isNew.has(w.userId)),
  ]
  if (fresh.length > 0) tx.write(INSERT_WALLETS, columns(fresh, ...TOTALS))
  if (known.length > 0) tx.write(UPDATE_WALLETS, columns(known, ...TOTALS))
  updateLots(tx, changes)
  tx.write(
    INSERT_ENTRIES,
    columns(
      changes.flatMap(({ entries }) => entries),
      (e) => e.userId,
      (e) => e.entry,
      (e) => e.partnerId,
      (e) => e.kind,
      (e) => e.amount,
      (e) => e.balanceAfter,
      (e) => e.objectId,
      (e) => e.createdAt,
    ),
  )
  saveTransfers(
    tx,
    changes.flatMap(({ transfers }) => transfers),
    changes.flatMap(({ opens }) => opens),
  )
  saveEvents(
    tx,
    changes.flatMap(({ events }) => events),
  )
}

function updateLots(tx: Writes, changes: readonly WalletChange[]): void {
  const lots = new Map(changes.flatMap((change) => change.lots).map((lot) => [lot.lotId, lot]))
  if (lots.size === 0) return
  const partners = [...new Set(changes.map(({ before }) => before.partnerId))]
  tx.write(UPDATE_LOTS, [
    ...columns(
      [...lots.values()],
      (lot) => lot.lotId,
      (lot) => lot.remaining,
      (lot) => lot.spent,
      (lot) => lot.expired,
    ),
    partners,
  ])
}
