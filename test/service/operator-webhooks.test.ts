import { filtersOf } from '@svc/server/http/resource'
import { type ListedAttempt, webhookAttempt } from '@svc/server/webhooks/list-attempts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { newPartner } from '../harness/partner.ts'
import { newCode, newCodes } from '../harness/qr-codes.ts'
import { newShop } from '../harness/refunds.ts'
import { asSuperuser, openService, type TestMerchant, type TestService } from '../harness/service.ts'
import { verifyDelivery, WebhookReceiver } from '../harness/webhook-receiver.ts'

let service: TestService
let receiver: WebhookReceiver
let browser: Browser
let actor: string
beforeAll(async () => {
  service = await openService()
  receiver = await WebhookReceiver.open()
  receiver.response = ({ path }, response) => {
    const status = Number(/^\/(\d{3})/.exec(path)?.[1] ?? 204)
    // So late that no retry comes in between.
    const headers = status >= 400 ? { 'retry-after': '3600' } : {}
    response.writeHead(status, headers).end(status >= 400 ? `no, ${status}` : undefined)
  }
  browser = await signedIn(service, 'operator')
  actor = `operator ${(await browser.get('/session')).json.operator.name}`
})
afterAll(async () => {
  await service.close()
  await receiver.close()
})

interface Tenant {
  readonly merchant: TestMerchant
  readonly client: Client
  readonly tenantId: string
}

async function newTenant(): Promise<Tenant> {
  const merchant = await service.newMerchant()
  return { merchant, client: await service.as(merchant), tenantId: merchant.merchantId }
}

const create = async (tenantId: string, endpoint: Json): Promise<Json> =>
  (await browser.post('/webhooks', { tenantId, endpoint })).json
const show = async (endpointId: string): Promise<Json> => (await browser.get(`/webhooks/${endpointId}`)).json
const attempts = async (endpointId: string, query = ''): Promise<Json> =>
  (await browser.get(`/webhooks/${endpointId}/attempts?${query}`)).json
const audited = async (query: string): Promise<[string, string][]> =>
  (await (await signedIn(service, 'viewer')).get(`/audit?limit=500&${query}`)).json.data.map(
    (entry: Json) => [entry.action, entry.actor],
  )
const settled = (endpointId: string, count: number) =>
  expect
    .poll(async () => (await attempts(endpointId)).total.count, { timeout: 10_000, interval: 50 })
    .toBe(count)

test('an operator does with an endpoint what its tenant can, and the audit names the operator alone', async () => {
  const { client, tenantId } = await newTenant()
  const made = await create(tenantId, { url: receiver.url('/all'), types: ['qr_code.created'] })
  const { endpointId, secret } = made
  const own = await client.get(`/api/v0/webhook-endpoints/${endpointId}`)
  const { secret: _, ...endpoint } = made
  expect(payloadOf(own)).toEqual(endpoint)

  const { qrCodeId } = await newCode(service, client)
  await receiver.until(() => receiver.at('/all').length === 1)
  const event = verifyDelivery(receiver.at('/all')[0]!, secret)
  expect(event.data.qrCodeId).toBe(qrCodeId)
  await settled(endpointId, 1)
  expect((await browser.get(`/webhooks/${endpointId}/events/${event.id}`)).json).toEqual(event)

  expect((await browser.post(`/webhooks/${endpointId}/resend`, { eventId: event.id })).json.queued).toBe(1)
  await receiver.until(() => receiver.at('/all').length === 2)
  const range = { from: new Date(Date.now() - 60_000), to: new Date(Date.now() + 60_000) }
  expect((await browser.post(`/webhooks/${endpointId}/replay`, range)).json).toMatchObject({
    queued: 1,
    more: false,
  })
  await receiver.until(() => receiver.at('/all').length === 3)
  const rotated = (await browser.post(`/webhooks/${endpointId}/rotate-secret`, { graceSeconds: 0 })).json
  expect(rotated.secret).not.toBe(secret)
  const changes = { url: receiver.url('/moved'), description: 'till', types: [], enabled: false }
  expect((await browser.send('PATCH', `/webhooks/${endpointId}`, changes)).json).toMatchObject(changes)
  expect((await browser.post(`/webhooks/${endpointId}/resend`, { eventId: event.id })).error).toBe(
    'webhook_endpoint_disabled',
  )
  expect((await browser.send('DELETE', `/webhooks/${endpointId}`)).json).toEqual({ endpointId })
  expect((await client.get(`/api/v0/webhook-endpoints/${endpointId}`)).status).toBe(404)

  const entries = await audited(`tenantId=${tenantId}`)
  expect(entries.filter(([action]) => action.startsWith('webhook')).toReversed()).toEqual(
    [
      ['webhook_endpoint.created', 'webhook_secret.created'],
      'webhook_endpoint.event_resent',
      'webhook_endpoint.replayed',
      ['webhook_endpoint.changed', 'webhook_secret.created', 'webhook_secret.deleted'],
      'webhook_endpoint.changed',
      ['webhook_endpoint.deleted', 'webhook_secret.deleted'],
    ]
      .flat()
      .map((action) => [action, actor]),
  )
})

