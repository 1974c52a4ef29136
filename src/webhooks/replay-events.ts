import { Type } from 'typebox'
import { fail } from '../errors.ts'
import type { Tx } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'
import { query, succeed } from '../platform/http/operation.ts'
import { EndpointParams, findEndpoint } from './endpoint.ts'

const EVENTS_A_REPLAY = 10_000

// What is repeated never holds up what is new, and a first attempt that still waits stays one (decision E3).
const QUEUE = `insert into webhook_deliveries as d (endpoint_id, tenant_id, sequence, event_id, object_id, first, due_at)`
const ON_CONFLICT = `on conflict (endpoint_id, sequence) do update set due_at = excluded.due_at, attempts = 0,
     started_at = null, turn = d.turn + 1 where not d.first`

const RESEND = statement<{ sequence: bigint }>(
  'webhook_resend',
  `with wanted as (
     select e.endpoint_id, o.tenant_id, o.sequence, o.event_id, o.object_id
     from outbox o join webhook_endpoints e on e.tenant_id = o.tenant_id and e.endpoint_id = $2
     where o.tenant_id = $1 and o.event_id = $3 and o.sequence is not null),
   queued as (${QUEUE} select w.*, false, $4 from wanted w ${ON_CONFLICT})
   select sequence from wanted`,
)
const REPLAY = statement<{ sequence: bigint }>(
  'webhook_replay',
  `with wanted as (
     select e.endpoint_id, o.tenant_id, o.sequence, o.event_id, o.object_id
     from outbox o join webhook_endpoints e on e.tenant_id = o.tenant_id and e.endpoint_id = $2
     where o.tenant_id = $1 and o.created_at >= $3 and o.created_at < $4 and o.sequence > $5
       and (e.types = '{}' or o.type = any (e.types))
     order by o.sequence limit ${EVENTS_A_REPLAY}),
   queued as (${QUEUE} select w.*, false, $6 from wanted w ${ON_CONFLICT})
   select sequence from wanted order by sequence`,
)

async function requireEnabled(tx: Tx, tenantId: string, endpointId: string): Promise<void> {
  const endpoint = await findEndpoint(tx, tenantId, endpointId)
  if (!endpoint) return fail('webhook_endpoint_not_found')
  if (!endpoint.enabled) fail('webhook_endpoint_disabled')
}

/** Sends one event once more, whatever became of it before. */
export const resendEvent = query({
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

  mount({ clock, database }) {
    return async ({ caller: { tenantId }, params: { endpointId }, body: { eventId } }) => {
      const rows = await database.write([tenantId], async (tx) => {
        await requireEnabled(tx, tenantId, endpointId)
        return tx.query(RESEND, [tenantId, endpointId, eventId, new Date(clock.now())])
      })
      if (rows.length === 0) fail('event_not_found')
      return { body: succeed({ queued: rows.length }) }
    }
  },
})

const instant = (description: string) =>
  Type.String({ format: 'date-time', 'x-rule': 'must be an RFC 3339 date-time with a zone', description })

/** Sends what happened in a range of time once more: after an outage, or to a new endpoint. */
export const replayEvents = query({
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
  errors: ['webhook_endpoint_not_found', 'webhook_endpoint_disabled'],

  mount({ clock, database }) {
    return async ({ caller: { tenantId }, params: { endpointId }, body: { from, to, after = 0 } }) => {
      const rows = await database.write([tenantId], async (tx) => {
        await requireEnabled(tx, tenantId, endpointId)
        const range = [new Date(from), new Date(to), after]
        return tx.query(REPLAY, [tenantId, endpointId, ...range, new Date(clock.now())])
      })
      const next = Number(rows.at(-1)?.sequence ?? after)
      return { body: succeed({ queued: rows.length, next, more: rows.length === EVENTS_A_REPLAY }) }
    }
  },
})
