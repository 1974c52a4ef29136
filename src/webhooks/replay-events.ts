import { Type } from 'typebox'
import { fail } from '../errors.ts'
import type { BatchTx } from '../platform/db/batch.ts'
import { columns, statement } from '../platform/db/statement.ts'
import { command, ok } from '../platform/http/operation.ts'
import { type Endpoint, EndpointParams } from './endpoint.ts'
import { type EndpointKey, type Endpoints, endpointOf, lockEndpoints } from './endpoint-store.ts'
import { requireKeptSince } from './feed-horizon.ts'

const EVENTS_A_REPLAY = 10_000

// What is repeated never holds up what is new, and a first attempt that still waits stays one (decision E3).
const QUEUE = `insert into webhook_deliveries as d (endpoint_id, tenant_id, sequence, event_id, object_id, first, due_at)`
const ON_CONFLICT = `on conflict (endpoint_id, sequence) do update set due_at = excluded.due_at, attempts = 0,
     started_at = null, turn = d.turn + 1 where not d.first`

const RESEND = statement(
  'webhook_resend',
  `${QUEUE} select w.endpoint_id, o.tenant_id, o.sequence, o.event_id, o.object_id, false, $4
   from unnest($1::text[], $2::text[], $3::text[]) as w (tenant_id, endpoint_id, event_id)
     join outbox o on o.tenant_id = w.tenant_id and o.event_id = w.event_id
   order by w.endpoint_id, o.sequence ${ON_CONFLICT}`,
)
const KNOWN_EVENTS = statement<{ tenant_id: string; event_id: string }>(
  'webhook_resend_events',
  `select tenant_id, event_id from outbox
   where (tenant_id, event_id) in (select * from unnest($1::text[], $2::text[])) and sequence is not null`,
)
const RANGE = `from outbox o join webhook_endpoints e on e.tenant_id = o.tenant_id and e.endpoint_id = $2
     where o.tenant_id = $1 and o.created_at >= $3 and o.created_at < $4 and o.sequence > $5
       and (e.types = '{}' or o.type = any (e.types))`
const COUNT = statement<{ queued: number; last: bigint | null }>(
  'webhook_replay_count',
  `select count(*)::integer as queued, max(sequence) as last
   from (select o.sequence ${RANGE} order by o.sequence limit ${EVENTS_A_REPLAY}) wanted`,
)
const REPLAY = statement(
  'webhook_replay',
  `${QUEUE} select e.endpoint_id, o.tenant_id, o.sequence, o.event_id, o.object_id, false, $7
   ${RANGE} and o.sequence <= $6 order by o.sequence ${ON_CONFLICT}`,
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
  /** Numbered events, each after its tenant. */
  readonly events: ReadonlySet<string>
}

/** Sends one event once more, whatever became of it before. */
export const resendEvent = command({
  id: 'resendWebhookEvent',
  method: 'POST',
  path: '/api/v0/webhook-endpoints/:endpointId/resend',
  tag: 'Webhooks',
  summary: 'Send an event again',
  description:
    'With the same `webhook-id`, so that a receiver that had it can tell. Taken as a new start of its retries.',
  auth: 'tenant',
  family: 'response_code',
  params: EndpointParams,
  body: Type.Object({ eventId: Type.String({ maxLength: 64 }) }, { additionalProperties: false }),
  result: Type.Object({ queued: Type.Integer() }, { additionalProperties: false }),
  errors: ['webhook_endpoint_not_found', 'webhook_endpoint_disabled', 'event_not_found'],

  prepare:
    () =>
    ({ caller: { tenantId }, params: { endpointId }, body: { eventId } }): Resend => ({
      tenantId,
      endpointId,
      eventId,
    }),
  async lock(tx: BatchTx, resends: readonly Resend[]): Promise<ResendState> {
    const endpoints = await lockEndpoints(tx, resends)
    const wanted = columns(
      resends,
      ({ tenantId }) => tenantId,
      ({ eventId }) => eventId,
    )
    const rows = resends.length > 0 ? await tx.query(KNOWN_EVENTS, wanted) : []
    return { endpoints, events: new Set(rows.map((row) => `${row.tenant_id} ${row.event_id}`)) }
  },
  decide({ endpoints, events }: ResendState, resend: Resend, now) {
    enabledEndpoint(endpoints, resend)
    if (!events.has(`${resend.tenantId} ${resend.eventId}`)) fail('event_not_found')
    return { resend, now }
  },
  apply: () => undefined,
  save(tx, decisions) {
    // One by one: the same event may be asked for twice in a batch, and a statement writes a row once only.
    for (const { resend, now } of decisions)
      tx.write(RESEND, [[resend.tenantId], [resend.endpointId], [resend.eventId], now])
  },
  answer: () => ok({ queued: 1 }),
})

const instant = (description: string) =>
  Type.String({ format: 'date-time', 'x-rule': 'must be an RFC 3339 date-time with a zone', description })

interface Replay extends EndpointKey {
  readonly range: readonly [from: Date, to: Date, after: number]
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
  id: 'replayWebhookEvents',
  method: 'POST',
  path: '/api/v0/webhook-endpoints/:endpointId/replay',
  tag: 'Webhooks',
  summary: 'Replay a range of time',
  description: `Sends every event of the range that the endpoint's filter lets through, with its own \`webhook-id\`. New events do not wait for it. At most ${EVENTS_A_REPLAY} at a call: while \`more\`, ask again with \`next\` as \`after\`.`,
  auth: 'tenant',
  family: 'response_code',
  params: EndpointParams,
  body: Type.Object(
    {
      from: instant('Happened at this instant or later'),
      to: instant('Happened before this instant'),
      after: Type.Optional(Type.Integer({ minimum: 0, description: 'The `next` of the call before' })),
    },
    { additionalProperties: false },
  ),
  result: Type.Object(
    {
      queued: Type.Integer(),
      next: Type.Integer({ description: 'Sequence of the last event that was queued' }),
      more: Type.Boolean({ description: 'Whether there are more events in the range' }),
    },
    { additionalProperties: false },
  ),
  errors: ['webhook_endpoint_not_found', 'webhook_endpoint_disabled', 'events_forgotten'],

  prepare:
    ({ config, database }) =>
    async ({
      caller: { tenantId },
      params: { endpointId },
      body: { from, to, after = 0 },
    }): Promise<Replay> => {
      const begin = new Date(from)
      await database.read([tenantId], (tx) =>
        requireKeptSince(tx, tenantId, begin, config.BUSINESS_TIME_ZONE),
      )
      return { tenantId, endpointId, range: [begin, new Date(to), after] }
    },
  async lock(tx: BatchTx, replays: readonly Replay[]): Promise<ReplayState> {
    const endpoints = await lockEndpoints(tx, replays)
    const found = new Map<Replay, Found>()
    for (const replay of replays) {
      const [row] = await tx.query(COUNT, [replay.tenantId, replay.endpointId, ...replay.range])
      found.set(replay, row!)
    }
    return { endpoints, found }
  },
  decide({ endpoints, found }: ReplayState, replay: Replay, now) {
    enabledEndpoint(endpoints, replay)
    return { replay, found: found.get(replay)!, now }
  },
  apply: () => undefined,
  save(tx, decisions) {
    for (const { replay, found, now } of decisions)
      tx.write(REPLAY, [replay.tenantId, replay.endpointId, ...replay.range, found.last ?? 0, now])
  },
  answer: ({ found: { queued, last } }, { range: [, , after] }) =>
    ok({ queued, next: Number(last ?? after), more: queued === EVENTS_A_REPLAY }),
})
