import { fail } from '@svc/contract/errors'
import { invariant } from '@svc/kernel/invariant'
import { bigint, instant, type RowOf, table, text, textOf } from '@svc/platform/db/table'
import type { OutboxEvent } from '@svc/platform/outbox'
import { type Account, account, accountId } from '../ledger/accounts.ts'
import { type Journal, journalOf } from '../ledger/journals.ts'
import type { CoinTransfer } from '../ledger/transfers.ts'
import type { Allocation } from './allocation.ts'

/** A user's coins, as totals of all time; what commands lock. */
export const coinWallets = table('coin_wallets', 'w', ['partnerId', 'userId'], {
  userId: text,
  partnerId: text,
  /** Entries of the history so far. */
  entries: bigint,
  allocated: bigint,
  spent: bigint,
  expired: bigint,
})

/** The history that explains a balance. */
export const coinEntries = table('coin_entries', 'e', ['partnerId', 'userId', 'entry'], {
  userId: text,
  entry: bigint,
  partnerId: text,
  kind: textOf<'ALLOCATED' | 'REDEEMED' | 'EXPIRED'>(),
  amount: bigint,
  /** The user's active coins right after it. */
  balanceAfter: bigint,
  /** The lot that was allocated or expired, or the redemption. */
  objectId: text,
  createdAt: instant,
})
export type WalletEntry = RowOf<typeof coinEntries>

/** Coins of one allocation, as far as spending and expiring needs them. */
export type Lot = Pick<
  Allocation,
  'lotId' | 'partnerId' | 'userId' | 'entry' | 'remaining' | 'spent' | 'expired' | 'expiresAt'
>

