import { EVENT_TYPES } from '@svc/contract/events'
import {
  deleteEndpoint,
  GRACE_SECONDS_MAX,
  rotateSecret,
  updateEndpoint,
} from '@svc/core/webhooks/change-endpoint'
import { createEndpoint } from '@svc/core/webhooks/create-endpoint'
import {
  EndpointParams,
  EndpointResponse,
  EndpointWithSecret,
  endpointToWire,
  endpointWithSecretToWire,
} from '@svc/core/webhooks/endpoint'
import { SEQUENCE_MAX } from '@svc/core/webhooks/event'
import { EVENTS_A_REPLAY, replayEvents, resendEvent } from '@svc/core/webhooks/replay-events'
import { type Static, Type } from 'typebox'
import { Instant, readInstant } from '../http/fields.ts'
import { ok, operation } from '../http/operation.ts'
import { ofWebhooks } from './list-attempts.ts'

const HEADERS_MAX = 10
const PATH = '/api/v0/webhook-endpoints'

const url = Type.String({
  maxLength: 2_048,
  description: '`https`; in sandbox mode also `http` and loopback',
})
const description = Type.String({
  minLength: 0,
  maxLength: 255,
  description: 'For people; an empty one clears it',
})
const types = Type.Array(Type.Enum(EVENT_TYPES), {
  uniqueItems: true,
  maxItems: EVENT_TYPES.length,
  description: 'What is sent; empty, the default, for everything',
})
const enabled = Type.Boolean({ description: 'True by default. A disabled endpoint is sent nothing' })
// Not a `Type.Record`: values of names that break its pattern go unchecked. The command checks the names (decision F4).
const headers = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: Type.String({ maxLength: 1_024 }),
  maxProperties: HEADERS_MAX,
  description:
    'Headers to send with each delivery, such as your `Authorization`; stored encrypted, never returned. Names have letters, digits and hyphens, at most 64',
})

export const CreateEndpointRequest = Type.Object(
  {
    url,
    description: Type.Optional(description),
    types: Type.Optional(types),
    enabled: Type.Optional(enabled),
    headers: Type.Optional(headers),
  },
  { additionalProperties: false },
)

export const createEndpointOperation = operation({
  ...ofWebhooks('webhooks:write'),
  id: 'createWebhookEndpoint',
  method: 'POST',
  path: PATH,
  summary: 'Create a webhook endpoint',
  description:
    'From now on every event of the chosen types is sent to the URL, signed according to Standard Webhooks 1.0. The response contains the signing secret, which is never shown again.',
  body: CreateEndpointRequest,
  result: EndpointWithSecret,
  errors: ['webhook_url_refused', 'too_many_webhook_endpoints'],
  run: createEndpoint,
  args: ({ caller: { tenantId }, body }) => ({ tenantId, ...body }),
  reply: ({ endpoint, command: { secret } }, { timeZone }) =>
    ok(endpointWithSecretToWire(endpoint, secret, timeZone)),
})

export const UpdateEndpointRequest = Type.Partial(
  Type.Object({ url, description, types, enabled, headers }),
  { additionalProperties: false },
)

export const updateEndpointOperation = operation({
  ...ofWebhooks('webhooks:write'),
  id: 'updateWebhookEndpoint',
  method: 'PATCH',
  path: `${PATH}/:endpointId`,
  summary: 'Change a webhook endpoint',
  description:
    'Fields that are left out stay as they are. A disabled endpoint is sent nothing and misses what happens meanwhile: replay it.',
  params: EndpointParams,
  body: UpdateEndpointRequest,
  result: EndpointResponse,
  errors: ['webhook_endpoint_not_found', 'webhook_url_refused'],
  run: updateEndpoint,
  args: ({ caller: { tenantId }, params: { endpointId }, body }) => ({ tenantId, endpointId, changes: body }),
  reply: (endpoint, { timeZone }) => ok(endpointToWire(endpoint, timeZone)),
})

export const deleteEndpointOperation = operation({
  ...ofWebhooks('webhooks:write'),
  id: 'deleteWebhookEndpoint',
  method: 'DELETE',
  path: `${PATH}/:endpointId`,
  summary: 'Delete a webhook endpoint',
  description: 'With its secrets, its attempts and what was still to be sent to it.',
  params: EndpointParams,
  result: Type.Object({ endpointId: Type.String() }, { additionalProperties: false }),
  errors: ['webhook_endpoint_not_found'],
  run: deleteEndpoint,
  args: ({ caller: { tenantId }, params: { endpointId } }) => ({ tenantId, endpointId }),
  reply: ({ endpointId }) => ok({ endpointId }),
})

