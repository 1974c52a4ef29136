import { paise, paiseToWire } from '@svc/kernel/money'
import type { TenantClocks } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'

interface Liability {
  readonly partnerId: string
  readonly users: bigint
  readonly coins: bigint
  readonly pending: bigint
  readonly within30: bigint
  readonly within90: bigint
  readonly never: bigint
}

const PARTNERS = statement<{ readonly partnerId: string }>(
  'coin_liability_partners',
  `select distinct partner_id as "partnerId" from coin_wallets where $1::text is null or partner_id = $1`,
)
// What is due counts as done, whether or not it has been written yet: coins past their time are gone, and pending ones
// whose time has come are active.
const LIABILITY = statement<Liability>(
  'coin_liability',
  `with lots as (
     select l.partner_id, l.user_id, t.now, l.expires_at,
       case when l.activates_at <= t.now then l.remaining + l.pending else l.remaining end as coins,
       case when l.activates_at <= t.now then 0 else l.pending end as pending
     from unnest($1::text[], $2::double precision[]) as w (partner_id, offset_ms)
       cross join lateral (select statement_timestamp() + w.offset_ms * interval '1 millisecond' as now) t
       join coin_lots l on l.partner_id = w.partner_id
     where (l.remaining > 0 or l.pending > 0) and (l.expires_at is null or l.expires_at > t.now))
   select partner_id as "partnerId", count(distinct user_id) as users, sum(coins)::bigint as coins,
     sum(pending)::bigint as pending,
     coalesce(sum(coins) filter (where expires_at <= now + interval '30 days'), 0)::bigint as within30,
     coalesce(sum(coins) filter (where expires_at <= now + interval '90 days'), 0)::bigint as within90,
     coalesce(sum(coins) filter (where expires_at is null), 0)::bigint as never
   from lots group by partner_id order by partner_id`,
)

/** What users hold of each partner's coins, or of one partner's, now by the partner's clock. */
export async function readCoinLiability(
  tx: Tx,
  clock: TenantClocks,
  partnerId: string | null = null,
): Promise<readonly Liability[]> {
  const partners = await tx.query(PARTNERS, [partnerId])
  const ids = partners.map((partner) => partner.partnerId)
  return tx.query(LIABILITY, [ids, ids.map((id) => clock.of(id).offsetMs())])
}

const NOTHING = { users: 0n, coins: 0n, pending: 0n, within30: 0n, within90: 0n, never: 0n }

/** A text of `RupeesPerCoin`. */
export const RUPEES_PER_COIN = /^(\d{1,6})(?:\.(\d{1,4}))?$/
export const RupeesPerCoin = Type.String({
  pattern: RUPEES_PER_COIN.source,
  'x-rule': 'must be rupees with at most four decimals, such as 0.25',
  description: 'What a coin is worth in rupees, to value the coins; at most four decimals',
})

const SCALE = 10_000n

/** In 1/10,000 rupee; the text fits `RupeesPerCoin`. */
function readRupeesPerCoin(text: string): bigint {
  const [, whole = '0', part = ''] = RUPEES_PER_COIN.exec(text) ?? []
  return BigInt(whole + part.padEnd(4, '0'))
}

/** Rupees as the wire's number, rounded half up to the paisa. */
const worth = (coins: bigint, perCoin: bigint): number =>
  paiseToWire(paise((coins * perCoin * 100n + SCALE / 2n) / SCALE))

const coins = (description: string) => Type.Integer({ description })

export const LIABILITY_FIELDS = {
  users: Type.Integer({ description: 'Users who hold coins, active or pending' }),
  coins: coins('Coins that users can redeem'),
  pending: coins('Coins awarded that are not active yet'),
  expireWithin30Days: coins('Of `coins`: those that expire within 30 days'),
  expireWithin90Days: coins('Of `coins`: those that expire within 90 days'),
  neverExpire: coins('Of `coins`: those that never expire'),
  value: Type.Optional(
    Type.Object(
      {
        rupeesPerCoin: Type.String(),
        coins: Type.Number({ description: 'Rupees; rounded half up to the paisa' }),
        pending: Type.Number({ description: 'Rupees' }),
        expireWithin30Days: Type.Number({ description: 'Rupees' }),
        expireWithin90Days: Type.Number({ description: 'Rupees' }),
      },
      { additionalProperties: false, description: 'With `rupeesPerCoin` only' },
    ),
  ),
}

export function liabilityToWire(found: Omit<Liability, 'partnerId'> = NOTHING, rupeesPerCoin?: string) {
  const { users, coins, pending, within30, within90, never } = found
  const perCoin = rupeesPerCoin === undefined ? undefined : readRupeesPerCoin(rupeesPerCoin)
  return {
    users: Number(users),
    coins: Number(coins),
    pending: Number(pending),
    expireWithin30Days: Number(within30),
    expireWithin90Days: Number(within90),
    neverExpire: Number(never),
    ...(perCoin !== undefined && {
      value: {
        rupeesPerCoin,
        coins: worth(coins, perCoin),
        pending: worth(pending, perCoin),
        expireWithin30Days: worth(within30, perCoin),
        expireWithin90Days: worth(within90, perCoin),
      },
    }),
  }
}
