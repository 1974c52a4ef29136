import { fail } from '@svc/contract/errors'
import { invariant } from '@svc/kernel/invariant'
import { accountId } from '../ledger/accounts.ts'
import { journalOf } from '../ledger/journals.ts'
import type { CoinTransfer } from '../ledger/transfers.ts'
import { settleDue } from './settle-wallet.ts'
import {
  activeCoins,
  type LotOrder,
  nextEntry,
  openAfter,
  takeFrom,
  type Wallet,
  type WalletChange,
} from './wallet.ts'

interface Redemption {
  readonly redemptionId: string
  readonly transferId: string
  readonly requestId: string
  readonly amount: bigint
  readonly lotOrder: LotOrder
  readonly timeZone: string
}

/** Spends coins, the soonest to expire or the oldest lots first (decision K9); all of them or none. */
export function redeem(wallet: Wallet, redemption: Redemption, now: Date) {
  const { redemptionId, transferId, requestId, amount, lotOrder, timeZone } = redemption
  const due = settleDue(wallet, now, timeZone)
  if (activeCoins(due.wallet) < amount) fail('insufficient_coins')
  const { partnerId, userId } = wallet
  const { uses, changed, taken } = takeFrom(due.wallet.lots, amount, { order: lotOrder, to: 'spent' })
  invariant(taken === amount, 'the lots hold fewer coins than the totals say')
  const { wallet: after, entry } = nextEntry(
    {
      ...due.wallet,
      spent: due.wallet.spent + amount,
      lots: openAfter(due.wallet.lots, changed),
    },
    'REDEEMED',
    { amount, objectId: redemptionId, now },
  )
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
    entries: [...due.entries, entry],
    journals: [...due.journals, journalOf(transfer, requestId)],
  }
  return { change, uses, balance: activeCoins(after) }
}