/** A user's wallet, and those lots with coins left that the commands of a batch may need. */
export interface Wallet extends RowOf<typeof coinWallets> {
  /** False until the user's first coins are written. */
  readonly exists: boolean
  /** Oldest first. Has every lot that is due before `readyUntil`. */
  readonly lots: readonly Lot[]
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

/** Coins that can be spent, once what is due has expired. */
export const activeCoins = ({ allocated, spent, expired }: Wallet): bigint => allocated - spent - expired

const isDue = ({ expiresAt }: Lot, now: Date): boolean => expiresAt !== null && expiresAt <= now

const entryOf = (
  { userId, partnerId }: Wallet,
  kind: WalletEntry['kind'],
  rest: Omit<WalletEntry, 'userId' | 'partnerId' | 'kind'>,
): WalletEntry => ({ userId, partnerId, kind, ...rest })

/** The last line of the history of a wallet as it is now. */
const lastEntry = (
  wallet: Wallet,
  kind: WalletEntry['kind'],
  { amount, objectId, now }: { readonly amount: bigint; readonly objectId: string; readonly now: Date },
): WalletEntry =>
  entryOf(wallet, kind, {
    entry: wallet.entries,
    amount,
    balanceAfter: activeCoins(wallet),
    objectId,
    createdAt: now,
  })

/** Ids of what follows from a lot's expiry: a lot expires once, so that its own id makes them unique. */
const derivedId = (prefix: string, lotId: string): string =>
  `${prefix}_${lotId.slice(lotId.indexOf('_') + 1)}`

/**
 * Takes what remains of every lot past its time. The first step of whatever is done to a wallet: from that instant on
 * expired coins count for nothing, and spent ones are not taken again.
 */
export function expireDue(before: Wallet, now: Date): WalletChange {
  // Only a clock that was set forward under way gets here; nothing is written, and the next try reads again.
  if (now > before.readyUntil) fail('temporarily_unavailable', { retryAfterSeconds: 1 })
  const due = before.lots.filter((lot) => isDue(lot, now))
  const lots = due.map((lot) => ({ ...lot, remaining: 0n, expired: lot.expired + lot.remaining }))
  let balance = activeCoins(before)
  const entries = due.map((lot, i): WalletEntry => {
    balance -= lot.remaining
    return entryOf(before, 'EXPIRED', {
      entry: before.entries + BigInt(i) + 1n,
      amount: lot.remaining,
      balanceAfter: balance,
      objectId: lot.lotId,
      createdAt: now,
    })
  })
  const wallet: Wallet = {
    ...before,
    entries: before.entries + BigInt(due.length),
    expired: before.allocated - before.spent - balance,
    lots: before.lots.filter((lot) => !isDue(lot, now)),
  }
  const journals = due.map((lot) => journalOf(expiryTransfer(before, lot, now)))
  const events = due.length === 0 ? [] : [expiredEvent(wallet, entries, now)]
  return { before, wallet, lots, entries, journals, opens: [], events }
}

const expiryTransfer = ({ partnerId, userId }: Wallet, lot: Lot, now: Date): CoinTransfer => ({
  transferId: derivedId('trf', lot.lotId),
  tenantId: partnerId,
  kind: 'coin_expiry',
  debitAccountId: accountId('coins', userId),
  creditAccountId: accountId('coins_expired', partnerId),
  amountCoins: lot.remaining,
  objectId: lot.lotId,
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

export interface Award {
  readonly lotId: string
  readonly transferId: string
  readonly requestId: string
  readonly amount: bigint
  readonly expiresAt: Date | null
}

/** Adds a lot. The first coins of a user, and of a partner, open their accounts. */
export function award(
  wallet: Wallet,
  openAccounts: ReadonlySet<string>,
  { lotId, transferId, requestId, amount, expiresAt }: Award,
  now: Date,
) {
  const due = expireDue(wallet, now)
  const { partnerId, userId } = wallet
  const entryNumber = due.wallet.entries + 1n
  const lot: Lot = {
    lotId,
    partnerId,
    userId,
    entry: entryNumber,
    remaining: amount,
    spent: 0n,
    expired: 0n,
    expiresAt,
  }
  const after: Wallet = {
    ...due.wallet,
    exists: true,
    entries: entryNumber,
    allocated: due.wallet.allocated + amount,
    lots: [...due.wallet.lots, lot],
  }
  const transfer: CoinTransfer = {
    transferId,
    tenantId: partnerId,
    kind: 'coin_allocation',
    debitAccountId: accountId('coins_issued', partnerId),
    creditAccountId: accountId('coins', userId),
    amountCoins: amount,
    objectId: lotId,
    createdAt: now,
  }
  const own = account('coins', partnerId, userId)
  // A partner's three are opened together, so that the existence of one implies the others.
  const partners = (['coins_issued', 'coins_redeemed', 'coins_expired'] as const).map((kind) =>
    account(kind, partnerId),
  )
  const opens = [
    ...(openAccounts.has(own.accountId) ? [] : [own]),
    ...(openAccounts.has(partners[0]!.accountId) ? [] : partners),
  ]
  const change: WalletChange = {
    ...due,
    wallet: after,
    entries: [...due.entries, lastEntry(after, 'ALLOCATED', { amount, objectId: lotId, now })],
    journals: [...due.journals, journalOf(transfer, requestId)],
    opens,
  }
  return { change, lot, balance: activeCoins(after) }
}

interface Redemption {
  readonly redemptionId: string
  readonly transferId: string
  readonly requestId: string
  readonly amount: bigint
  readonly lotOrder: 'expiry' | 'fifo'
}

/** Lots that never expire come last; of one instant, the oldest first. */
const bySoonest = (a: Lot, b: Lot): number => {
  if (a.expiresAt?.getTime() === b.expiresAt?.getTime()) return a.entry < b.entry ? -1 : 1
  if (a.expiresAt === null || b.expiresAt === null) return a.expiresAt === null ? 1 : -1
  return a.expiresAt < b.expiresAt ? -1 : 1
}

export interface LotUse {
  readonly lotId: string
  readonly amount: bigint
}

/** Spends coins, the soonest to expire or the oldest lots first (decision K9); all of them or none. */
export function redeem(
  wallet: Wallet,
  { redemptionId, transferId, requestId, amount, lotOrder }: Redemption,
  now: Date,
) {
  const due = expireDue(wallet, now)
  if (activeCoins(due.wallet) < amount) fail('insufficient_coins')
  const { partnerId, userId } = wallet
  const uses: LotUse[] = []
  const changed: Lot[] = []
  let left = amount
  for (const lot of lotOrder === 'fifo' ? due.wallet.lots : due.wallet.lots.toSorted(bySoonest)) {
    if (left === 0n) break
    const taken = lot.remaining < left ? lot.remaining : left
    uses.push({ lotId: lot.lotId, amount: taken })
    changed.push({ ...lot, remaining: lot.remaining - taken, spent: lot.spent + taken })
    left -= taken
  }
  invariant(left === 0n, 'the lots hold fewer coins than the totals say')
  const byId = new Map(changed.map((lot) => [lot.lotId, lot]))
  const after: Wallet = {
    ...due.wallet,
    entries: due.wallet.entries + 1n,
    spent: due.wallet.spent + amount,
    lots: due.wallet.lots.map((lot) => byId.get(lot.lotId) ?? lot).filter(({ remaining }) => remaining > 0n),
  }
  const transfer: CoinTransfer = {
    transferId,
    tenantId: partnerId,
    kind: 'coin_redemption',
    debitAccountId: accountId('coins', userId),
    creditAccountId: accountId('coins_redeemed', partnerId),
    amountCoins: amount,
    objectId: redemptionId,
    createdAt: now,
  }
  const change: WalletChange = {
    ...due,
    wallet: after,
    lots: [...due.lots, ...changed],
    entries: [...due.entries, lastEntry(after, 'REDEEMED', { amount, objectId: redemptionId, now })],
    journals: [...due.journals, journalOf(transfer, requestId)],
  }
  return { change, uses, balance: activeCoins(after) }
}
