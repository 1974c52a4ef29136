import { createPublicKey, verify } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { eventually, feedOf } from '../harness/event-feed.ts'
import { cancel, creditOf, newCode, newCodes, notifyCredit } from '../harness/qr-codes.ts'
import { openService, type TestService } from '../harness/service.ts'
import { verifyDelivery, WebhookReceiver } from '../harness/webhook-receiver.ts'

let service: TestService
let receiver: WebhookReceiver
beforeAll(async () => {
  service = await openService()
  receiver = await WebhookReceiver.open()
})
afterAll(async () => {
  await service.close()
  await receiver.close()
})

const newTenant = async (): Promise<Client> => service.as(await service.newMerchant())
const newEndpoint = async (tenant: Client, request: Json): Promise<Json> =>
  payloadOf(await tenant.post('/api/v0/webhook-endpoints', request))
const attemptsOf = async (tenant: Client, { endpointId }: Json): Promise<Json[]> =>
  payloadOf(await tenant.get(`/api/v0/webhook-endpoints/${endpointId}/attempts`)).data

test('deliveries verify with the standard’s own library, v1 and v1a, and contain what the feed contains', async () => {
  const tenant = await newTenant()
  const { secret, endpointId } = await newEndpoint(tenant, {
    url: receiver.url('/signed'),
    headers: { Authorization: 'Bearer mine' },
  })
  await newCodes(service, tenant, 3)
  await receiver.until(() => receiver.at('/signed').length === 3)
  const { data } = await feedOf(tenant, 3)
  const { keys } = (await service.client.get('/.well-known/webhook-keys.json')).json
  for (const delivery of receiver.at('/signed')) {
    const event = verifyDelivery(delivery, secret)
    expect(data).toContainEqual(event)
    expect(delivery.headers).toMatchObject({ 'webhook-id': event.id, authorization: 'Bearer mine' })
    const [, v1a] = /v1a,(\S+)/.exec(delivery.headers['webhook-signature']!)!
    const signed = Buffer.from(`${event.id}.${delivery.headers['webhook-timestamp']}.${delivery.raw}`)
    const key = createPublicKey({ key: keys[0], format: 'jwk' })
    expect(verify(null, signed, key, Buffer.from(v1a!, 'base64'))).toBe(true)
  }
  const shown = JSON.stringify((await tenant.get(`/api/v0/webhook-endpoints/${endpointId}`)).json)
  expect(shown).not.toContain('whsec_')
  expect(shown).not.toContain('Bearer mine')
  expect(service.logged()).not.toContain(secret)
})

test('a rotated secret signs beside the previous one until the grace period ends', async () => {
  const tenant = await newTenant()
  const { secret: previous, endpointId } = await newEndpoint(tenant, { url: receiver.url('/rotated') })
  const path = `/api/v0/webhook-endpoints/${endpointId}/rotate-secret`
  const { secret } = payloadOf(await tenant.post(path, { graceSeconds: 3_600 }))
  await newCode(service, tenant)
  await receiver.until(() => receiver.at('/rotated').length === 1)
  const [both] = receiver.at('/rotated')
  verifyDelivery(both!, previous)
  verifyDelivery(both!, secret)
  const { secret: last } = payloadOf(await tenant.post(path, { graceSeconds: 0 }))
  await newCode(service, tenant)
  await receiver.until(() => receiver.at('/rotated').length === 2)
  const [, only] = receiver.at('/rotated')
  verifyDelivery(only!, last)
  expect(() => verifyDelivery(only!, secret)).toThrow()
  expect(() => verifyDelivery(only!, previous)).toThrow()
})

test('an endpoint is sent the types of its filter, from its creation on, and nothing of other tenants', async () => {
  const [tenant, other] = [await newTenant(), await newTenant()]
  await newCode(service, tenant)
  await feedOf(tenant, 1)
  await newEndpoint(tenant, { url: receiver.url('/filtered'), types: ['qr_code.cancelled'] })
  const codes = await newCodes(service, tenant, 3)
  await newCodes(service, other, 3)
  for (const { qrCodeId } of codes) await cancel(tenant, qrCodeId)
  await receiver.until(() => receiver.at('/filtered').length === 3)
  expect(new Set(receiver.at('/filtered').map(({ event }) => event.type))).toEqual(
    new Set(['qr_code.cancelled']),
  )
})

