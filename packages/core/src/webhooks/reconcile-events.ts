import { type Check, check, subjects } from '../ledger/reconcile.ts'

const FEEDS = subjects('feeds', 'event_counters')
const DELIVERIES = subjects('deliveries', 'webhook_deliveries')
const EVENTS = subjects('events', 'outbox')

/** What must be true of the feeds and of what is still to be delivered (decision E1). */
export const EVENT_CHECKS: readonly Check[] = [
  check(
    'feeds',
    FEEDS,
    'The events of a tenant are numbered 1, 2, 3 … up to its counter without gaps, from the last that was forgotten',
    (chosen) => `with numbered as (
         select tenant_id, count(sequence) as events, min(sequence) as first, max(sequence) as last
         from outbox where sequence is not null and ${chosen('tenant_id')} group by tenant_id),
       counters as (select * from event_counters where ${chosen('tenant_id')})
       select coalesce(n.tenant_id, c.tenant_id) as subject,
         coalesce(n.events, 0) || ' events from ' || coalesce(n.first, 0) || ' to ' || coalesce(n.last, 0) ||
         ', counter ' || coalesce(c.last_sequence, 0) || ', forgotten up to ' || coalesce(c.forgotten_sequence, 0) as detail
       from numbered n full join counters c using (tenant_id)
       where c.last_sequence is null or (coalesce(n.events, 0), coalesce(n.last, c.forgotten_sequence))
           is distinct from (c.last_sequence - c.forgotten_sequence, c.last_sequence)
         or n.first <> c.forgotten_sequence + 1 limit 100`,
  ),
  check(
    'event_order',
    EVENTS,
    'The events of one object are numbered in the order in which they were committed',
    (
      chosen,
    ) => `select event_id as subject, 'number ' || sequence || ' after ' || coalesce(former::text, 'none') as detail
       from (select event_id, sequence, position, lag(sequence) over w as former, lag(position) over w as before
             from outbox where ${chosen('object_id')} window w as (partition by tenant_id, object_id order by position)) o
       where before is not null and sequence is not null and (former is null or former >= sequence) limit 100`,
  ),
  check(
    'deliveries',
    DELIVERIES,
    'What waits for delivery is a numbered event of the endpoint’s tenant',
    (chosen) => `select d.endpoint_id || ' ' || d.sequence as subject, 'event ' || d.event_id as detail
       from webhook_deliveries d join webhook_endpoints e using (endpoint_id)
         left join outbox o on o.event_id = d.event_id and o.tenant_id = d.tenant_id and o.sequence = d.sequence
       where ${chosen('d.tenant_id')} and (o.event_id is null or e.tenant_id <> d.tenant_id) limit 100`,
  ),
]
