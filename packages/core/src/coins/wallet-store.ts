import { ByTenant, idsByTenant, lastOfEach } from '@svc/kernel/by-tenant'
import type { BatchTx } from '@svc/platform/db/batch'
import type { Tx, Writes } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import type { RowOf } from '@svc/platform/db/table'
import { saveEvents } from '@svc/platform/outbox'
import { type Account, account, lockAccounts } from '../ledger/accounts.ts'
import { saveJournals } from '../ledger/journals.ts'
import { coinLots } from './allocation.ts'
import {
  coinEntries,
  coinWallets,
  type Lot,
  type LotOrder,
  type Wallet,
  type WalletChange,
} from './wallet.ts'

type WalletRow = RowOf<typeof coinWallets>

const LOCK = coinWallets.lock('lock')

const LOT_COLUMNS = `l.lot_id as "lotId", l.partner_id as "partnerId", l.user_id as "userId", l.entry, l.amount,
  l.remaining, l.pending, l.spent, l.expired, l.voided, l.expires_at as "expiresAt", l.activation_id as "activationId",
  l.activates_at as "activatesAt", l.confirmed_at as "confirmedAt", l.activated_balance as "activatedBalance"`

interface OpenLot extends Omit<Lot, 'lotId'> {
  /** Absent where a wallet has none of them. */
  readonly lotId: string | null
  /** Milliseconds since the epoch up to which what is due was read, by the database's clock. */
  readonly readyUntilMs: number
}
const isLot = (row: OpenLot): row is OpenLot & Lot => row.lotId !== null

// Those that are due to expire or to become active, now or in a moment; and of the others as many, in their order, as so many coins can need.
const lotsIn = (order: LotOrder) =>
  statement<OpenLot>(
    `coin_lots_open_${order}`,
    `with wanted as (
     select partner_id, user_id, sum(coins)::bigint as coins,
       statement_timestamp() + max(offset_ms) * interval '1 millisecond' + interval '1 minute' as until
     from unnest($1::text[], $2::text[], $3::bigint[], $4::double precision[]) as w (partner_id, user_id, coins, offset_ms)
     group by 1, 2)
   select extract(epoch from statement_timestamp() + interval '1 minute')::double precision * 1000 as "readyUntilMs",
     ${LOT_COLUMNS}
   from wanted w left join lateral (
     (select * from coin_lots o where o.user_id = w.user_id and o.partner_id = w.partner_id and o.remaining > 0
        and o.expires_at <= w.until)
     union all
     (select * from coin_lots o where o.user_id = w.user_id and o.partner_id = w.partner_id and o.pending > 0
        and o.activates_at <= w.until)
     union all
     (select * from coin_lots o where o.user_id = w.user_id and o.partner_id = w.partner_id and o.remaining > 0
        and (o.expires_at is null or o.expires_at > w.until)
        order by ${order === 'fifo' ? 'o.entry' : 'o.expires_at, o.entry'} limit w.coins)) as l on true
   order by l.entry`,
  )
const LOTS: Readonly<Record<LotOrder, ReturnType<typeof lotsIn>>> = {
  expiry: lotsIn('expiry'),
  fifo: lotsIn('fifo'),
}

/** A user whose wallet a command changes, and the coins that it takes out. */
export interface WalletNeed {
  readonly tenantId: string
  readonly userId: string
  readonly coins: bigint
  /** By default what expires soonest. */
  readonly lotOrder?: LotOrder
  /** What the tenant's clock is ahead of the database's, in milliseconds. */
  readonly clockOffsetMs: number
}

/** Wallets of a partner, by user. */
export type Wallets = Map<string, Wallet>

const tenantOf = (need: WalletNeed) => need.tenantId
const userOf = (need: WalletNeed) => need.userId
const coinsOf = (need: WalletNeed) => need.coins
const offsetOf = (need: WalletNeed) => need.clockOffsetMs

const walletOf = ({ tenantId, userId }: Pick<WalletNeed, 'tenantId' | 'userId'>) => ({
  partnerId: tenantId,
  userId,
})

/** Locks the wallets, in order of user: every command on coins locks them first. */
export async function lockWallets(tx: BatchTx, needs: readonly WalletNeed[]): Promise<ByTenant<Wallets>> {
  return withLots(tx, needs, await lockWalletRows(tx, needs))
}

/** The first half of it, for commands that find out under the lock which lots they need. */
export const lockWalletRows = (
  tx: BatchTx,
  needs: readonly Pick<WalletNeed, 'tenantId' | 'userId'>[],
): Promise<ByTenant<Map<string, WalletRow>>> => coinWallets.lockRows(tx, LOCK, needs.map(walletOf))

/** As `lockWallets`, without a lock. */
export async function readWallets(tx: Tx, needs: readonly WalletNeed[]): Promise<ByTenant<Wallets>> {
  const rows = await tx.query(coinWallets.find, coinWallets.keys(needs.map(walletOf)))
  return withLots(tx, needs, coinWallets.byTenant(rows))
}

