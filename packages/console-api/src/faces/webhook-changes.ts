import type { Config } from '@svc/contract/config'
import { fail } from '@svc/contract/errors'
import { findTenant } from '@svc/core/tenants/tenant'
import { deleteEndpoint, rotateSecret, updateEndpoint } from '@svc/core/webhooks/change-endpoint'
import { createEndpoint } from '@svc/core/webhooks/create-endpoint'
import { endpointToWire, endpointWithSecretToWire } from '@svc/core/webhooks/endpoint'
import type { EndpointKey } from '@svc/core/webhooks/endpoint-store'
import { replayEvents, resendEvent } from '@svc/core/webhooks/replay-events'
import type { CommandAudit } from '@svc/platform/audit'
import type { AnyCommand } from '@svc/platform/command'
import type { Database } from '@svc/platform/db/database'
import type { Operation } from '@svc/server/http/operation'
import { retryKey } from '@svc/server/http/retry-key'
import {
  CreateEndpointRequest,
  createEndpointOperation,
  deleteEndpointOperation,
  ReplayEventsRequest,
  ResendEventRequest,
  RotateSecretRequest,
  readReplay,
  replayEventsOperation,
  resendEventOperation,
  rotateSecretOperation,
  UpdateEndpointRequest,
  updateEndpointOperation,
} from '@svc/server/webhooks/endpoints'
import { type Static, type TSchema, Type } from 'typebox'
import { auditOf } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam } from '../console-schema.ts'
import type { Permission } from '../identity/permissions.ts'
import { keyedQuery } from '../once.ts'
import { requireShown, showingSecret } from './sandbox-secret.ts'
import { tenantOfEndpoint } from './webhook-operations.ts'

const TAG = 'Webhooks'
const PATH = `${CONSOLE_API}/webhooks`

async function requireTenant(database: Database, tenantId: string): Promise<void> {
  if (!(await database.operate((tx) => findTenant(tx, tenantId))))
    fail(tenantId.startsWith('par_') ? 'partner_not_found' : 'merchant_not_found')
}

