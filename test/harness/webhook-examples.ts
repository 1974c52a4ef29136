import { type Client, type Json, payloadOf } from './client.ts'
import type { Recorder } from './recorder.ts'
import type { TestService } from './service.ts'
import type { WebhookReceiver } from './webhook-receiver.ts'

interface Setting {
  readonly service: TestService
  readonly receiver: WebhookReceiver
  /** Without credentials. */
  readonly open: Client
}

const NOT_FOUND = ['webhook_endpoint_not_found', 'Not there, or not yours'] as const
const MISSING = { params: { endpointId: 'whe_nothing' } }

/** Examples of events and webhooks, of a tenant of their own, whose events nothing else touches. */
export async function recordWebhooks(
  recorder: Recorder,
  { service, receiver, open }: Setting,
): Promise<void> {
  const reporter = await service.as(await service.newMerchant())
  const endpointId = await recordNewEndpoint(recorder, reporter, receiver.url())
  const eventId = await recordEvents(recorder, reporter, endpointId)
  await recordFinding(recorder, reporter, endpointId)
  await recordRedelivery(recorder, reporter, { endpointId, eventId })
  await recordChanges(recorder, reporter, endpointId)
  await recorder.works('publishedWebhookKeys', 'Keys of `v1a` signatures', open)
}

async function recordNewEndpoint(recorder: Recorder, reporter: Client, url: string): Promise<string> {
  const body = { url, types: ['qr_code.created', 'qr_code.cancelled'] }
  const { endpointId } = payloadOf(
    await recorder.works('createWebhookEndpoint', 'The secret is shown once', reporter, { body }),
  )
  const noWeb = ['webhook_url_refused', 'An address that is no web address'] as const
  await recorder.fails('createWebhookEndpoint', ...noWeb, reporter, {
    body: { url: 'ftp://shop.example.com/hook' },
  })
  return endpointId
}

/** Returns the id of the event that was sent to the endpoint. */
async function recordEvents(recorder: Recorder, reporter: Client, endpointId: string): Promise<string> {
  const { qrCodeId } = payloadOf(await reporter.post('/api/v0/qr-code', { qrName: 'Order 1042' }))
  const path = `/api/v0/webhook-endpoints/${endpointId}/attempts`
  let attempts: Json[] = []
  while (attempts.length === 0) attempts = payloadOf(await reporter.get(path)).data
  await recorder.works('listEvents', 'From the first one on', reporter, {
    query: { after: '0', limit: '10' },
  })
  await recorder.fails('listEvents', 'validation_failed', 'A place that is no number', reporter, {
    query: { after: qrCodeId },
  })
  await recordProofs(recorder, reporter, attempts[0].eventId)
  return attempts[0].eventId
}

async function recordProofs(recorder: Recorder, reporter: Client, eventId: string): Promise<void> {
  while (payloadOf(await reporter.get('/api/v0/events/head')).size === 0)
    await new Promise((resolve) => setTimeout(resolve, 100))
  await recorder.works('getFeedHead', 'Signed, after one event', reporter)
  await recorder.works('listEventLeaves', 'From the first one on', reporter, { query: { after: '0' } })
  await recorder.works('getEventProof', 'Of the newest head', reporter, { params: { eventId } })
  const none = ['event_not_found', 'No such event'] as const
  await recorder.fails('getEventProof', ...none, reporter, { params: { eventId: 'evt_nothing' } })
  await recorder.works('getFeedConsistency', 'Since a head of one event', reporter, { query: { from: '1' } })
  const ahead = ['events_ahead', 'A head that the tree has not reached'] as const
  await recorder.fails('getFeedConsistency', ...ahead, reporter, { query: { from: '1000' } })
}

async function recordFinding(recorder: Recorder, reporter: Client, endpointId: string): Promise<void> {
  const params = { endpointId }
  await recorder.works('listWebhookEndpoints', 'All of them', reporter)
  await recorder.works('getWebhookEndpoint', 'One of them', reporter, { params })
  await recorder.fails('getWebhookEndpoint', ...NOT_FOUND, reporter, MISSING)
  await recorder.works('listWebhookAttempts', 'What was sent and answered', reporter, {
    params,
    query: { limit: '10' },
  })
  await recorder.fails('listWebhookAttempts', ...NOT_FOUND, reporter, MISSING)
}

async function recordRedelivery(
  recorder: Recorder,
  reporter: Client,
  { endpointId, eventId }: { endpointId: string; eventId: string },
): Promise<void> {
  const params = { endpointId }
  await recorder.works('resendWebhookEvent', 'One event again', reporter, { params, body: { eventId } })
  await recorder.fails('resendWebhookEvent', 'event_not_found', 'No such event', reporter, {
    params,
    body: { eventId: 'evt_nothing' },
  })
  const range = { from: '2026-01-01T00:00:00+05:30', to: '2026-01-02T00:00:00+05:30' }
  await recorder.works('replayWebhookEvents', 'A day again', reporter, { params, body: range })
  await recorder.fails('replayWebhookEvents', ...NOT_FOUND, reporter, { ...MISSING, body: range })
}

async function recordChanges(recorder: Recorder, reporter: Client, endpointId: string): Promise<void> {
  const params = { endpointId }
  await recorder.works('rotateWebhookSecret', 'Both secrets sign for an hour', reporter, {
    params,
    body: { graceSeconds: 3600 },
  })
  await recorder.fails('rotateWebhookSecret', ...NOT_FOUND, reporter, { ...MISSING, body: {} })
  await recorder.works('updateWebhookEndpoint', 'Switched off', reporter, {
    params,
    body: { enabled: false },
  })
  const inside = ['webhook_url_refused', 'A host inside your network'] as const
  await recorder.fails('updateWebhookEndpoint', ...inside, reporter, {
    params,
    body: { url: 'https://10.0.0.8/hook' },
  })
  await recorder.works('deleteWebhookEndpoint', 'It is sent nothing more', reporter, { params })
  const gone = ['webhook_endpoint_not_found', 'It is gone already'] as const
  await recorder.fails('deleteWebhookEndpoint', ...gone, reporter, { params })
}