export const RotateSecretRequest = Type.Object(
  {
    graceSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: GRACE_SECONDS_MAX,
        description: 'How long the previous secrets stay in use; a day by default',
      }),
    ),
  },
  { additionalProperties: false },
)

export const rotateSecretOperation = operation({
  ...ofWebhooks('webhooks:write'),
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: `${PATH}/:endpointId/rotate-secret`,
  summary: 'Rotate the signing secret',
  description:
    'Returns a new secret, once. Until the grace period ends, every delivery has a signature with each of the live secrets, so that your receivers can change over one by one. A repeat without an `Idempotency-Key` creates another secret and removes none of the previous ones before its time; while five secrets are in use, it is 409.',
  params: EndpointParams,
  body: RotateSecretRequest,
  mayLackBody: true,
  result: EndpointWithSecret,
  errors: ['webhook_endpoint_not_found', 'too_many_webhook_secrets'],
  run: rotateSecret,
  args: ({ caller: { tenantId }, params: { endpointId }, body: { graceSeconds } }) => ({
    tenantId,
    endpointId,
    graceSeconds,
  }),
  reply: ({ endpoint, rotate: { secret } }, { timeZone }) =>
    ok(endpointWithSecretToWire(endpoint, secret, timeZone)),
})

export const ResendEventRequest = Type.Object({ eventId: Type.String() }, { additionalProperties: false })

export const resendEventOperation = operation({
  ...ofWebhooks('webhooks:write'),
  id: 'resendWebhookEvent',
  method: 'POST',
  path: `${PATH}/:endpointId/resend`,
  summary: 'Send an event again',
  description:
    'Sent with the same `webhook-id`, so that a receiver can recognize an event that it has received. The retries start again.',
  params: EndpointParams,
  body: ResendEventRequest,
  result: Type.Object({ queued: Type.Integer() }, { additionalProperties: false }),
  errors: ['webhook_endpoint_not_found', 'webhook_endpoint_disabled', 'event_not_found'],
  run: resendEvent,
  args: ({ caller: { tenantId }, params: { endpointId }, body: { eventId } }) => ({
    tenantId,
    endpointId,
    eventId,
  }),
  reply: () => ok({ queued: 1 }),
})

export const ReplayEventsRequest = Type.Object(
  {
    from: Instant('Happened at this instant or later'),
    to: Instant('Happened before this instant'),
    after: Type.Optional(
      Type.Integer({ minimum: 0, maximum: SEQUENCE_MAX, description: 'The `next` of the previous call' }),
    ),
    failedOnly: Type.Optional(
      Type.Boolean({
        description:
          'Only events that were sent to the endpoint and never accepted by it. Attempts are kept for 30 days (`WEBHOOK_ATTEMPTS_DAYS`); with an older `from` it is 410 `events_forgotten`',
      }),
    ),
  },
  { additionalProperties: false },
)

/** The range as the command has it. */
export const readReplay = ({ from, to, after, failedOnly }: Static<typeof ReplayEventsRequest>) => ({
  from: readInstant('from', from),
  to: readInstant('to', to),
  after,
  failedOnly,
})

export const replayEventsOperation = operation({
  ...ofWebhooks('webhooks:write'),
  id: 'replayWebhookEvents',
  method: 'POST',
  path: `${PATH}/:endpointId/replay`,
  summary: 'Replay a range of time',
  description: `Sends every event of the range that the endpoint's filter lets through, with its own \`webhook-id\`. New events do not wait for it. At most ${EVENTS_A_REPLAY} at a call: while \`more\`, ask again with \`next\` as \`after\`.`,
  params: EndpointParams,
  body: ReplayEventsRequest,
  result: Type.Object(
    {
      queued: Type.Integer(),
      next: Type.Integer({ description: 'Sequence of the last event that was queued' }),
      more: Type.Boolean({ description: 'Whether there are more events in the range' }),
    },
    { additionalProperties: false },
  ),
  errors: ['webhook_endpoint_not_found', 'webhook_endpoint_disabled', 'events_forgotten'],
  run: replayEvents,
  args: ({ caller: { tenantId }, params: { endpointId }, body }) => ({
    tenantId,
    endpointId,
    ...readReplay(body),
  }),
  reply: ({ queued, next, more }) => ok({ queued, next, more }),
})