/** Locked wallets with the lots that are needed of them. */
export async function withLots(
  tx: Tx,
  needs: readonly WalletNeed[],
  known: ByTenant<Map<string, WalletRow>>,
): Promise<ByTenant<Wallets>> {
  if (needs.length === 0) return new ByTenant(() => new Map())
  const { lotOrder = 'expiry' } = needs[0]!
  const rows = await tx.query(LOTS[lotOrder], columns(needs, tenantOf, userOf, coinsOf, offsetOf))
  // One row at least for each requested wallet.
  const untilMs = Math.floor(rows[0]!.readyUntilMs)
  const open = lotsByUser(rows.filter(isLot))
  const wallets = new ByTenant((): Wallets => new Map())
  for (const { tenantId, userId, clockOffsetMs } of needs) {
    const row = known.of(tenantId).get(userId)
    const found = (row && open.of(tenantId).get(userId)) ?? []
    wallets.of(tenantId).set(userId, {
      partnerId: tenantId,
      userId,
      exists: row !== undefined,
      entries: row?.entries ?? 0n,
      allocated: row?.allocated ?? 0n,
      pending: row?.pending ?? 0n,
      spent: row?.spent ?? 0n,
      expired: row?.expired ?? 0n,
      voided: row?.voided ?? 0n,
      lots: found.filter(({ pending }) => pending === 0n),
      pendingLots: found.filter(({ pending }) => pending > 0n),
      readyUntil: new Date(untilMs + clockOffsetMs),
    })
  }
  return wallets
}

function lotsByUser(rows: readonly Lot[]): ByTenant<Map<string, Lot[]>> {
  const lots = new ByTenant(() => new Map<string, Lot[]>())
  for (const lot of rows) {
    const ofTenant = lots.of(lot.partnerId)
    const known = ofTenant.get(lot.userId)
    if (known) known.push(lot)
    else ofTenant.set(lot.userId, [lot])
  }
  return lots
}

/**
 * Locks the accounts that changes of these wallets move, after the wallets: users' accounts sort before their
 * partners'. Returns the balances of those that exist. `more`: accounts that the command moves besides.
 */
export function lockCoinAccounts(
  tx: BatchTx,
  needs: readonly Pick<WalletNeed, 'tenantId' | 'userId'>[],
  wallets: ByTenant<Wallets>,
  more: (need: { readonly tenantId: string; readonly userId: string }) => readonly Account[] = () => [],
): Promise<ByTenant<Map<string, bigint>>> {
  const accounts: Account[] = []
  for (const { tenantId, userId } of needs) {
    const { readyUntil, lots, pendingLots } = wallets.of(tenantId).get(userId)!
    accounts.push(account('coins', tenantId, userId), ...more({ tenantId, userId }))
    if (pendingLots.length > 0) accounts.push(account('coins_pending', tenantId, userId))
    // Most commands meet nothing that is due; those of other commit queues need not wait for them.
    if ([...lots, ...pendingLots].some(({ expiresAt }) => expiresAt !== null && expiresAt <= readyUntil))
      accounts.push(account('coins_expired', tenantId))
  }
  return lockAccounts(tx, accounts)
}

const updateTotals = coinWallets.updates(['entries', 'allocated', 'pending', 'spent', 'expired', 'voided'])
const updateLots = coinLots.updates([
  'remaining',
  'pending',
  'spent',
  'expired',
  'voided',
  'expiresAt',
  'confirmedAt',
  'activatedBalance',
])

/** Writes what commands changed in wallets, in their order; new lots are inserted by the command that creates them. */
export function saveWalletChanges(tx: Writes, timeZone: string, changes: readonly WalletChange[]): void {
  if (changes.length === 0) return
  const partnerOf = (row: { readonly partnerId: string }) => row.partnerId
  const last = lastOfEach(
    changes.map(({ wallet }) => wallet),
    partnerOf,
    (wallet) => wallet.userId,
  )
  const isNew = idsByTenant(
    changes.filter(({ before }) => !before.exists).map(({ before }) => before),
    partnerOf,
    (wallet) => wallet.userId,
  )
  // A plain insert on purpose: when another process wrote the user's first coins meanwhile, the batch runs again.
  coinWallets.insert(
    tx,
    last.filter((wallet) => isNew.of(wallet.partnerId).has(wallet.userId)),
  )
  updateTotals(
    tx,
    last.filter((wallet) => !isNew.of(wallet.partnerId).has(wallet.userId)),
  )
  updateLots(
    tx,
    changes.flatMap(({ lots }) => lots),
  )
  coinEntries.insert(
    tx,
    changes.flatMap(({ entries }) => entries),
  )
  saveJournals(
    tx,
    timeZone,
    changes.flatMap(({ journals }) => journals),
    changes.flatMap(({ opens }) => opens),
  )
  saveEvents(
    tx,
    changes.flatMap(({ events }) => events),
  )
}
