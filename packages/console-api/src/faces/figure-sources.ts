import type { Config } from '@svc/contract/config'
import type { IdPrefix } from '@svc/contract/id-kinds'
import { APPROVED, PARTLY_APPROVED, VERIFIED } from '@svc/core/cards/rail/response-codes'
import { type ChargeSettings, chargeSettings } from '@svc/core/payments/fees/charging'
import { type Statement, statement } from '@svc/platform/db/statement'

/** Rows that a figure adds up. In SQL `$1` to `$8` are those of `FIGURE`, and what `values` adds begins at `$10`. */
interface Source {
  readonly from: string
  readonly tenant: string
  /** Ids sort by time, so that a range of them serves the range of time. */
  readonly id: readonly [IdPrefix, column: string]
  readonly at: string
  readonly amount: string
  /** GST on the amount, where there is any. */
  readonly tax?: string
  readonly where?: string
  readonly values?: (config: Config) => readonly unknown[]
}

const ratesOf = ({ taxRates }: ChargeSettings) => [
  taxRates.map(({ from }) => from),
  taxRates.map(({ basisPoints }) => basisPoints),
]
const chargeValues = (config: Config): readonly unknown[] => {
  const settings = chargeSettings(config)
  return [...ratesOf(settings), settings.platformState]
}

// The fee that is entered of a payment; of one whose business day is not over, what `chargeOf` will enter. A fee is in
// force from its business day on, and from when it was set, until one that comes after it is. So is a rate of GST.
const FEE = 'coalesce(a.fee_paise, (p.amount_paise * f.basis_points + 5000) / 10000 + f.fixed_paise, 0)'
const beginOf = (day: string) =>
  `(${day}::timestamp - $6::integer * interval '1 minute') at time zone $5::text`
const inForce = (of: string) => `p.created_at >= ${of}.starts and p.created_at < ${of}.ends`
const STARTS = `(select merchant_id, basis_points, fixed_paise, valid_from, created_at,
    greatest(${beginOf('valid_from')}, charges_from) as starts from merchant_fees)`
const CHARGED = `payments p
  left join fee_accruals a on a.merchant_id = p.merchant_id and a.payment_id = p.payment_id
  left join (
    select e.*, coalesce((select min(l.starts) from ${STARTS} l
      where l.merchant_id = e.merchant_id and (l.valid_from, l.created_at) > (e.valid_from, e.created_at)), 'infinity') as ends
    from ${STARTS} e offset 0) f
    on f.merchant_id = p.merchant_id and ${inForce('f')}
  left join (
    select rate, ${beginOf('day')} as starts,
      coalesce(lead(${beginOf('day')}) over (order by day, place), 'infinity') as ends
    from unnest($10::date[], $11::bigint[]) with ordinality as g (day, rate, place)) r
    on ${inForce('r')}
  left join tax_registrations t on t.merchant_id = p.merchant_id
  left join payout_details o on o.merchant_id = p.merchant_id`
const GST = `case when a.payment_id is not null then a.cgst_paise + a.sgst_paise + a.igst_paise
  when coalesce(t.state, o.gst_state, $12::text) = $12::text then 2 * ((${FEE} * coalesce(r.rate, 0) + 10000) / 20000)
  else (${FEE} * coalesce(r.rate, 0) + 5000) / 10000 end`

const PAYMENTS = {
  from: 'payments p',
  tenant: 'p.merchant_id',
  id: ['pay', 'p.payment_id'],
  at: 'p.created_at',
  amount: 'p.amount_paise',
} as const
const CARD_TRANSACTIONS = {
  from: 'card_transactions t',
  tenant: 't.partner_id',
  id: ['ctx', 't.transaction_id'],
  at: 't.created_at',
  amount: 't.amount_paise',
} as const
const quoted = (values: readonly string[]) => values.map((value) => `'${value}'`).join(', ')

/** On what a sum is based: one word never has two bases. */
export const BASES = [
  'accepted',
  'requested',
  'opened',
  'paid_out',
  'issued',
  'loaded',
  'captured',
  'declined',
  'granted',
  'balance',
] as const

interface Sum {
  readonly of: 'merchant' | 'partner'
  readonly unit: 'paise' | 'coins'
  readonly basis: (typeof BASES)[number]
  /** What its income is and what its bank has is for those who keep its books. */
  readonly isOfBooks?: true
  readonly source: Source
}