test('the tenant’s own changes stay its own in the audit, next to an operator’s changes for it', async () => {
  const { client, tenantId } = await newTenant()
  const [mine, theirs] = await Promise.all([
    client.post('/api/v0/webhook-endpoints', { url: receiver.url('/mine') }),
    create(tenantId, { url: receiver.url('/theirs') }),
  ])
  const { endpointId } = payloadOf(mine)
  expect(await audited(`target=${endpointId}`)).toEqual([['webhook_endpoint.created', `tenant ${tenantId}`]])
  expect(await audited(`target=${theirs.endpointId}`)).toEqual([['webhook_endpoint.created', actor]])
})

test('a repeat with the same Idempotency-Key creates one endpoint, returns the same secret, and is audited once', async () => {
  const { tenantId } = await newTenant()
  const body = { tenantId, endpoint: { url: receiver.url('/once') } }
  const key = { 'idempotency-key': 'a-key-of-the-page-0123456789' }
  const [first, second] = [
    await browser.post('/webhooks', body, key),
    await browser.post('/webhooks', body, key),
  ]
  expect(second.json).toEqual(first.json)
  expect((await browser.get(`/webhooks?tenantId=${tenantId}`)).json.total.count).toBe(1)
  expect(await audited(`target=${first.json.endpointId}`)).toHaveLength(1)
})

test('the list shows whose each endpoint is, what waits for it, and whether it accepted the last delivery', async () => {
  const [shop, other] = [await newTenant(), await newTenant()]
  const partner = await newPartner(service)
  const taking = await create(shop.tenantId, { url: receiver.url('/taking'), description: 'till' })
  const failing = await create(shop.tenantId, { url: receiver.url('/500'), types: ['qr_code.created'] })
  const quiet = await create(other.tenantId, { url: receiver.url('/quiet'), enabled: false })
  const ofPartner = await create(partner.partnerId, { url: 'https://Cards.example.com/Hook' })
  await newCodes(service, shop.client, 3)
  await Promise.all([settled(taking.endpointId, 3), settled(failing.endpointId, 3)])

  const list = async (query: string): Promise<Json[]> => (await browser.get(`/webhooks?${query}`)).json.data
  const ids = async (query: string) => (await list(query)).map(({ endpointId }) => endpointId)
  const [second, first] = await list(`tenantId=${shop.tenantId}`)
  expect(first).toMatchObject({
    endpointId: taking.endpointId,
    description: 'till',
    tenantId: shop.tenantId,
    tenantKind: 'merchant',
    tenantName: shop.merchant.name,
    waiting: { count: 0, exact: true },
    lastAttempt: { delivered: true, status: 204 },
  })
  expect(second).toMatchObject({
    waiting: { count: 3, exact: true },
    lastAttempt: { delivered: false, status: 500, failure: 'the endpoint returned an error' },
  })
  const [only] = await list(`tenantId=${partner.partnerId}`)
  expect(only).toMatchObject({ tenantKind: 'partner', waiting: { count: 0 } })
  expect(only!.lastAttempt).toBeUndefined()

  expect(await ids(`q=${quiet.endpointId}`)).toEqual([quiet.endpointId])
  for (const begin of ['cards.EXAMPLE', 'https://cards.example.com/ho'])
    expect(await ids(`q=${encodeURIComponent(begin)}`)).toEqual([ofPartner.endpointId])
  for (const nothing of ['example.com', 'cards_example', '%', 'whe_none'])
    expect([nothing, await ids(`q=${encodeURIComponent(nothing)}`)]).toEqual([nothing, []])
  expect(await ids(`state=disabled&tenantId=${other.tenantId}`)).toEqual([quiet.endpointId])
  expect(await ids(`state=enabled&tenantId=${other.tenantId}`)).toEqual([])
  expect((await browser.get('/webhooks?state=gone')).error).toBe('validation_failed')
  expect((await browser.get(`/search?q=${quiet.endpointId}`)).json.results).toMatchObject([
    { kind: 'webhookEndpoint', id: quiet.endpointId, subtitle: 'disabled' },
  ])
})

