import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { newId } from '../kernel/ids.ts'
import { rfc3339 } from '../kernel/time.ts'
import type { BatchTx } from '../platform/db/batch.ts'
import type { Writes } from '../platform/db/database.ts'
import { columns, statement } from '../platform/db/statement.ts'
import { canonicalJson, command, ok } from '../platform/http/operation.ts'
import { saveEvents } from '../platform/outbox.ts'
import { requestKey } from './allocation-state.ts'
import { Coins } from './coin-config.ts'
import { findUsers, RequestId, UserId, userKey } from './coin-user.ts'
import { type LotUse, redeem, type Wallet, type WalletChange } from './wallet.ts'
import {
  lockCoinAccounts,
  lockWallets,
  saveWalletChanges,
  type WalletNeed,
  walletKey,
} from './wallet-store.ts'

export const RedemptionRecord = Type.Object(
  {
    redemptionId: Type.String(),
    requestId: Type.String(),
    userId: Type.String(),
    amount: Type.Integer({ description: 'Coins' }),
    balance: Type.Integer({ description: 'The user’s active coins right after it' }),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
  },
  { title: 'CoinRedemption', additionalProperties: false },
)

interface Redemption {
  readonly redemptionId: string
  readonly partnerId: string
  readonly requestId: string
  readonly requestHash: Buffer
  readonly userId: string
  readonly amount: bigint
  readonly balanceAfter: bigint
  readonly createdAt: Date
}

interface RedeemCoins extends WalletNeed {
  readonly requestId: string
  readonly requestHash: Buffer
  readonly ids: { readonly redemption: string; readonly transfer: string; readonly event: string }
  readonly timeZone: string
}

interface State {
  readonly wallets: Map<string, Wallet>
  readonly users: ReadonlyMap<string, string>
  readonly known: Map<string, Redemption>
}

interface Redeemed {
  readonly redemption: Redemption
  /** Absent when it is the repeat of a request. */
  readonly made: { readonly change: WalletChange; readonly uses: readonly LotUse[] } | undefined
  readonly command: RedeemCoins
}

interface RedemptionRow {
  redemption_id: string
  partner_id: string
  request_id: string
  request_hash: Buffer
  user_id: string
  amount: bigint
  balance_after: bigint
  created_at: Date
}

const KNOWN = statement<RedemptionRow>(
  'coin_redemptions_known',
  `select redemption_id, partner_id, request_id, request_hash, user_id, amount, balance_after, created_at
   from coin_redemptions where (partner_id, request_id) in (select * from unnest($1::text[], $2::text[]))`,
)

const toRedemption = (row: RedemptionRow): Redemption => ({
  redemptionId: row.redemption_id,
  partnerId: row.partner_id,
  requestId: row.request_id,
  requestHash: row.request_hash,
  userId: row.user_id,
  amount: row.amount,
  balanceAfter: row.balance_after,
  createdAt: row.created_at,
})

const toWire = (redemption: Redemption, timeZone: string) => ({
  redemptionId: redemption.redemptionId,
  requestId: redemption.requestId,
  userId: redemption.userId,
  amount: Number(redemption.amount),
  balance: Number(redemption.balanceAfter),
  createdOn: rfc3339(redemption.createdAt, timeZone),
})

