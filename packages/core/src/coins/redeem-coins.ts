import { fail } from '@svc/contract/errors'
import { ByTenant, byTenant } from '@svc/kernel/by-tenant'
import { command } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import { account } from '../ledger/accounts.ts'
import { findUsers } from '../tenants/user.ts'
import { coinLotUses, coinRedemptions, type Redemption, redemptionToWire } from './redemption.ts'
import { redeem } from './spend-coins.ts'
import type { LotOrder, LotUse, Wallet, WalletChange } from './wallet.ts'
import { lockCoinAccounts, lockWallets, saveWalletChanges, type WalletNeed } from './wallet-store.ts'

interface RedeemCoins {
  readonly partnerId: string
  /** The partner's id of this one intent. */
  readonly requestId: string
  /** SHA-256 of the request, to distinguish a repeat from another request of the same id. */
  readonly requestHash: Buffer
  readonly userId: string
  readonly coins: bigint
}

interface PreparedRedemption extends WalletNeed, RedeemCoins {
  readonly lotOrder: LotOrder
  readonly ids: { readonly redemption: string; readonly transfer: string; readonly event: string }
  readonly timeZone: string
}

interface State {
  /** By user. */
  readonly wallets: Map<string, Wallet>
  /** Company of each user. */
  readonly users: ReadonlyMap<string, string>
  /** First redemptions, by request. */
  readonly known: Map<string, Redemption>
}

interface Redeemed {
  readonly redemption: Redemption
  /** Absent for the repeat of a request. */
  readonly made: { readonly change: WalletChange; readonly uses: readonly LotUse[] } | undefined
  readonly command: PreparedRedemption
}

const KNOWN = statement<Redemption>(
  'coin_redemptions_known',
  `select ${coinRedemptions.columns} from coin_redemptions r
   where (r.partner_id, r.request_id) in (select * from unnest($1::text[], $2::text[]))`,
)

/** Spends coins, what expires soonest first (decision K9), all or none; exactly once for each `requestId` (decision K3). */
export const redeemCoins = command({
  name: 'redeemCoins',

  prepare:
    ({ clock, config, newId }) =>
    (args: RedeemCoins): PreparedRedemption => {
      return {
        ...args,
        tenantId: args.partnerId,
        clockOffsetMs: clock.of(args.partnerId).offsetMs(),
        lotOrder: config.COIN_LOT_ORDER,
        ids: { redemption: newId('cre'), transfer: newId('trf'), event: newId('evt') },
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  async lock(tx: BatchTx, redeems): Promise<ByTenant<State>> {
    const wallets = await lockWallets(tx, redeems)
    const requests = columns(
      redeems,
      ({ partnerId }) => partnerId,
      ({ requestId }) => requestId,
    )
    const [users, rows] = await Promise.all([findUsers(tx, redeems), tx.query(KNOWN, requests)])
    await lockCoinAccounts(tx, redeems, wallets, ({ tenantId }) => [account('coins_redeemed', tenantId)])
    const known = byTenant<Redemption, Redemption>(
      rows,
      ({ partnerId }) => partnerId,
      ({ requestId }) => requestId,
      (redemption) => redemption,
    )
    return new ByTenant((tenantId) => ({
      wallets: wallets.of(tenantId),
      users: users.of(tenantId),
      known: known.of(tenantId),
    }))
  },

  decide(state, command, now): Redeemed {
    const { partnerId, userId, requestId, requestHash, coins: amount, ids, lotOrder, timeZone } = command
    const known = state.known.get(requestId)
    if (known && !known.requestHash.equals(requestHash)) fail('request_id_conflict')
    if (known) return { redemption: known, made: undefined, command }
    if (!state.users.has(userId)) fail('user_not_found')
    const plan = {
      redemptionId: ids.redemption,
      transferId: ids.transfer,
      requestId,
      amount,
      lotOrder,
      timeZone,
    }
    const { change, uses, balance } = redeem(state.wallets.get(userId)!, plan, now)
    const redemption: Redemption = {
      redemptionId: ids.redemption,
      partnerId,
      requestId,
      requestHash,
      userId,
      amount,
      balanceAfter: balance,
      createdAt: now,
    }
    return { redemption, made: { change, uses }, command }
  },

  apply(state, { redemption, made }) {
    if (!made) return
    state.known.set(redemption.requestId, redemption)
    state.wallets.set(redemption.userId, made.change.wallet)
  },

  save(tx, decisions) {
    const made = decisions.flatMap(({ redemption, made, command }) =>
      made ? [{ redemption, command, ...made }] : [],
    )
    saveWalletChanges(
      tx,
      decisions[0]!.command.timeZone,
      made.map(({ change }) => change),
    )
    coinRedemptions.insert(
      tx,
      made.map(({ redemption }) => redemption),
    )
    coinLotUses.insert(
      tx,
      made.flatMap(({ redemption: { partnerId, redemptionId }, uses }) =>
        uses.map((use) => ({ ...use, partnerId, redemptionId })),
      ),
    )
    saveEvents(
      tx,
      made.map(({ redemption, command: { ids, timeZone } }) => ({
        eventId: ids.event,
        tenantId: redemption.partnerId,
        type: 'coins.redeemed',
        objectId: redemption.userId,
        payload: redemptionToWire(redemption, timeZone),
        createdAt: redemption.createdAt,
      })),
    )
  },
})