test('attempts are listed newest first, page by page, of one event, and failed ones alone', async () => {
  const { client, tenantId } = await newTenant()
  const { endpointId } = await create(tenantId, { url: receiver.url('/200'), types: ['qr_code.created'] })
  await newCodes(service, client, 4)
  await settled(endpointId, 4)
  await browser.send('PATCH', `/webhooks/${endpointId}`, { url: receiver.url('/503') })
  await newCodes(service, client, 3)
  await settled(endpointId, 7)
  await browser.post('/personal-data/reveals', { objectId: endpointId, reason: 'why it fails' })

  const all: Json[] = (await attempts(endpointId)).data
  const started = all.map(({ startedOn }) => Date.parse(startedOn))
  expect(started).toEqual(started.toSorted((a, b) => b - a))
  const walked: Json[] = []
  for (let after = ''; ; ) {
    const page = await attempts(endpointId, `limit=2${after}`)
    walked.push(...page.data)
    if (!page.next) break
    after = `&after=${page.next}`
  }
  expect(walked).toEqual(all)
  const failed: Json[] = (await attempts(endpointId, 'outcome=failure')).data
  expect(failed).toEqual(all.filter(({ delivered }) => !delivered))
  expect(failed).toHaveLength(3)
  expect(failed[0]).toMatchObject({ status: 503, responseExcerpt: 'no, 503' })
  const { eventId } = failed[1]!
  for (const query of [`eventId=${eventId}`, `eventId=${eventId}&outcome=failure`])
    expect((await attempts(endpointId, query)).data).toEqual([failed[1]])
  // The tenant's own list filters by the same indexes.
  const own = async (query: string): Promise<Json[]> =>
    payloadOf(await client.get(`/api/v0/webhook-endpoints/${endpointId}/attempts?${query}`)).data
  expect(await own(`eventId=${eventId}`)).toEqual([failed[1]])
  expect(await own('outcome=failure')).toEqual(failed)
})

test('an endpoint that returned 410 is shown as disabled by the service, until it is enabled', async () => {
  const { client, tenantId } = await newTenant()
  const { endpointId } = await create(tenantId, { url: receiver.url('/410') })
  await newCode(service, client)
  await expect
    .poll(async () => await show(endpointId), { timeout: 10_000 })
    .toMatchObject({ enabled: false, disabledReason: 'gone' })
  const enabled = await browser.send('PATCH', `/webhooks/${endpointId}`, { enabled: true })
  expect(enabled.json.disabledReason).toBeUndefined()
})

test('secrets are shown by their dates, never by their values, and those that no longer sign not at all', async () => {
  const { tenantId } = await newTenant()
  const { endpointId, secret } = await create(tenantId, {
    url: receiver.url('/secrets'),
    headers: { Authorization: 'Bearer canary-of-the-tenant' },
  })
  const rotated = (await browser.post(`/webhooks/${endpointId}/rotate-secret`, { graceSeconds: 60 })).json
  const response = await browser.get(`/webhooks/${endpointId}`)
  expect(response.json.secrets).toHaveLength(2)
  const [newest, previous] = response.json.secrets
  expect(newest.expiresOn).toBeUndefined()
  expect(Date.parse(previous.expiresOn) - Date.parse(newest.createdOn)).toBe(60_000)
  expect(response.json.headerNames).toEqual(['authorization'])
  const reported = [response.text, (await browser.get('/webhooks')).text, (await browser.get('/audit')).text]
  for (const value of [secret, rotated.secret, 'canary-of-the-tenant'])
    expect(reported.join()).not.toContain(value)
  service.clock.advance(61_000)
  expect((await show(endpointId)).secrets).toEqual([newest])
})

