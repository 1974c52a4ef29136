import { fail } from '@svc/contract/errors'
import { ByTenant, idsByTenant } from '@svc/kernel/by-tenant'
import { command } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { EVENTS_WITH_NUMBERS, NUMBERED_EVENTS } from '@svc/platform/outbox'
import type { Endpoint } from './endpoint.ts'
import { type EndpointKey, type Endpoints, endpointOf, lockEndpoints } from './endpoint-store.ts'
import { requireAttemptsSince, requireEventsKept } from './feed-horizon.ts'

export const EVENTS_A_REPLAY = 10_000

// What is repeated never holds up what is new, and a first attempt that still waits stays one (decision E3).
const QUEUE = `insert into webhook_deliveries as d (endpoint_id, tenant_id, sequence, event_id, object_id, first, due_at)`
const ON_CONFLICT = `on conflict (tenant_id, endpoint_id, sequence) do update set due_at = excluded.due_at, attempts = 0,
     started_at = null, turn = d.turn + 1 where not d.first`

const RESEND = statement(
  'webhook_resend',
  `${QUEUE} select w.endpoint_id, o.tenant_id, n.sequence, o.event_id, o.object_id, false, $4
   from unnest($1::text[], $2::text[], $3::text[]) as w (tenant_id, endpoint_id, event_id)
     join (${EVENTS_WITH_NUMBERS}) on o.tenant_id = w.tenant_id and o.event_id = w.event_id
   order by w.endpoint_id, n.sequence ${ON_CONFLICT}`,
)
const KNOWN_EVENTS = statement<{ tenant_id: string; event_id: string }>(
  'webhook_resend_events',
  `select o.tenant_id, o.event_id from ${EVENTS_WITH_NUMBERS}
   where (o.tenant_id, o.event_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const RANGE = `from ${NUMBERED_EVENTS} join webhook_endpoints e on e.tenant_id = n.tenant_id and e.endpoint_id = $2
     where n.tenant_id = $1 and n.created_at >= $3 and n.created_at < $4 and n.sequence > $5
       and (e.types = '{}' or n.type = any (e.types))
       and (not $6::boolean or (
         exists (select from webhook_attempts a where a.tenant_id = n.tenant_id and a.event_id = n.event_id
           and a.endpoint_id = e.endpoint_id)
         and not exists (select from webhook_attempts a where a.tenant_id = n.tenant_id and a.event_id = n.event_id
           and a.endpoint_id = e.endpoint_id and a.status between 200 and 299)))`
const COUNT = statement<{ queued: number; last: bigint | null }>(
  'webhook_replay_count',
  `select count(*)::integer as queued, max(sequence) as last
   from (select n.sequence ${RANGE} order by n.sequence limit ${EVENTS_A_REPLAY}) wanted`,
)
const REPLAY = statement(
  'webhook_replay',
  `${QUEUE} select e.endpoint_id, n.tenant_id, n.sequence, n.event_id, o.object_id, false, $8
   ${RANGE} and n.sequence <= $7 order by n.sequence ${ON_CONFLICT}`,
)

/** Throws `webhook_endpoint_not_found` and `webhook_endpoint_disabled`. */
function enabledEndpoint(endpoints: Endpoints, key: EndpointKey): Endpoint {
  const endpoint = endpointOf(endpoints, key)
  return endpoint.enabled ? endpoint : fail('webhook_endpoint_disabled')
}

interface Resend extends EndpointKey {
  readonly eventId: string
}

interface ResendState {
  readonly endpoints: Endpoints
  /** Ids of numbered events. */
  readonly events: ReadonlySet<string>
}

/** Sends one event once more, whatever became of it before. */
export const resendEvent = command({
  name: 'resendWebhookEvent',
  byServiceTime: true,

  prepare:
    () =>
    ({ tenantId, endpointId, eventId }: Resend) => ({ tenantId, endpointId, eventId }),
  async lock(tx: BatchTx, resends: readonly Resend[]): Promise<ByTenant<ResendState>> {
    const endpoints = await lockEndpoints(tx, resends)
    const wanted = columns(
      resends,
      ({ tenantId }) => tenantId,
      ({ eventId }) => eventId,
    )
    const rows = resends.length > 0 ? await tx.query(KNOWN_EVENTS, wanted) : []
    const events = idsByTenant(
      rows,
      (row) => row.tenant_id,
      (row) => row.event_id,
    )
    return new ByTenant((tenantId) => ({ endpoints: endpoints.of(tenantId), events: events.of(tenantId) }))
  },
  decide({ endpoints, events }: ResendState, resend: Resend, now) {
    enabledEndpoint(endpoints, resend)
    if (!events.has(resend.eventId)) fail('event_not_found')
    return { resend, now }
  },
  apply: () => undefined,
  save(tx, decisions) {
    // One by one: the same event may be requested twice in a batch, and a statement writes a row once only.
    for (const { resend, now } of decisions)
      tx.write(RESEND, [[resend.tenantId], [resend.endpointId], [resend.eventId], now])
  },
})

interface ReplayEvents extends EndpointKey {
  /** Happened at this instant or later. */
  readonly from: Date
  /** Happened before this instant. */
  readonly to: Date
  /** Sequence of the last event of the previous call. */
  readonly after?: number | undefined
  /** Only those that were tried and never accepted, as far as attempts are kept. */
  readonly failedOnly?: boolean | undefined
}

interface Replay extends EndpointKey {
  readonly range: readonly [from: Date, to: Date, after: number, failedOnly: boolean]
}

interface Found {
  readonly queued: number
  /** Sequence of the last event of the range. */
  readonly last: bigint | null
}

interface ReplayState {
  readonly endpoints: Endpoints
  readonly found: ReadonlyMap<Replay, Found>
}

/** Sends what happened in a range of time once more: after an outage, or to a new endpoint. */
export const replayEvents = command({
  name: 'replayWebhookEvents',
  byServiceTime: true,

  prepare:
    ({ config, database }) =>
    async ({
      tenantId,
      endpointId,
      from,
      to,
      after = 0,
      failedOnly = false,
    }: ReplayEvents): Promise<Replay> => {
      await database.read([tenantId], async (tx) => {
        await requireEventsKept(tx, tenantId, from, config.BUSINESS_TIME_ZONE)
        if (failedOnly) await requireAttemptsSince(tx, from, config)
      })
      return { tenantId, endpointId, range: [from, to, after, failedOnly] }
    },
  async lock(tx: BatchTx, replays: readonly Replay[]): Promise<ByTenant<ReplayState>> {
    const endpoints = await lockEndpoints(tx, replays)
    const found = new ByTenant(() => new Map<Replay, Found>())
    for (const replay of replays) {
      const [row] = await tx.query(COUNT, [replay.tenantId, replay.endpointId, ...replay.range])
      found.of(replay.tenantId).set(replay, row!)
    }
    return new ByTenant((tenantId) => ({ endpoints: endpoints.of(tenantId), found: found.of(tenantId) }))
  },
  decide({ endpoints, found }: ReplayState, replay: Replay, now) {
    enabledEndpoint(endpoints, replay)
    const { queued, last } = found.get(replay)!
    const next = Number(last ?? replay.range[2])
    return { replay, queued, next, more: queued === EVENTS_A_REPLAY, now }
  },
  apply: () => undefined,
  save(tx, decisions) {
    for (const { replay, next, now } of decisions)
      tx.write(REPLAY, [replay.tenantId, replay.endpointId, ...replay.range, next, now])
  },
})
