import { NOT_SETTLED } from '@svc/core/payments/settlements/differences'
import { statement } from '@svc/platform/db/statement'

/** Payments that one look reads, in the order of their ids, from the first one that the bank may not have settled. */
const READ_AHEAD = 10_000

const ahead = (before: string): string =>
  `(select p.* from payments p
    where p.payment_id > coalesce((select settled_to from alert_watch), '') and p.payment_id < ${before}
    order by p.payment_id limit ${READ_AHEAD}) p`

/** SQL: those of them before an id that the bank has not settled. */
export const unsettledAhead = (before: string): string =>
  `(select p.created_at, p.amount_paise from ${ahead(before)} where ${NOT_SETTLED})`
/** SQL: those that are late, by the JSON that is `$3`. */
export const UNSETTLED_AHEAD = unsettledAhead(`($3::jsonb ->> 'settledBeforeId')`)

/** Moves on to the last payment before the first one that the bank has not settled, of those before the id that is `$1`. */
export const SETTLED_TO = statement(
  'alert_watch_settled',
  `with ahead as materialized (select p.payment_id, ${NOT_SETTLED} as waits from ${ahead('$1')}),
     settled as (
       select max(payment_id) as last from ahead
       where payment_id < coalesce((select min(payment_id) from ahead where waits), 'pay~'))
   update alert_watch w set settled_to = s.last from settled s where s.last > w.settled_to`,
)
