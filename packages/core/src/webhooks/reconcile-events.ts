import { NUMBERED_EVENTS } from '@svc/platform/outbox'
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
         select n.tenant_id, count(*) as events, min(n.sequence) as first, max(n.sequence) as last
         from ${NUMBERED_EVENTS} where ${chosen('n.tenant_id')} group by n.tenant_id),
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
    'feed_trees',
    FEEDS,
    'The tree of a tenant’s feed has a leaf for each event that it counts (decision E7)',
    (chosen) => `select c.tenant_id as subject,
         c.proven_sequence || ' events in the tree, ' || coalesce(t.leaves, 0) || ' leaves' as detail
       from event_counters c left join (
         select tenant_id, sum(length(hashes) / 32) as leaves from feed_tiles
         where level = 0 and ${chosen('tenant_id')} group by tenant_id) t using (tenant_id)
       where ${chosen('c.tenant_id')} and c.proven_sequence <> coalesce(t.leaves, 0) limit 100`,
  ),
  check(
    'event_order',
    EVENTS,
    'The events of one object are numbered in the order in which they were committed',
    (chosen) => `select event_id as subject, 'number ' || sequence || ' after ' || previous as detail
       from (select n.event_id, n.sequence, lag(n.sequence) over w as previous
             from ${NUMBERED_EVENTS} where ${chosen('o.object_id')}
             window w as (partition by n.tenant_id, o.object_id order by n.position)) e
       where previous >= sequence limit 100`,
  ),
  check(
    'event_queue',
    EVENTS,
    'Every event has its number or waits for it, until it is forgotten',
    (chosen) => `select o.event_id as subject, 'neither numbered nor queued' as detail
       from outbox o left join event_counters c on c.tenant_id = o.tenant_id
       where ${chosen('o.object_id')} and o.created_at > coalesce(c.forgotten_at, '-infinity')
         and not exists (select from event_numbers n where n.tenant_id = o.tenant_id and n.created_at = o.created_at
           and n.event_id = o.event_id)
         and not exists (select from unnumbered_events u where u.tenant_id = o.tenant_id and u.event_id = o.event_id)
       limit 100`,
  ),
  check(
    'deliveries',
    DELIVERIES,
    'What waits for delivery is a numbered event of the endpoint’s tenant',
    (chosen) => `select d.endpoint_id || ' ' || d.sequence as subject, 'event ' || d.event_id as detail
       from webhook_deliveries d join webhook_endpoints e using (endpoint_id)
         left join event_numbers n on n.tenant_id = d.tenant_id and n.sequence = d.sequence and n.event_id = d.event_id
       where ${chosen('d.tenant_id')} and (n.event_id is null or e.tenant_id <> d.tenant_id) limit 100`,
  ),
]