test('nothing of one tenant is reachable through the endpoint of another, and unknown ids are reported as such', async () => {
  const [one, other] = [await newTenant(), await newTenant()]
  const { endpointId } = await create(one.tenantId, { url: receiver.url('/one') })
  const theirs = await create(other.tenantId, { url: receiver.url('/other') })
  await newCode(service, other.client)
  await settled(theirs.endpointId, 1)
  const { eventId } = (await attempts(theirs.endpointId)).data[0]
  expect((await browser.get(`/webhooks/${endpointId}/events/${eventId}`)).error).toBe('event_not_found')
  expect((await browser.post(`/webhooks/${endpointId}/resend`, { eventId })).error).toBe('event_not_found')
  expect((await attempts(endpointId, `eventId=${eventId}`)).data).toEqual([])

  const endpoint = { url: receiver.url('/none') }
  for (const [tenantId, code] of [
    ['mer_none', 'merchant_not_found'],
    ['par_none', 'partner_not_found'],
    ['house', 'merchant_not_found'],
  ])
    expect((await browser.post('/webhooks', { tenantId, endpoint })).error).toBe(code)
  for (const [method, path, body] of [
    ['GET', ''],
    ['GET', '/attempts'],
    ['GET', `/events/${eventId}`],
    ['PATCH', '', { enabled: false }],
    ['POST', '/resend', { eventId }],
    ['POST', '/rotate-secret', {}],
    ['POST', '/replay', { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }],
    ['DELETE', ''],
  ] as const)
    expect([path, (await browser.send(method, `/webhooks/whe_none${path}`, body)).error]).toEqual([
      path,
      'webhook_endpoint_not_found',
    ])
  expect(
    (await browser.post('/webhooks', { tenantId: one.tenantId, endpoint: { url: 'ftp://x' } })).error,
  ).toBe('webhook_url_refused')
})

test('an attempt names the type of its event, and the next try only where it is the last attempt', async () => {
  const { client, merchantId } = await newShop(service)
  const { endpointId } = payloadOf(
    await client.post('/api/v0/webhook-endpoints', { url: 'https://example.com/hook', enabled: false }),
  )
  await newCode(service, client)
  await asSuperuser(service.db.database, (db) =>
    db.query(
      `insert into webhook_attempts (attempt_id, tenant_id, endpoint_id, event_id, sequence, attempt, url, started_at,
         duration_ms, status, failure, response_excerpt, next_at)
       select 'wha_' || n, $1, $2, coalesce(o.event_id, 'evt_gone'), 1, n, '', now() + n * interval '1 second', 1, 500, null,
         '', now() + n * interval '1 minute'
       from generate_series(1, 3) n left join (select event_id from outbox where tenant_id = $1 limit 1) o on n < 3`,
      [merchantId, endpointId],
    ),
  )
  const { data } = payloadOf(await client.get(`/api/v0/webhook-endpoints/${endpointId}/attempts`))
  expect(data.map(({ attempt, nextOn, type }: Json) => [attempt, type, nextOn !== undefined])).toEqual([
    [3, undefined, true],
    [2, 'qr_code.created', true],
    [1, 'qr_code.created', false],
  ])
})

/** How the list finds its rows: of what it adds to the conditions. */
function planOf(given: Readonly<Record<string, string>>): [text: string, values: unknown[]] {
  const wanted = { endpointId: 'whe_1', ...given }
  const { conditions, values } = filtersOf<ListedAttempt>(webhookAttempt, { reader: 'operator' }, wanted)
  const text = `explain (format json) select from webhook_attempts a where ${conditions.join(' and ')}
    order by a.started_at desc, a.attempt_id desc limit 51`
  return [text, values]
}

test('failed attempts, and those with one event, are found by an index among many others', async () => {
  const names = await asSuperuser(service.db.database, async (db) => {
    await db.query(`begin; set local session_replication_role = replica;
      insert into webhook_attempts (attempt_id, tenant_id, endpoint_id, event_id, sequence, attempt, url, started_at,
        duration_ms, status, failure, response_excerpt, next_at)
      select 'wha_' || n, 'mer_1', 'whe_1', 'evt_' || n, n, 1, '', now() - n * interval '1 second', 1,
        case when n % 10000 = 0 then 500 else 200 end, null, '', null from generate_series(1, 50000) n;
      analyze webhook_attempts`)
    const found = []
    for (const given of [{ outcome: 'failure' }, { eventId: 'evt_777' }, {}]) {
      const { rows } = await db.query(...planOf(given))
      found.push(JSON.stringify(rows).match(/"Index Name":"(webhook_attempts\w+)"/)?.[1])
    }
    await db.query('rollback')
    return found
  })
  expect(names).toEqual([
    'webhook_attempts_failed',
    'webhook_attempts_of_event',
    'webhook_attempts_of_endpoint',
  ])
})