/** What happened in a range of time, added up. */
export const SUMS = {
  payments: {
    of: 'merchant',
    unit: 'paise',
    basis: 'accepted',
    source: { ...PAYMENTS, where: `p.status = 'ACCEPTED'` },
  },
  refusals: {
    of: 'merchant',
    unit: 'paise',
    basis: 'declined',
    source: { ...PAYMENTS, where: `p.status in ('REFUND_PENDING', 'REFUNDED')` },
  },
  refunds: {
    of: 'merchant',
    unit: 'paise',
    basis: 'requested',
    source: {
      from: 'merchant_refunds r',
      tenant: 'r.merchant_id',
      id: ['rfd', 'r.refund_id'],
      at: 'r.created_at',
      amount: 'r.amount_paise',
      where: `r.status <> 'FAILED'`,
    },
  },
  disputes: {
    of: 'merchant',
    unit: 'paise',
    basis: 'opened',
    source: {
      from: 'disputes d',
      tenant: 'd.merchant_id',
      id: ['dsp', 'd.dispute_id'],
      at: 'd.created_at',
      amount: 'd.amount_paise',
    },
  },
  fees: {
    of: 'merchant',
    unit: 'paise',
    basis: 'accepted',
    isOfBooks: true,
    source: {
      ...PAYMENTS,
      from: CHARGED,
      amount: FEE,
      tax: GST,
      where: `p.status = 'ACCEPTED'`,
      values: chargeValues,
    },
  },
  cards_issued: {
    of: 'partner',
    unit: 'paise',
    basis: 'issued',
    source: {
      from: 'cards c',
      tenant: 'c.partner_id',
      id: ['card', 'c.svc_card_id'],
      at: 'c.created_at',
      amount: 'c.load_paise',
    },
  },
  card_loads: {
    of: 'partner',
    unit: 'paise',
    basis: 'loaded',
    source: { ...CARD_TRANSACTIONS, where: `t.kind = 'load'` },
  },
  card_spend: {
    of: 'partner',
    unit: 'paise',
    basis: 'captured',
    source: { ...CARD_TRANSACTIONS, where: `t.kind = 'capture'` },
  },
  card_authorizations: {
    of: 'partner',
    unit: 'paise',
    basis: 'requested',
    source: { ...CARD_TRANSACTIONS, where: `t.kind = 'authorization' and t.response_code <> '${VERIFIED}'` },
  },
  card_declines: {
    of: 'partner',
    unit: 'paise',
    basis: 'declined',
    source: {
      ...CARD_TRANSACTIONS,
      where: `t.kind = 'authorization' and t.response_code not in (${quoted([APPROVED, PARTLY_APPROVED, VERIFIED])})`,
    },
  },
  coins_granted: {
    of: 'partner',
    unit: 'coins',
    basis: 'granted',
    source: {
      // An index leads from a partner to its lots by time.
      from: 'partners w join coin_lots l on l.partner_id = w.partner_id',
      tenant: 'l.partner_id',
      id: ['cal', 'l.lot_id'],
      at: 'l.created_at',
      amount: 'l.amount',
    },
  },
} as const satisfies Record<string, Sum>
export type SumMetric = keyof typeof SUMS
export const sumOf = (metric: SumMetric): Sum => SUMS[metric]

/** What lists say of a tenant’s volume: a round week to the minute, whatever its business day. */
export const LATELY_TEXT = 'in the last 7 × 24 hours'
export const LATELY = (at: string): string => `${at} >= now() - interval '7 days'`

/** What a source is read by: from, to, the same of ids, zone, minutes from the cut-off to midnight, and the tenant. */
const rowsOf = ({ amount, at, from, id: [, id], tenant, tax = '0', where }: Source, isOfTenant: boolean) =>
  `select ${tenant} as tenant_id, ${at} as at, (${amount})::bigint as amount, (${tax})::bigint as tax from ${from}
   where ${at} >= $1 and ${at} < $2 and ${id} >= $3 and ${id} < $4 and ${isOfTenant ? `${tenant} = $9` : '$9::text is null'}
     ${where ? `and ${where}` : ''}`

export interface BucketRow {
  readonly name: string
  readonly count: bigint
  readonly amount: bigint
  readonly tax: bigint
  /** Of those before `$8`. */
  readonly countUntil: bigint
  readonly amountUntil: bigint
  readonly taxUntil: bigint
}

const NAMES = `case $7::text when 'hour' then 'YYYY-MM-DD"T"HH24:00' when 'day' then 'YYYY-MM-DD' else 'YYYY-MM' end`
const BY_BUCKET = (rows: string) =>
  `select to_char(slot, ${NAMES}) as name, count, amount, tax, count_until as "countUntil",
     amount_until as "amountUntil", tax_until as "taxUntil"
   from (
     select date_trunc($7, s.at at time zone $5::text
         + case $7 when 'hour' then 0 else $6::integer end * interval '1 minute') as slot,
       count(*) as count, sum(s.amount)::bigint as amount, sum(s.tax)::bigint as tax,
       count(*) filter (where s.at < $8) as count_until,
       coalesce(sum(s.amount) filter (where s.at < $8), 0)::bigint as amount_until,
       coalesce(sum(s.tax) filter (where s.at < $8), 0)::bigint as tax_until
     from (${rows}) s group by 1) slots`

interface Statements {
  readonly all: Statement<BucketRow>
  readonly ofTenant: Statement<BucketRow>
}

/** Each in two forms: a tenant's own rows have an index of their own. */
export const FIGURE = Object.fromEntries(
  Object.entries<Sum>(SUMS).map(([metric, { source }]) => [
    metric,
    {
      all: statement(`figure_${metric}`, BY_BUCKET(rowsOf(source, false))),
      ofTenant: statement(`figure_${metric}_of_tenant`, BY_BUCKET(rowsOf(source, true))),
    },
  ]),
) as Readonly<Record<SumMetric, Statements>>