test('first attempts for one object are sent in order, one after the other, while objects are sent in parallel', async () => {
  const tenant = await newTenant()
  let open = 0
  let most = 0
  const openObjects: string[] = []
  receiver.response = ({ path, event }, response) => {
    if (path !== '/ordered') return void response.writeHead(204).end()
    most = Math.max(most, ++open)
    expect(openObjects).not.toContain(event.data.qrCodeId)
    openObjects.push(event.data.qrCodeId)
    setTimeout(() => {
      open--
      openObjects.splice(openObjects.indexOf(event.data.qrCodeId), 1)
      response.writeHead(204).end()
    }, 30)
  }
  const codes = await newCodes(service, tenant, 10, { multipleUse: true })
  await feedOf(tenant, 10)
  await newEndpoint(tenant, { url: receiver.url('/ordered') })
  await Promise.all(
    codes.flatMap(({ tr }) => [1, 2, 3].map(() => notifyCredit(service.client, creditOf(tr)))),
  )
  await Promise.all(codes.map(({ qrCodeId }) => cancel(tenant, qrCodeId)))
  await receiver.until(() => receiver.at('/ordered').length === 40)
  for (const { qrCodeId } of codes) {
    const sequences = receiver
      .at('/ordered')
      .filter(({ event }) => event.data.qrCodeId === qrCodeId)
      .map(({ event }) => event.sequence)
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b))
    expect(sequences).toHaveLength(4)
  }
  expect(most).toBeGreaterThan(1)
  receiver.response = (_, response) => void response.writeHead(204).end()
})

test('a failed delivery is retried later with the same webhook-id, delays no other, and can be viewed', async () => {
  const tenant = await newTenant()
  let down = true
  receiver.response = ({ path, event }, response) => {
    const fails = path === '/failing' && down && event.sequence === 1
    response.writeHead(fails ? 500 : 200).end(fails ? 'x'.repeat(5_000) : 'taken')
  }
  const endpoint = await newEndpoint(tenant, { url: receiver.url('/failing') })
  const code = await newCode(service, tenant, { multipleUse: true })
  await notifyCredit(service.client, creditOf(code.tr))
  await receiver.until(() => receiver.at('/failing').some(({ event }) => event.sequence === 2))
  const [second, first] = await eventually(
    () => attemptsOf(tenant, endpoint),
    (all) => all.length === 2,
  )
  expect(second).toMatchObject({
    delivered: true,
    status: 200,
    attempt: 1,
    sequence: 2,
    responseExcerpt: 'taken',
  })
  expect(first).toMatchObject({ delivered: false, status: 500, attempt: 1, sequence: 1 })
  expect(first.responseExcerpt).toHaveLength(1_024)
  const waitMs = Date.parse(first.nextOn) - Date.parse(first.startedOn)
  expect(waitMs).toBeGreaterThanOrEqual(4_000)
  expect(waitMs).toBeLessThan(8_000)
  down = false
  service.clock.advance(8_000)
  await receiver.until(() => receiver.at('/failing').length === 3)
  const ids = receiver
    .at('/failing')
    .filter(({ event }) => event.sequence === 1)
    .map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(1)
  expect(
    await eventually(
      () => attemptsOf(tenant, endpoint),
      (all) => all.length === 3,
    ),
  ).toMatchObject([{ attempt: 2, delivered: true, sequence: 1 }, {}, {}])
  receiver.response = (_, response) => void response.writeHead(204).end()
})

test('Retry-After is honoured, 410 disables the endpoint, a redirect is a failure and is not followed', async () => {
  const tenant = await newTenant()
  receiver.response = ({ path }, response) => {
    if (path === '/busy') response.writeHead(503, { 'retry-after': '3600' }).end()
    else if (path === '/gone') response.writeHead(410).end()
    else if (path === '/moved') response.writeHead(307, { location: receiver.url('/elsewhere') }).end()
    else response.writeHead(204).end()
  }
  const [busy, gone, moved] = [
    await newEndpoint(tenant, { url: receiver.url('/busy') }),
    await newEndpoint(tenant, { url: receiver.url('/gone') }),
    await newEndpoint(tenant, { url: receiver.url('/moved') }),
  ]
  await newCode(service, tenant)
  const [held] = await eventually(
    () => attemptsOf(tenant, busy),
    (all) => all.length === 1,
  )
  expect(Date.parse(held.nextOn) - Date.parse(held.startedOn)).toBeGreaterThanOrEqual(3_600_000)
  const endpoint = await eventually(
    async () => payloadOf(await tenant.get(`/api/v0/webhook-endpoints/${gone.endpointId}`)),
    ({ enabled }) => !enabled,
  )
  expect(endpoint.disabledReason).toBe('gone')
  const [redirected] = await eventually(
    () => attemptsOf(tenant, moved),
    (all) => all.length === 1,
  )
  expect(redirected).toMatchObject({ delivered: false, status: 307 })
  expect(receiver.at('/elsewhere')).toEqual([])
  await newCode(service, tenant)
  await receiver.until(() => receiver.at('/moved').length === 2)
  expect(receiver.at('/gone')).toHaveLength(1)
  receiver.response = (_, response) => void response.writeHead(204).end()
})

