import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'

interface Row {
  readonly active: bigint
  readonly pending: bigint
  readonly spent: bigint
  readonly expired: bigint
  readonly voided: bigint
  readonly nextCoins: bigint | null
  readonly nextAt: Date | null
}

const BALANCE = statement<Row>(
  'coin_balance_as_of',
  `with lots as (
     select l.amount, l.expires_at, coalesce(coalesce(l.activates_at, l.confirmed_at) <= $3, l.activation_id is null) as active,
     coalesce((
       select sum(k.amount) from coin_void_takes k
       join coin_voids v on v.partner_id = k.partner_id and v.void_id = k.void_id
       where k.partner_id = l.partner_id and k.lot_id = l.lot_id and v.created_at <= $3), 0) as voided,
     coalesce((
       select sum(x.amount) from coin_lot_uses x
       join coin_redemptions r on r.partner_id = x.partner_id and r.redemption_id = x.redemption_id
       where x.partner_id = l.partner_id and x.lot_id = l.lot_id and r.created_at <= $3), 0) as spent
     from coin_lots l where l.user_id = $2 and l.partner_id = $1 and l.created_at <= $3)
   select t.active, t.pending, t.spent, t.expired, t.voided, n.coins as "nextCoins", n.at as "nextAt"
   from users u
   cross join (
     select coalesce(sum(l.spent), 0)::bigint as spent, coalesce(sum(l.voided), 0)::bigint as voided,
       coalesce(sum(l.amount - l.voided) filter (where not l.active), 0)::bigint as pending,
       coalesce(sum(l.amount - l.spent - l.voided) filter (
         where l.active and (l.expires_at is null or l.expires_at > $3)), 0)::bigint as active,
       coalesce(sum(l.amount - l.spent - l.voided) filter (
         where l.active and l.expires_at <= $3), 0)::bigint as expired
     from lots l) t
   left join lateral (
     select l.expires_at as at, sum(l.amount - l.spent - l.voided)::bigint as coins from lots l
     where l.active and l.amount > l.spent + l.voided and l.expires_at > $3
     group by l.expires_at order by l.expires_at limit 1) n on true
   where u.partner_id = $1 and u.user_id = $2 and u.created_at <= $3`,
)

/** A user's coins at the end of an instant, as callers see them; `undefined` when the partner had no such user. */
export async function readCoinBalanceAsOf(
  tx: Tx,
  { partnerId, userId, at }: { readonly partnerId: string; readonly userId: string; readonly at: Date },
  timeZone: string,
) {
  const [row] = await tx.query(BALANCE, [partnerId, userId, at])
  if (!row) return undefined
  const { active, pending, spent, expired, voided, nextCoins, nextAt } = row
  return {
    userId,
    active: Number(active),
    pending: Number(pending),
    expired: Number(expired),
    spent: Number(spent),
    voided: Number(voided),
    ...(nextAt && { nextExpiry: { coins: Number(nextCoins), expiresOn: rfc3339(nextAt, timeZone) } }),
  }
}
