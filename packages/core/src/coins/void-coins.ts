import { accountId } from '../ledger/accounts.ts'
import { journalOf } from '../ledger/journals.ts'
import type { CoinTransfer } from '../ledger/transfers.ts'
import { settleDue } from './settle-wallet.ts'
import {
  activeCoins,
  type Lot,
  type LotOrder,
  type LotUse,
  nextEntry,
  openAfter,
  takeFrom,
  type Wallet,
  type WalletChange,
} from './wallet.ts'

/** Whose coins replace those of a voided allocation that were spent: none, or the user's other coins. */
export type Clawback = 'lot' | 'wallet'

interface Void {
  readonly voidId: string
  readonly transferId: string
  readonly requestId: string
  readonly lotId: string
  /** What was spent of the lot. */
  readonly spent: bigint
  readonly clawback: Clawback
  readonly lotOrder: LotOrder
  readonly timeZone: string
}

interface Taken {
  readonly uses: readonly LotUse[]
  readonly lots: readonly Lot[]
  readonly amount: bigint
}

/**
 * Takes a lot back: what is pending or remains of it, and by `clawback` as many other coins as were spent of it, as far
 * as there are (decision K12). Expired coins are gone already.
 */
export function voidLot(wallet: Wallet, requested: Void, now: Date) {
  const { voidId, transferId, requestId, lotId, spent, timeZone } = requested
  const due = settleDue(wallet, now, timeZone)
  const pending = due.wallet.pendingLots.find((lot) => lot.lotId === lotId)
  const { uses, lots, amount } = pending ? pendingOf(pending) : activeOf(due.wallet, requested)
  const ownAmount = uses.find((use) => use.lotId === lotId)?.amount ?? 0n
  const shortfall = spent - (amount - ownAmount)
  const sum = pending ? 'pending' : 'allocated'
  const { wallet: after, entry } = nextEntry(
    {
      ...due.wallet,
      [sum]: due.wallet[sum] - amount,
      voided: due.wallet.voided + amount,
      lots: openAfter(due.wallet.lots, lots),
      pendingLots: due.wallet.pendingLots.filter((lot) => lot !== pending),
    },
    pending ? 'PENDING_VOIDED' : 'VOIDED',
    { amount, objectId: voidId, now },
  )
  const transfer: CoinTransfer = {
    transferId,
    tenantId: wallet.partnerId,
    kind: 'coin_void',
    debitAccountId: accountId(pending ? 'coins_pending' : 'coins', wallet.userId),
    creditAccountId: accountId('coins_issued', wallet.partnerId),
    amountCoins: amount,
    objectId: voidId,
    createdAt: now,
  }
  const change: WalletChange = {
    ...due,
    wallet: after,
    lots: [...due.lots, ...lots],
    entries: [...due.entries, entry],
    journals: [...due.journals, ...(amount > 0n ? [journalOf(transfer, requestId)] : [])],
  }
  return { change, uses, amount, shortfall, wasPending: pending !== undefined, balance: activeCoins(after) }
}

const pendingOf = (lot: Lot): Taken => ({
  uses: [{ lotId: lot.lotId, amount: lot.pending }],
  lots: [{ ...lot, pending: 0n, voided: lot.pending }],
  amount: lot.pending,
})

function activeOf({ lots }: Wallet, { lotId, spent, clawback, lotOrder }: Void): Taken {
  const own = lots.filter((lot) => lot.lotId === lotId)
  const others = clawback === 'wallet' ? lots.filter((lot) => lot.lotId !== lotId) : []
  const [first, rest] = [
    takeFrom(own, own[0]?.remaining ?? 0n, { order: lotOrder, to: 'voided' }),
    takeFrom(others, spent, { order: lotOrder, to: 'voided' }),
  ]
  return {
    uses: [...first.uses, ...rest.uses],
    lots: [...first.changed, ...rest.changed],
    amount: first.taken + rest.taken,
  }
}
