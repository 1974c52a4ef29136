import { fail } from '@svc/contract/errors'
import type { OutboxEvent } from '@svc/platform/outbox'
import { accountId } from '../ledger/accounts.ts'
import { journalOf } from '../ledger/journals.ts'
import type { CoinTransfer } from '../ledger/transfers.ts'
import { activationToWire } from './allocation.ts'
import {
  activeCoins,
  derivedId,
  type Lot,
  nextEntry,
  type Wallet,
  type WalletChange,
  type WalletEntry,
} from './wallet.ts'

const isDue = ({ expiresAt }: Lot, now: Date): boolean => expiresAt !== null && expiresAt <= now

/** In order of allocation, as `Wallet.lots` are. */
const byEntry = (a: Lot, b: Lot): number => (a.entry < b.entry ? -1 : 1)

/**
 * Activates pending lots whose time has come, then takes what remains of every lot past its time. The first step of
 * whatever is done to a wallet: balances depend on the instant alone, not on when a sweep ran (decisions K9, K10).
 */
export function settleDue(before: Wallet, now: Date, timeZone: string): WalletChange {
  // Only a clock that was set forward under way gets here; nothing is written, and the next try reads again.
  if (now > before.readyUntil) fail('temporarily_unavailable', { retryAfterSeconds: 1 })
  let change: WalletChange = {
    before,
    wallet: before,
    lots: [],
    entries: [],
    journals: [],
    opens: [],
    events: [],
  }
  for (const lot of before.pendingLots)
    if (lot.activatesAt !== null && lot.activatesAt <= now) change = activate(change, lot, now, timeZone)
  return expireDue(change, now)
}

/** Makes a pending lot active. `lot` has the instants of its activation and of its expiry. */
export function activate(change: WalletChange, lot: Lot, now: Date, timeZone: string): WalletChange {
  const { partnerId, userId, lotId, amount } = lot
  const activationId = lot.activationId!
  const { wallet, entry } = nextEntry(
    {
      ...change.wallet,
      allocated: change.wallet.allocated + amount,
      pending: change.wallet.pending - amount,
    },
    'ACTIVATED',
    { amount, objectId: lotId, now },
  )
  const active: Lot = { ...lot, pending: 0n, remaining: amount, activatedBalance: entry.balanceAfter }
  const transfer: CoinTransfer = {
    transferId: derivedId('trf', activationId),
    tenantId: partnerId,
    kind: 'coin_activation',
    debitAccountId: accountId('coins_pending', userId),
    creditAccountId: accountId('coins', userId),
    amountCoins: amount,
    objectId: lotId,
    createdAt: now,
  }
  const event: OutboxEvent = {
    eventId: derivedId('evt', activationId),
    tenantId: partnerId,
    type: 'coins.activated',
    objectId: userId,
    payload: activationToWire(active, timeZone),
    createdAt: now,
  }
  return {
    ...change,
    wallet: {
      ...wallet,
      lots: [...wallet.lots, active].sort(byEntry),
      pendingLots: wallet.pendingLots.filter((other) => other.lotId !== lotId),
    },
    lots: [...change.lots, active],
    entries: [...change.entries, entry],
    journals: [...change.journals, journalOf(transfer)],
    events: [...change.events, event],
  }
}

function expireDue(change: WalletChange, now: Date): WalletChange {
  const due = change.wallet.lots.filter((lot) => isDue(lot, now))
  if (due.length === 0) return change
  let { wallet } = change
  const entries: WalletEntry[] = []
  for (const { remaining: amount, lotId } of due) {
    const next = nextEntry({ ...wallet, expired: wallet.expired + amount }, 'EXPIRED', {
      amount,
      objectId: lotId,
      now,
    })
    wallet = next.wallet
    entries.push(next.entry)
  }
  wallet = { ...wallet, lots: wallet.lots.filter((lot) => !isDue(lot, now)) }
  return {
    ...change,
    wallet,
    lots: [
      ...change.lots,
      ...due.map((lot) => ({ ...lot, remaining: 0n, expired: lot.expired + lot.remaining })),
    ],
    entries: [...change.entries, ...entries],
    journals: [...change.journals, ...due.map((lot) => journalOf(expiryTransfer(lot, now)))],
    events: [...change.events, expiredEvent(wallet, entries, now)],
  }
}

// A lot expires once, so that its own id makes the ids of what follows unique.
const expiryTransfer = ({ partnerId, userId, lotId, remaining }: Lot, now: Date): CoinTransfer => ({
  transferId: derivedId('trf', lotId),
  tenantId: partnerId,
  kind: 'coin_expiry',
  debitAccountId: accountId('coins', userId),
  creditAccountId: accountId('coins_expired', partnerId),
  amountCoins: remaining,
  objectId: lotId,
  createdAt: now,
})

const expiredEvent = (wallet: Wallet, entries: readonly WalletEntry[], now: Date): OutboxEvent => ({
  eventId: derivedId('evt', entries[0]!.objectId),
  tenantId: wallet.partnerId,
  type: 'coins.expired',
  objectId: wallet.userId,
  payload: {
    userId: wallet.userId,
    amount: Number(entries.reduce((sum, { amount }) => sum + amount, 0n)),
    allocations: entries.map(({ objectId, amount }) => ({ allocationId: objectId, amount: Number(amount) })),
    balance: Number(activeCoins(wallet)),
  },
  createdAt: now,
})
