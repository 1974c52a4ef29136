import type { IdPrefix } from '@svc/contract/id-kinds'
import { bigint, instant, type RowOf, table, text, textOf } from '@svc/platform/db/table'
import type { OutboxEvent } from '@svc/platform/outbox'
import type { Account } from '../ledger/accounts.ts'
import type { Journal } from '../ledger/journals.ts'
import type { Allocation } from './allocation.ts'

/** A user's coins, as totals of all time; what commands lock. */
export const coinWallets = table('coin_wallets', 'w', ['partnerId', 'userId'], {
  userId: text,
  partnerId: text,
  /** Entries of the history so far. */
  entries: bigint,
  /** Coins that became active, less those that were voided. */
  allocated: bigint,
  pending: bigint,
  spent: bigint,
  expired: bigint,
  voided: bigint,
})

/** The history that explains a balance. */
export const coinEntries = table('coin_entries', 'e', ['partnerId', 'userId', 'entry'], {
  userId: text,
  entry: bigint,
  partnerId: text,
  /** `PENDING` and `PENDING_VOIDED` leave the active coins as they are (decision K10). */
  kind: textOf<
    'ALLOCATED' | 'PENDING' | 'ACTIVATED' | 'REDEEMED' | 'EXPIRED' | 'VOIDED' | 'PENDING_VOIDED'
  >(),
  amount: bigint,
  /** The user's active coins right after it. */
  balanceAfter: bigint,
  /** The lot that was allocated, became active or expired; or the redemption, or the void. */
  objectId: text,
  createdAt: instant,
})
export type WalletEntry = RowOf<typeof coinEntries>

/** Coins of one allocation, as far as activating, spending, expiring and voiding needs them. */
export type Lot = Pick<
  Allocation,
  | 'lotId'
  | 'partnerId'
  | 'userId'
  | 'entry'
  | 'amount'
  | 'remaining'
  | 'pending'
  | 'spent'
  | 'expired'
  | 'voided'
  | 'expiresAt'
  | 'activationId'
  | 'activatesAt'
  | 'confirmedAt'
  | 'activatedBalance'
>

/** A user's wallet, and those lots with remaining or pending coins that the commands of a batch may need. */
export interface Wallet extends RowOf<typeof coinWallets> {
  /** False until the user's first coins are written. */
  readonly exists: boolean
  /** Oldest first. Has every lot that is due before `readyUntil`. */
  readonly lots: readonly Lot[]
  /** Pending ones, oldest first. Has every one that is due before `readyUntil`. */
  readonly pendingLots: readonly Lot[]
  /** The latest time at which the lots that were read suffice. */
  readonly readyUntil: Date
}

/** What a command makes of a wallet, and all that is to be written for it. */
export interface WalletChange {
  readonly before: Wallet
  readonly wallet: Wallet
  /** Lots that were there before, as they are now. */
  readonly lots: readonly Lot[]
  readonly entries: readonly WalletEntry[]
  readonly journals: readonly Journal[]
  readonly opens: readonly Account[]
  readonly events: readonly OutboxEvent[]
}

/** Coins that can be spent, once what is due is active or has expired. */
export const activeCoins = ({ allocated, spent, expired }: Wallet): bigint => allocated - spent - expired

/** The next line of the history of a wallet that has the coins of now, but not the line. */
export const nextEntry = (
  wallet: Wallet,
  kind: WalletEntry['kind'],
  { amount, objectId, now }: { readonly amount: bigint; readonly objectId: string; readonly now: Date },
): { readonly wallet: Wallet; readonly entry: WalletEntry } => {
  const { userId, partnerId } = wallet
  const entry = wallet.entries + 1n
  return {
    wallet: { ...wallet, entries: entry },
    entry: {
      userId,
      partnerId,
      kind,
      entry,
      amount,
      balanceAfter: activeCoins(wallet),
      objectId,
      createdAt: now,
    },
  }
}

/** An id made of another one, of what follows from it once. */
export const derivedId = (prefix: IdPrefix, id: string): string =>
  `${prefix}_${id.slice(id.indexOf('_') + 1)}`

export interface LotUse {
  readonly lotId: string
  readonly amount: bigint
}

/** What goes first: the lot that expires soonest, or the oldest (decision K9). */
export type LotOrder = 'expiry' | 'fifo'

/** Lots that never expire come last; of one instant, the oldest first. */
const bySoonest = (a: Lot, b: Lot): number => {
  if (a.expiresAt?.getTime() === b.expiresAt?.getTime()) return a.entry < b.entry ? -1 : 1
  if (a.expiresAt === null || b.expiresAt === null) return a.expiresAt === null ? 1 : -1
  return a.expiresAt < b.expiresAt ? -1 : 1
}

/** Takes at most so many coins out of lots, in order; `to` says where they go. */
export function takeFrom(
  lots: readonly Lot[],
  amount: bigint,
  { order, to }: { readonly order: LotOrder; readonly to: 'spent' | 'voided' },
): { readonly uses: readonly LotUse[]; readonly changed: readonly Lot[]; readonly taken: bigint } {
  const uses: LotUse[] = []
  const changed: Lot[] = []
  let left = amount
  for (const lot of order === 'fifo' ? lots : lots.toSorted(bySoonest)) {
    if (left === 0n) break
    const taken = lot.remaining < left ? lot.remaining : left
    uses.push({ lotId: lot.lotId, amount: taken })
    changed.push({ ...lot, remaining: lot.remaining - taken, [to]: lot[to] + taken })
    left -= taken
  }
  return { uses, changed, taken: amount - left }
}

/** The open lots after some of them changed. */
export function openAfter(lots: readonly Lot[], changed: readonly Lot[]): readonly Lot[] {
  const byId = new Map(changed.map((lot) => [lot.lotId, lot]))
  return lots.map((lot) => byId.get(lot.lotId) ?? lot).filter(({ remaining }) => remaining > 0n)
}