/** Ours (decision K3): spends coins, oldest first, all or none; exactly once for each `requestId`. */
export const redeemCoins = command({
  id: 'redeemCoins',
  method: 'POST',
  path: '/api/v0/svc-coins/redeem',
  tag: 'Coins',
  summary: 'Redeem coins',
  description:
    'Takes coins from the user’s unexpired lots, first in, first out; all of them or none. A repeat of the same `requestId` gets the first answer, with another request 409.',
  auth: 'partner',
  family: 'response_code',
  body: Type.Object({ requestId: RequestId, userId: UserId, amount: Coins }, { additionalProperties: false }),
  result: RedemptionRecord,
  errors: ['user_not_found', 'request_id_conflict', 'insufficient_coins'],

  prepare:
    ({ clock, random, config }) =>
    ({ caller: { tenantId }, body: { requestId, userId, amount } }): RedeemCoins => {
      const nowMs = clock.now()
      const id = (prefix: string) => newId(prefix, nowMs, random)
      return {
        tenantId,
        requestId,
        userId,
        coins: BigInt(amount),
        clockOffsetMs: clock.offsetMs(),
        requestHash: createHash('sha256').update(canonicalJson({ userId, amount })).digest(),
        ids: { redemption: id('crd'), transfer: id('trf'), event: id('evt') },
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  async lock(tx: BatchTx, redeems: readonly RedeemCoins[]): Promise<State> {
    const wallets = await lockWallets(tx, redeems)
    const asked = columns(
      redeems,
      (r) => r.tenantId,
      (r) => r.requestId,
    )
    const [users, known] = await Promise.all([findUsers(tx, redeems), tx.query(KNOWN, asked)])
    await lockCoinAccounts(tx, wallets, 'coins_redeemed')
    return {
      wallets,
      users,
      known: new Map(known.map((row) => [requestKey(row.partner_id, row.request_id), toRedemption(row)])),
    }
  },

  decide(state, command, now): Redeemed {
    const { tenantId, userId, requestId, requestHash, coins: amount, ids } = command
    const known = state.known.get(requestKey(tenantId, requestId))
    if (known && !known.requestHash.equals(requestHash)) fail('request_id_conflict')
    if (known) return { redemption: known, made: undefined, command }
    if (!state.users.has(userKey(tenantId, userId))) fail('user_not_found')
    const plan = { redemptionId: ids.redemption, transferId: ids.transfer, amount }
    const { change, uses, balance } = redeem(state.wallets.get(walletKey(tenantId, userId))!, plan, now)
    const redemption: Redemption = {
      redemptionId: ids.redemption,
      partnerId: tenantId,
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
    state.known.set(requestKey(redemption.partnerId, redemption.requestId), redemption)
    state.wallets.set(walletKey(redemption.partnerId, redemption.userId), made.change.wallet)
  },

  save(tx, decisions) {
    const made = decisions.flatMap(({ redemption, made, command }) =>
      made ? [{ redemption, command, ...made }] : [],
    )
    saveWalletChanges(
      tx,
      made.map(({ change }) => change),
    )
    insertRedemptions(tx, made)
    saveEvents(
      tx,
      made.map(({ redemption, command: { ids, timeZone } }) => ({
        eventId: ids.event,
        tenantId: redemption.partnerId,
        type: 'coins.redeemed',
        objectId: redemption.userId,
        payload: toWire(redemption, timeZone),
        createdAt: redemption.createdAt,
      })),
    )
  },

  answer: ({ redemption, command }) => ok(toWire(redemption, command.timeZone)),
})

const INSERT = statement(
  'coin_redemptions_insert',
  `insert into coin_redemptions
     (redemption_id, partner_id, request_id, request_hash, user_id, amount, balance_after, created_at)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::bigint[], $7::bigint[],
     $8::timestamptz[]) as r (redemption_id, partner_id, request_id) order by partner_id, request_id`,
)
const INSERT_USES = statement(
  'coin_lot_uses_insert',
  `insert into coin_lot_uses (redemption_id, partner_id, lot_id, amount)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[])`,
)

function insertRedemptions(
  tx: Writes,
  made: readonly { readonly redemption: Redemption; readonly uses: readonly LotUse[] }[],
): void {
  if (made.length === 0) return
  const uses = made.flatMap(({ redemption, uses }) => uses.map((use) => ({ redemption, use })))
  tx.write(
    INSERT,
    columns(
      made.map(({ redemption }) => redemption),
      (r) => r.redemptionId,
      (r) => r.partnerId,
      (r) => r.requestId,
      (r) => r.requestHash,
      (r) => r.userId,
      (r) => r.amount,
      (r) => r.balanceAfter,
      (r) => r.createdAt,
    ),
  )
  tx.write(
    INSERT_USES,
    columns(
      uses,
      ({ redemption }) => redemption.redemptionId,
      ({ redemption }) => redemption.partnerId,
      ({ use }) => use.lotId,
      ({ use }) => use.amount,
    ),
  )
}
