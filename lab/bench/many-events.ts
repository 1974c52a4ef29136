import { idFloor } from '@svc/contract/id-kinds'
import type pg from 'pg'
import type { Setting } from './measures/measure.ts'

const DAY_MS = 86_400_000
/** Within those for which events are kept by default. */
const DAYS = 392
/** Written at a time; never more than an id's last digits can count. */
const STEP = 20_000

export interface ManyEvents {
  /** The number of the first of them. */
  readonly first: number
  readonly count: number
}

/** A partition for each week, as the service would have made them at the time. */
async function addPartitions(admin: pg.Client, now: number): Promise<void> {
  for (let day = DAYS; day >= 0; day -= 7)
    await admin.query(
      `select add_partition(name, partition_day($1, days)) from partitioned_tables
       where name = 'outbox' and to_regclass(partition_name(name, partition_day($1, days))) is null`,
      [new Date(now - day * DAY_MS)],
    )
}

/** Puts events into a tenant's feed by SQL, as a year of payments would have left them, numbered. Superuser's work. */
export async function insertManyEvents(
  { bed: { admin }, progress }: Pick<Setting, 'bed' | 'progress'>,
  tenantId: string,
  count: number,
): Promise<ManyEvents> {
  const now = Date.now()
  await addPartitions(admin, now)
  // Taken at once: what the service numbers meanwhile comes behind them.
  const { rows } = await admin.query<{ last: string }>(
    `insert into event_counters as c (tenant_id, last_sequence) values ($1, $2)
     on conflict (tenant_id) do update set last_sequence = c.last_sequence + excluded.last_sequence
     returning last_sequence as last`,
    [tenantId, count],
  )
  const first = Number(rows[0]!.last) - count + 1
  for (let from = 0; from < count; from += STEP) {
    progress(`inserting events: ${from} of ${count}`)
    const at = new Date(now - DAYS * DAY_MS * (1 - from / count))
    await admin.query(
      `with events as (
         insert into outbox (event_id, tenant_id, type, object_id, payload, created_at)
         select $1 || lpad(n::text, 16, '0'), $2, 'qr_code.credited', 'qr_' || lpad((n % 1000)::text, 26, '0'),
           jsonb_build_object('qrCodeId', 'qr_' || lpad((n % 1000)::text, 26, '0'), 'paymentId', 'pay_' || lpad(n::text, 26, '0'),
             'utr', 'B' || lpad(n::text, 19, '0'), 'amount', 10, 'payerVpa', 'payer@bank', 'status', 'ACCEPTED',
             'createdOn', '2026-01-01T00:00:00.000+05:30'),
           $3::timestamptz + n * interval '1 microsecond'
         from generate_series(1, $4::int) n returning *)
       insert into event_numbers (tenant_id, sequence, position, created_at, event_id, type)
       select tenant_id, $5::bigint + row_number() over (order by event_id) - 1, 0, created_at, event_id, type from events
       order by event_id`,
      [idFloor('evt', at), tenantId, at, Math.min(STEP, count - from), first + from],
    )
  }
  await admin.query('vacuum analyze outbox, event_numbers')
  return { first, count }
}
