import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { statement } from '../platform/db/statement.ts'
import { query, succeed } from '../platform/http/operation.ts'
import { UserParams } from './coin-user.ts'

const BalanceRecord = Type.Object(
  {
    userId: Type.String(),
    active: Type.Integer({ description: 'Coins that can be redeemed now' }),
    pending: Type.Integer({
      description: 'Coins awarded that are not active yet; no configuration makes such coins, so 0',
    }),
    expired: Type.Integer({ description: 'Coins that went unspent, of all time' }),
    spent: Type.Integer({ description: 'Coins redeemed, of all time' }),
  },
  { title: 'CoinBalance', additionalProperties: false },
)

interface BalanceRow {
  allocated: bigint
  spent: bigint
  expired: bigint
  due: bigint
}

// Coins past their time are gone from that instant on, whether or not they have been written off yet.
const BALANCE = statement<BalanceRow>(
  'coin_balance',
  `select coalesce(w.allocated, 0) as allocated, coalesce(w.spent, 0) as spent, coalesce(w.expired, 0) as expired,
     coalesce((select sum(l.remaining) from coin_lots l
       where l.user_id = u.user_id and l.partner_id = u.partner_id and l.remaining > 0
         and l.expires_at <= statement_timestamp() + $3::double precision * interval '1 millisecond'), 0)::bigint as due
   from users u left join coin_wallets w on w.user_id = u.user_id and w.partner_id = u.partner_id
   where u.partner_id = $1 and u.user_id = $2`,
)

/** Ours (decision K3): a user's coins, as of now. */
export const getCoinBalance = query({
  id: 'getCoinBalance',
  method: 'GET',
  path: '/api/v0/svc-coins/users/:userId/balance',
  tag: 'Coins',
  summary: 'Get coin balance of a user',
  description:
    'All coins that the user ever got are `active`, `pending`, `expired` or `spent`; the history says how they came to be so.',
  auth: 'partner',
  family: 'response_code',
  params: UserParams,
  result: BalanceRecord,
  errors: ['user_not_found'],

  mount({ database, clock }) {
    return async ({ caller: { tenantId }, params: { userId } }) => {
      const [row] = await database.read([tenantId], (tx) =>
        tx.query(BALANCE, [tenantId, userId, clock.offsetMs()]),
      )
      const { allocated, spent, expired, due } = row ?? fail('user_not_found')
      const active = Number(allocated - spent - expired - due)
      return {
        headers: { 'cache-control': 'no-store' },
        body: succeed({ userId, active, pending: 0, expired: Number(expired + due), spent: Number(spent) }),
      }
    }
  },
})