test('one event can be sent again, and a range of time replayed, with the same webhook-ids', async () => {
  const tenant = await newTenant()
  const from = new Date(service.clock.now() - 60_000).toISOString()
  await newCodes(service, tenant, 5)
  const { data } = await feedOf(tenant, 5)
  const { endpointId } = await newEndpoint(tenant, { url: receiver.url('/replayed') })
  const path = `/api/v0/webhook-endpoints/${endpointId}`
  expect(payloadOf(await tenant.post(`${path}/resend`, { eventId: data[2].id }))).toEqual({ queued: 1 })
  await receiver.until(() => receiver.at('/replayed').length === 1)
  expect(receiver.at('/replayed')[0]!.event).toEqual(data[2])
  const to = new Date(service.clock.now() + 60_000).toISOString()
  expect(payloadOf(await tenant.post(`${path}/replay`, { from, to }))).toEqual({
    queued: 5,
    next: 5,
    more: false,
  })
  await receiver.until(() => receiver.at('/replayed').length === 6)
  expect(
    receiver
      .at('/replayed')
      .slice(1)
      .map(({ headers }) => headers['webhook-id'])
      .sort(),
  ).toEqual(data.map(({ id }: Json) => id).sort())
  expect((await tenant.post(`${path}/resend`, { eventId: 'evt_none' })).error).toBe('event_not_found')
})

test('a replay of failed deliveries sends what the endpoint was sent and has not accepted, and nothing else', async () => {
  const tenant = await newTenant()
  const range = {
    from: new Date(service.clock.now() - 60_000).toISOString(),
    to: new Date(service.clock.now() + 60_000).toISOString(),
  }
  await newCodes(service, tenant, 1)
  await feedOf(tenant, 1)
  const { endpointId } = await newEndpoint(tenant, { url: receiver.url('/failed-only') })
  const replay = `/api/v0/webhook-endpoints/${endpointId}/replay`
  receiver.response = ({ event }, response) =>
    void response.writeHead(event.sequence === 3 ? 503 : 204, { 'retry-after': '3600' }).end()
  await newCodes(service, tenant, 3)
  await receiver.until(() => receiver.at('/failed-only').length === 3)
  receiver.response = (_, response) => void response.writeHead(204).end()
  const failed = { ...range, failedOnly: true }
  await expect
    .poll(async () => payloadOf(await tenant.post(replay, failed)).queued, { timeout: 5_000 })
    .toBe(1)
  await receiver.until(() => receiver.at('/failed-only').length === 4)
  const sent = receiver.at('/failed-only').map(({ event }) => event.sequence)
  expect([sent.slice(0, 3).sort(), sent[3]]).toEqual([[2, 3, 4], 3])
  await expect
    .poll(async () => payloadOf(await tenant.post(replay, failed)).queued, { timeout: 5_000 })
    .toBe(0)
})

test('endpoints belong to the tenant: those of others get the same response as missing ones', async () => {
  const [tenant, other] = [await newTenant(), await newTenant()]
  const { endpointId } = await newEndpoint(tenant, { url: receiver.url('/own') })
  const path = `/api/v0/webhook-endpoints/${endpointId}`
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  const responses = await Promise.all([
    other.get(path),
    other.patch(path, { enabled: false }),
    other.send('DELETE', path),
    other.post(`${path}/rotate-secret`, {}),
    other.get(`${path}/attempts`),
    other.post(`${path}/resend`, { eventId: 'evt_1' }),
    other.post(`${path}/replay`, range),
  ])
  for (const response of responses)
    expect(response).toMatchObject({ status: 404, error: 'webhook_endpoint_not_found' })
  expect(payloadOf(await other.get('/api/v0/webhook-endpoints')).data).toEqual([])
  expect(payloadOf(await tenant.patch(path, { enabled: false, description: 'off' }))).toMatchObject({
    enabled: false,
    description: 'off',
  })
  await newCode(service, tenant)
  await feedOf(tenant, 1)
  expect((await tenant.post(`${path}/replay`, range)).error).toBe('webhook_endpoint_disabled')
  expect(payloadOf(await tenant.send('DELETE', path))).toEqual({ endpointId })
  expect((await tenant.get(path)).error).toBe('webhook_endpoint_not_found')
  expect(receiver.at('/own')).toEqual([])
})

test('a tenant has at most twenty endpoints, and headers reserved for svc are rejected', async () => {
  const tenant = await newTenant()
  const create = (request: Json) =>
    tenant.post('/api/v0/webhook-endpoints', { url: receiver.url('/many'), ...request })
  for (const headers of [
    { 'webhook-id': 'x' },
    { Host: 'x' },
    { 'X-A': 'a\r\nX-B: b' },
    { 'x-a': '1', 'X-A': '2' },
  ])
    expect((await create({ headers })).status).toBe(400)
  const responses = await Promise.all(Array.from({ length: 25 }, () => create({ enabled: false })))
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(20)
  expect(new Set(responses.flatMap(({ error }) => error ?? []))).toEqual(
    new Set(['too_many_webhook_endpoints']),
  )
})