export const createWebhook = showingSecret(
  keyedQuery({
    ...consoleOperation,
    id: 'console.createWebhook',
    stepUp: true,
    method: 'POST',
    path: PATH,
    tag: TAG,
    summary: 'Create webhook endpoint for a merchant or a partner',
    description:
      '`endpoint` is what the tenant itself would send. The response holds the signing secret, which is never shown again.',
    permission: 'operations',
    body: closed({ tenantId: Type.String({ maxLength: 128 }), endpoint: CreateEndpointRequest }),
    result: createEndpointOperation.result,
    errors: ['merchant_not_found', 'partner_not_found', ...createEndpointOperation.errors],
    mount({ commands, config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
      const { respond } = commands.open(createEndpoint)
      return async (input) => {
        const { tenantId, endpoint } = input.body
        await requireTenant(database, tenantId)
        return respond(
          { tenantId, ...endpoint },
          {
            reply: ({ endpoint, command: { secret } }) =>
              success(endpointWithSecretToWire(endpoint, secret, timeZone)),
            retry: retryKey({ method: 'POST', path: PATH }, { ...input, caller: { tenantId } }),
            audit: () => auditOf(tenantId, input, { target: ({ endpoint }) => endpoint.endpointId }),
            deadlineMs: input.deadlineMs,
          },
        )
      }
    },
  }),
)

const success = (record: object) => ({ status: 200, body: JSON.stringify(record) })

interface Change<B extends TSchema, Args, D> {
  readonly id: string
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  /** After the endpoint's own path. */
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly body?: B
  /** What the tenant itself calls: its results and errors are these. */
  readonly like: Operation
  /** It decides who gets the tenant's events, or what signs them. */
  readonly stepUp?: true
  /** `operations` unless it says otherwise. */
  readonly permission?: Permission
  readonly run: AnyCommand<Args, D>
  readonly args: (key: EndpointKey, body: Static<B>, config: Config) => Args
  readonly toWire: (decision: D, timeZone: string) => object
  /** What the tables do not audit by themselves, as they do every change of an endpoint and of its secrets. */
  readonly entry?: (body: Static<B>) => Pick<CommandAudit, 'action' | 'details'>
}

/** A command about one endpoint, run by an operator on behalf of the endpoint's tenant. */
const onBehalf = <B extends TSchema, Args, D>({
  path: suffix,
  body,
  like: { errors, result },
  run,
  args,
  permission = 'operations',
  toWire,
  entry,
  ...contract
}: Change<B, Args, D>) => {
  const path = `${PATH}/:endpointId${suffix}`
  return keyedQuery({
    ...consoleOperation,
    ...contract,
    path,
    tag: TAG,
    permission,
    params: idParam('endpointId'),
    ...(body && { body }),
    result,
    errors,
    mount({ commands, config, database }) {
      const { BUSINESS_TIME_ZONE: timeZone } = config
      const { respond } = commands.open(run)
      return async (input) => {
        const { endpointId } = input.params
        const tenantId = await database.operate((tx) => tenantOfEndpoint(tx, endpointId))
        const sent = input.body as Static<B>
        return respond(args({ tenantId, endpointId }, sent, config), {
          reply: (decision) => success(toWire(decision, timeZone)),
          retry: retryKey({ method: contract.method, path }, { ...input, caller: { tenantId } }),
          audit: () => auditOf(tenantId, input, { target: endpointId, ...entry?.(sent) }),
          deadlineMs: input.deadlineMs,
        })
      }
    },
  })
}

export const changeWebhook = onBehalf({
  id: 'console.changeWebhook',
  stepUp: true,
  method: 'PATCH',
  path: '',
  summary: 'Change, enable or disable webhook endpoint',
  description:
    'In live mode its tenant alone changes the address: where its events go, go its data and its secret headers.',
  like: {
    ...updateEndpointOperation,
    errors: [...updateEndpointOperation.errors, 'secret_not_shown'] as const,
  },
  body: UpdateEndpointRequest,
  run: updateEndpoint,
  args(key, changes, config) {
    if (changes.url !== undefined) requireShown(config)
    return { ...key, changes }
  },
  toWire: endpointToWire,
})

export const deleteWebhook = onBehalf({
  id: 'console.deleteWebhook',
  stepUp: true,
  method: 'DELETE',
  path: '',
  summary: 'Delete webhook endpoint',
  description: 'With its secrets, its attempts and what was still to be sent to it.',
  like: deleteEndpointOperation,
  run: deleteEndpoint,
  args: (key) => key,
  toWire: ({ endpointId }) => ({ endpointId }),
})

export const rotateWebhookSecretInConsole = showingSecret(
  onBehalf({
    id: 'console.rotateWebhookSecret',
    stepUp: true,
    method: 'POST',
    path: '/rotate-secret',
    summary: 'Rotate the signing secret of a webhook endpoint',
    description:
      'Returns the new secret, once. The previous ones go on signing beside it for the time of grace.',
    like: rotateSecretOperation,
    body: RotateSecretRequest,
    run: rotateSecret,
    args: (key, { graceSeconds }) => ({ ...key, graceSeconds }),
    toWire: ({ endpoint, rotate: { secret } }, timeZone) =>
      endpointWithSecretToWire(endpoint, secret, timeZone),
  }),
)

export const resendWebhook = onBehalf({
  id: 'console.resendWebhook',
  method: 'POST',
  path: '/resend',
  summary: 'Send an event to a webhook endpoint again',
  permission: 'support',
  like: resendEventOperation,
  body: ResendEventRequest,
  run: resendEvent,
  args: (key, { eventId }) => ({ ...key, eventId }),
  toWire: () => ({ queued: 1 }),
  entry: ({ eventId }) => ({ action: 'webhook_endpoint.event_resent', details: { eventId } }),
})

export const replayWebhook = onBehalf({
  id: 'console.replayWebhook',
  method: 'POST',
  path: '/replay',
  summary: 'Replay a range of time to a webhook endpoint',
  permission: 'support',
  description: 'At most 10,000 events at a call: while `more`, ask again with `next` as `after`.',
  like: replayEventsOperation,
  body: ReplayEventsRequest,
  run: replayEvents,
  args: (key, body) => ({ ...key, ...readReplay(body) }),
  toWire: ({ queued, next, more }) => ({ queued, next, more }),
  entry: ({ from, to, failedOnly = false }) => ({
    action: 'webhook_endpoint.replayed',
    details: { from, to, failedOnly },
  }),
})
