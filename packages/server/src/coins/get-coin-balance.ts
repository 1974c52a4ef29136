import { fail } from '@svc/contract/errors'
import { type Clock, rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { AsOfQuery, readAsOf } from '../http/as-of.ts'
import { query, succeed } from '../http/operation.ts'
import { readCoinBalanceAsOf } from './coin-balance-as-of.ts'
import { ofCoins } from './coin-configs.ts'

export const UserParams = Type.Object({
  userId: Type.String({ description: 'A user of a company of the partner' }),
})

export const BalanceRecord = Type.Object(
  {
    userId: Type.String(),
    active: Type.Integer({ description: 'Coins that can be redeemed now' }),
    pending: Type.Integer({
      description:
        'Coins awarded that are not active yet: their time has not come, or they wait for confirmation',
    }),
    expired: Type.Integer({ description: 'Coins that went unspent, of all time' }),
    spent: Type.Integer({ description: 'Coins redeemed, of all time' }),
    voided: Type.Integer({ description: 'Coins taken back by voids of allocations, of all time' }),
    nextExpiry: Type.Optional(
      Type.Object(
        {
          coins: Type.Integer({ description: 'Active coins that expire then' }),
          expiresOn: Type.String({ description: 'RFC 3339' }),
        },
        { additionalProperties: false, description: 'Absent where no active coins expire' },
      ),
    ),
  },
  { title: 'CoinBalance', additionalProperties: false },
)

interface BalanceRow {
  readonly allocated: bigint
  readonly pending: bigint
  readonly spent: bigint
  readonly expired: bigint
  readonly voided: bigint
  /** Pending coins whose time has come. */
  readonly activating: bigint
  /** Coins past their time that are not written off yet. */
  readonly due: bigint
  readonly nextCoins: bigint | null
  readonly nextAt: Date | null
}

// Pending coins whose time has come are active, and coins past their time are gone, from that instant on, whether or not
// that has been written yet.
const NOW = `statement_timestamp() + $3::double precision * interval '1 millisecond'`
const OPEN = `select o.expires_at, o.remaining as coins from coin_lots o
         where o.user_id = u.user_id and o.partner_id = u.partner_id and o.remaining > 0
       union all
       select o.expires_at, o.pending from coin_lots o
         where o.user_id = u.user_id and o.partner_id = u.partner_id and o.pending > 0 and o.activates_at <= ${NOW}`
const BALANCE = statement<BalanceRow>(
  'coin_balance',
  `select coalesce(w.allocated, 0) as allocated, coalesce(w.pending, 0) as pending, coalesce(w.spent, 0) as spent,
     coalesce(w.expired, 0) as expired, coalesce(w.voided, 0) as voided, n.coins as "nextCoins", n.at as "nextAt",
     coalesce((select sum(l.pending) from coin_lots l
       where l.user_id = u.user_id and l.partner_id = u.partner_id and l.pending > 0
         and l.activates_at <= ${NOW}), 0)::bigint as activating,
     coalesce((select sum(l.coins) from (${OPEN}) l where l.expires_at <= ${NOW}), 0)::bigint as due
   from users u left join coin_wallets w on w.user_id = u.user_id and w.partner_id = u.partner_id
   left join lateral (
     select l.expires_at as at, sum(l.coins)::bigint as coins from (${OPEN}) l
     where l.expires_at > ${NOW}
     group by l.expires_at order by l.expires_at limit 1) n on true
   where u.partner_id = $1 and u.user_id = $2`,
)

interface Wanted {
  readonly partnerId: string
  readonly userId: string
}

/** A user's coins as of now, as callers see them; `undefined` when the partner has no such user. */
export async function readCoinBalance(tx: Tx, { partnerId, userId }: Wanted, clock: Clock, timeZone: string) {
  const [row] = await tx.query(BALANCE, [partnerId, userId, clock.of(partnerId).offsetMs()])
  if (!row) return undefined
  const { allocated, pending, spent, expired, voided, activating, due, nextCoins, nextAt } = row
  const active = Number(allocated + activating - spent - expired - due)
  return {
    userId,
    active,
    pending: Number(pending - activating),
    expired: Number(expired + due),
    spent: Number(spent),
    voided: Number(voided),
    ...(nextAt && { nextExpiry: { coins: Number(nextCoins), expiresOn: rfc3339(nextAt, timeZone) } }),
  }
}

/** Ours (decision K3): a user's coins, as of now. */
export const getCoinBalance = query({
  ...ofCoins('coins:read'),
  id: 'getCoinBalance',
  method: 'GET',
  path: '/api/v0/svc-coins/users/:userId/balance',
  summary: 'Get coin balance of a user',
  description:
    'All coins that the user ever got are `active`, `pending`, `expired`, `spent` or `voided`; the history says how they came to be so.',
  params: UserParams,
  query: AsOfQuery,
  result: BalanceRecord,
  errors: ['user_not_found'],

  mount({ database, clock, config }) {
    return async ({ caller: { tenantId: partnerId }, params: { userId }, query }) => {
      const at = readAsOf(query, clock, partnerId)
      const timeZone = config.BUSINESS_TIME_ZONE
      const balance = await database.read([partnerId], (tx) =>
        at
          ? readCoinBalanceAsOf(tx, { partnerId, userId, at }, timeZone)
          : readCoinBalance(tx, { partnerId, userId }, clock, timeZone),
      )
      return {
        headers: { 'cache-control': 'no-store' },
        body: succeed(balance ?? fail('user_not_found')),
      }
    }
  },
})
