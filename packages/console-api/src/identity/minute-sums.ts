import { timeAhead } from '@svc/platform/db/database-time'
import { statement } from '@svc/platform/db/statement'

// No minute of the future: alerts and the overview would show it until then.
export const ADD_SUMS = statement(
  'minute_sums_add',
  `insert into minute_sums as m (minute, what, count)
   select least(s.minute, date_trunc('minute', ${timeAhead(4)})), s.what, sum(s.count)
   from unnest($1::timestamptz[], $2::text[], $3::bigint[]) as s (minute, what, count) group by 1, 2 order by 1, 2
   on conflict (minute, what) do update set count = m.count + excluded.count`,
)
