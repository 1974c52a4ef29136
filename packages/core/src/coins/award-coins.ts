import { type Account, account, accountId } from '../ledger/accounts.ts'
import { journalOf } from '../ledger/journals.ts'
import type { CoinTransfer } from '../ledger/transfers.ts'
import { settleDue } from './settle-wallet.ts'
import { activeCoins, type Lot, nextEntry, type Wallet, type WalletChange } from './wallet.ts'

/** How an award becomes active and ends, by the configuration that made it. */
export interface AwardTerms {
  /** Of a pending award. */
  readonly activationId: string | null
  /** When it becomes active by itself; `null` for at once, or by confirmation. */
  readonly activatesAt: Date | null
  /** `null` for never, and as long as it is not known. */
  readonly expiresAt: Date | null
}

export interface Award {
  readonly lotId: string
  readonly transferId: string
  readonly requestId: string
  readonly amount: bigint
  readonly terms: AwardTerms
  readonly timeZone: string
}

/** Adds a lot, active or pending. The first coins of a user, and of a partner, open their accounts. */
export function award(wallet: Wallet, openAccounts: ReadonlySet<string>, requested: Award, now: Date) {
  const { lotId, transferId, requestId, amount, terms, timeZone } = requested
  const due = settleDue(wallet, now, timeZone)
  const { partnerId, userId } = wallet
  const isPending = terms.activationId !== null
  const sum = isPending ? 'pending' : 'allocated'
  const { wallet: entered, entry } = nextEntry(
    { ...due.wallet, exists: true, [sum]: due.wallet[sum] + amount },
    isPending ? 'PENDING' : 'ALLOCATED',
    { amount, objectId: lotId, now },
  )
  const lot: Lot = {
    lotId,
    partnerId,
    userId,
    entry: entry.entry,
    amount,
    remaining: isPending ? 0n : amount,
    pending: isPending ? amount : 0n,
    spent: 0n,
    expired: 0n,
    voided: 0n,
    confirmedAt: null,
    activatedBalance: null,
    ...terms,
  }
  const after: Wallet = isPending
    ? { ...entered, pendingLots: [...entered.pendingLots, lot] }
    : { ...entered, lots: [...entered.lots, lot] }
  const transfer: CoinTransfer = {
    transferId,
    tenantId: partnerId,
    kind: 'coin_allocation',
    debitAccountId: accountId('coins_issued', partnerId),
    creditAccountId: accountId(isPending ? 'coins_pending' : 'coins', userId),
    amountCoins: amount,
    objectId: lotId,
    createdAt: now,
  }
  const change: WalletChange = {
    ...due,
    wallet: after,
    entries: [...due.entries, entry],
    journals: [...due.journals, journalOf(transfer, requestId)],
    opens: opensFor(wallet, isPending, openAccounts),
  }
  return { change, lot, balance: activeCoins(after) }
}

function opensFor(
  { partnerId, userId }: Wallet,
  isPending: boolean,
  openAccounts: ReadonlySet<string>,
): Account[] {
  const isMissing = ({ accountId }: Account) => !openAccounts.has(accountId)
  const users = [account('coins', partnerId, userId), account('coins_pending', partnerId, userId)]
  // A partner's three are opened together, so that the existence of one implies the others.
  const partners = (['coins_issued', 'coins_redeemed', 'coins_expired'] as const).map((kind) =>
    account(kind, partnerId),
  )
  return [
    ...users.slice(0, isPending ? 2 : 1).filter(isMissing),
    ...(isMissing(partners[0]!) ? partners : []),
  ]
}
