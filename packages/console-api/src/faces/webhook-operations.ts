import { fail } from '@svc/contract/errors'
import { type WebhookSecret, webhookSecrets } from '@svc/core/webhooks/endpoint-secrets'
import { EventResponse } from '@svc/core/webhooks/event'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { query } from '@svc/server/http/operation'
import { fieldsOf, findRow, listOf, toRecord } from '@svc/server/http/resource'
import { AttemptResponse, type ListedAttempt, webhookAttempt } from '@svc/server/webhooks/list-attempts'
import { type ListedEndpoint, webhookEndpoint } from '@svc/server/webhooks/list-endpoints'
import { Type } from 'typebox'
import { CONSOLE_API, consoleOperation, idParam, instant, maybeInstant, record } from '../console-schema.ts'
import { redact } from '../records/redact.ts'
import { isRevealed } from '../records/reveals.ts'
import { readEvent } from './event-operations.ts'

const TAG = 'Webhooks'
const PATH = `${CONSOLE_API}/webhooks`
const params = idParam('endpointId')
const TENANT = statement<{ tenant_id: string }>(
  'console_webhook_tenant',
  'select tenant_id from webhook_endpoints where endpoint_id = $1',
)
const SECRETS = statement<WebhookSecret>(
  'console_webhook_secrets',
  `select ${webhookSecrets.columns} from webhook_secrets s
   where s.tenant_id = $1 and s.endpoint_id = $2 and (s.expires_at is null or s.expires_at > $3)
   order by s.created_at desc, s.secret_id desc`,
)

const toWire = toRecord<ListedEndpoint>(webhookEndpoint, 'operator')

/** Whose endpoint it is. Throws `webhook_endpoint_not_found`. */
export async function tenantOfEndpoint(tx: Tx, endpointId: string): Promise<string> {
  const [row] = await tx.query(TENANT, [endpointId])
  return row ? row.tenant_id : fail('webhook_endpoint_not_found')
}

export const listWebhooks = listOf<ListedEndpoint>(webhookEndpoint, {
  ...consoleOperation,
  id: 'console.listWebhooks',
  path: PATH,
  tag: TAG,
  summary: 'List webhook endpoints of all tenants',
  permission: 'view',
})

export const showWebhook = query({
  ...consoleOperation,
  id: 'console.showWebhook',
  method: 'GET',
  path: `${PATH}/:endpointId`,
  tag: TAG,
  summary: 'Show webhook endpoint with its live secrets, without their values',
  permission: 'view',
  params,
  result: record('WebhookDetail', {
    ...fieldsOf(webhookEndpoint, 'operator'),
    secrets: Type.Array(record('WebhookSecret', { createdOn: instant, expiresOn: maybeInstant }), {
      description: 'Those that sign, newest first; a previous one has an end',
    }),
  }),
  errors: ['webhook_endpoint_not_found'],
  mount({ clock, config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { endpointId } }) => {
      const { row, secrets } = await database.operate(async (tx) => {
        const row =
          (await findRow<ListedEndpoint>(tx, webhookEndpoint, { reader: 'operator' }, endpointId)) ??
          fail('webhook_endpoint_not_found')
        const live = [row.tenantId, endpointId, new Date(clock.now())]
        return { row, secrets: await tx.query(SECRETS, live) }
      })
      return {
        body: JSON.stringify({
          ...toWire(row, timeZone),
          secrets: secrets.map(({ createdAt, expiresAt }) => ({
            createdOn: rfc3339(createdAt, timeZone),
            expiresOn: expiresAt ? rfc3339(expiresAt, timeZone) : undefined,
          })),
        }),
      }
    }
  },
})

const maskExcerpt = (attempt: { readonly responseExcerpt: string }) => {
  const { responseExcerpt } = attempt
  return responseExcerpt === ''
    ? attempt
    : { ...attempt, responseExcerpt: redact(AttemptResponse.properties.responseExcerpt, responseExcerpt) }
}

export const listWebhookAttemptsInConsole = listOf<ListedAttempt>(webhookAttempt, {
  ...consoleOperation,
  id: 'console.listWebhookAttempts',
  path: `${PATH}/:endpointId/attempts`,
  tag: TAG,
  summary: 'List delivery attempts of a webhook endpoint',
  description: 'Excerpts of responses are masked until the endpoint’s personal data is revealed.',
  permission: 'view',
  params,
  errors: ['webhook_endpoint_not_found'],
  within: async (tx, _, { endpointId = '' }) => void (await tenantOfEndpoint(tx, endpointId)),
  // Endpoints may return what they were sent.
  maskFor: async (services, input) =>
    (await isRevealed(services, input)) ? (attempt: object) => attempt : maskExcerpt,
})

export const showWebhookEvent = query({
  ...consoleOperation,
  id: 'console.showWebhookEvent',
  method: 'GET',
  path: `${PATH}/:endpointId/events/:eventId`,
  tag: TAG,
  summary: 'Show an event as it is sent to a webhook endpoint',
  description:
    'Personal data is masked, as in the request log, until that of the endpoint is revealed (decision O4).',
  permission: 'view',
  params: Type.Object({
    endpointId: Type.String({ maxLength: 128 }),
    eventId: Type.String({ maxLength: 128 }),
  }),
  result: EventResponse,
  errors: ['webhook_endpoint_not_found', 'event_not_found'],
  mount(services) {
    const { config, database } = services
    return async (input) => {
      const { endpointId, eventId } = input.params
      const shown = { timeZone: config.BUSINESS_TIME_ZONE, isShown: await isRevealed(services, input) }
      const event = await database.operate(async (tx) => {
        const tenantId = await tenantOfEndpoint(tx, endpointId)
        return readEvent(tx, { tenantId, eventId }, shown)
      })
      return { body: JSON.stringify(event) }
    }
  },
})
