import { Type } from 'typebox'
import { fail } from '../errors.ts'
import type { CommandAudit } from '../platform/audit.ts'
import type { Database } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'
import { type CommandOperation, type Input, query } from '../platform/http/operation.ts'
import { deleteEndpoint, rotateSecret, updateEndpoint } from '../webhooks/change-endpoint.ts'
import { createEndpoint } from '../webhooks/create-endpoint.ts'
import { replayEvents, resendEvent } from '../webhooks/replay-events.ts'
import { onBehalfOf, payloadOf } from './as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam } from './console-schema.ts'
import { tenantOfEndpoint } from './webhook-operations.ts'

const TAG = 'Webhooks'
const PATH = `${CONSOLE_API}/webhooks`

const HAS_TENANT = statement<{ found: boolean }>(
  'console_webhook_has_tenant',
  `select exists (select from tenants where tenant_id = $1 and kind <> 'house') as found`,
)

async function requireTenant(database: Database, tenantId: string): Promise<void> {
  const [row] = await database.operate((tx) => tx.query(HAS_TENANT, [tenantId]))
  if (!row!.found) fail(tenantId.startsWith('par_') ? 'partner_not_found' : 'merchant_not_found')
}

export const createWebhook = query({
  ...consoleOperation,
  id: 'createWebhook',
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Create webhook endpoint for a merchant or a partner',
  description:
    '`endpoint` is what the tenant itself would send. The answer holds the signing secret, which is never shown again.',
  role: 'operator',
  body: closed({ tenantId: Type.String({ maxLength: 128 }), endpoint: createEndpoint.body! }),
  result: createEndpoint.result,
  errors: ['merchant_not_found', 'partner_not_found', ...createEndpoint.errors],
  mount(services) {
    const { submit } = createEndpoint.open(services)
    return async (input) => {
      const { tenantId, endpoint } = input.body
      await requireTenant(services.database, tenantId)
      const caller = onBehalfOf(tenantId, input, {
        target: ({ body }) => payloadOf<{ endpointId: string }>(body).endpointId,
      })
      const made = await submit({ ...input, caller, params: {}, query: {}, body: endpoint as never })
      return { body: JSON.stringify(payloadOf(made.body)) }
    }
  },
})

interface Change {
  readonly id: string
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  /** After the endpoint's own path. */
  readonly path: string
  readonly summary: string
  readonly description?: string
  /** What the tables do not put on record themselves, as they do every change of an endpoint and of its secrets. */
  readonly entry?: (body: Record<string, string>) => Pick<CommandAudit, 'action' | 'details'>
}

/** A command of the tenant's own about one endpoint, given by an operator: the same body, locks, answers and refusals. */
const onBehalf = <Body>(
  command: CommandOperation<Input<{ endpointId: string }, unknown, Body>>,
  { path, entry = () => ({}), ...contract }: Change,
) =>
  query({
    ...consoleOperation,
    ...contract,
    path: `${PATH}/:endpointId${path}`,
    tag: TAG,
    role: 'operator',
    params: idParam('endpointId'),
    ...(command.body && { body: command.body }),
    result: command.result,
    errors: command.errors,
    mount(services) {
      const { submit } = command.open(services)
      return async (input) => {
        const { endpointId } = input.params
        const tenantId = await services.database.operate((tx) => tenantOfEndpoint(tx, endpointId))
        const audit = { target: endpointId, ...entry(input.body as Record<string, string>) }
        const caller = onBehalfOf(tenantId, input, audit)
        const done = await submit({
          ...input,
          caller,
          params: { endpointId },
          query: {},
          body: input.body as Body,
        })
        return { body: JSON.stringify(payloadOf(done.body)) }
      }
    },
  })

export const changeWebhook = onBehalf(updateEndpoint, {
  id: 'changeWebhook',
  method: 'PATCH',
  path: '',
  summary: 'Change, enable or disable webhook endpoint',
})

export const deleteWebhook = onBehalf(deleteEndpoint, {
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '',
  summary: 'Delete webhook endpoint',
  description: 'With its secrets, its attempts and what was still to be sent to it.',
})

export const rotateWebhookSecretInConsole = onBehalf(rotateSecret, {
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: '/rotate-secret',
  summary: 'Rotate the signing secret of a webhook endpoint',
  description: 'Answers the new secret, once. The former ones go on signing beside it for the time of grace.',
})

export const resendWebhook = onBehalf(resendEvent, {
  id: 'resendWebhook',
  method: 'POST',
  path: '/resend',
  summary: 'Send an event to a webhook endpoint again',
  entry: ({ eventId }) => ({ action: 'webhook_endpoint.event_resent', details: { eventId: eventId! } }),
})

export const replayWebhook = onBehalf(replayEvents, {
  id: 'replayWebhook',
  method: 'POST',
  path: '/replay',
  summary: 'Replay a range of time to a webhook endpoint',
  description: 'At most 10,000 events at a call: while `more`, ask again with `next` as `after`.',
  entry: ({ from, to }) => ({ action: 'webhook_endpoint.replayed', details: { from: from!, to: to! } }),
})
