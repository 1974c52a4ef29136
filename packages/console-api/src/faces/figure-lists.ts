import { accountIdOf } from '@svc/core/ledger/accounts'
import type { PayoutStatus } from '@svc/core/payments/payouts/payout'
import { SCHEDULE_OF_PERIOD } from '@svc/core/payments/payouts/payout-schedule'
import type { BankDays } from '@svc/kernel/bank-days'
import { groupBy } from '@svc/kernel/group-by'
import { statement } from '@svc/platform/db/statement'
import { SUMS } from './figure-sources.ts'

/** Payouts by business day: of the last 7 days, and earlier ones that are not paid. */
export const PAYOUT_DAYS = statement<{ day: string; status: PayoutStatus; count: bigint; amount: bigint }>(
  'console_payout_days',
  `select business_day::text as day, status, count(*) as count, sum(amount_paise)::bigint as amount
   from (select business_day, status, amount_paise from payouts where business_day >= $1::timestamptz::date - 7
     union all
     select business_day, status, amount_paise from payouts
     where status in ('PREPARED', 'APPROVED', 'SENT') and business_day < $1::timestamptz::date - 7) y
   group by 1, 2 order by 1 desc, 2`,
)

interface PlannedRow {
  readonly endsOn: string
  readonly afterDays: number
  readonly count: bigint
  readonly amount: bigint
}

/** Payouts that schedules plan, by the end of their period: of merchants to whom at least their minimum is payable now. */
export const PLANNED_PAYOUTS = statement<PlannedRow>(
  'console_planned_payouts',
  `select q.ends_on::text as "endsOn", s.after_days as "afterDays", count(*) as count, sum(a.balance)::bigint as amount
   from payout_periods q cross join lateral (${SCHEDULE_OF_PERIOD}) s
     join tenants t on t.tenant_id = q.merchant_id and t.closed_at is null
     cross join lateral ${accountIdOf('payable', 'q.merchant_id')}
     join ledger_accounts a on a.tenant_id = q.merchant_id and a.account_id = key.account_id
   where q.outcome is null and a.balance > 0 and a.balance >= s.minimum_paise
   group by 1, 2`,
)

/** By the bank day on which they are prepared. */
export function plannedDays(rows: readonly PlannedRow[], bankDays: BankDays) {
  const ofDay = groupBy(rows, ({ afterDays, endsOn }) => bankDays.after(endsOn, afterDays))
  return [...ofDay]
    .map(([preparedOn, all]) => ({
      preparedOn,
      count: all.reduce((sum, { count }) => sum + Number(count), 0),
      amount: all.reduce((sum, { amount }) => sum + Number(amount), 0),
    }))
    .toSorted((a, b) => (a.preparedOn < b.preparedOn ? -1 : 1))
}

interface Mover {
  readonly merchantId: string
  readonly name: string
  readonly amount: bigint
  readonly count: bigint
  readonly before: bigint
  readonly refunded: bigint
  readonly owed: bigint
}

export const MOVERS_SHOWN = 6
const paid = (from: string, to: string, ids: string) =>
  `payments p where ${SUMS.payments.source.where} and p.created_at >= ${from} and p.created_at < ${to} and ${ids}`
/** Merchants whose accepted payments of `$1` to `$2` differ most from those of `$3` to `$4`. */
export const MOVERS = statement<Mover>(
  'console_movers',
  `with moved as (
     select merchant_id, sum(amount)::bigint as amount, sum(count)::bigint as count, sum(before)::bigint as before from (
       select p.merchant_id, sum(p.amount_paise) as amount, count(*) as count, 0 as before
       from ${paid('$1', '$2', 'p.payment_id >= $5 and p.payment_id < $6')} group by 1
       union all
       select p.merchant_id, 0, 0, sum(p.amount_paise)
       from ${paid('$3', '$4', 'p.payment_id >= $7 and p.payment_id < $8')} group by 1) each
     group by 1 order by abs(sum(amount) - sum(before)) desc, merchant_id limit ${MOVERS_SHOWN})
   select m.merchant_id as "merchantId", m.name, v.amount, v.count, v.before,
     coalesce((select sum(r.amount_paise) from merchant_refunds r
       where r.merchant_id = v.merchant_id and ${SUMS.refunds.source.where} and r.created_at >= $1 and r.created_at < $2), 0)::bigint
       as refunded,
     coalesce(a.balance, 0)::bigint as owed
   from moved v join merchants m using (merchant_id) cross join lateral ${accountIdOf('payable', 'v.merchant_id')}
     left join ledger_accounts a on a.tenant_id = v.merchant_id and a.account_id = key.account_id
   order by abs(v.amount - v.before) desc, m.merchant_id`,
)
