import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { forgetEvents } from '@svc/core/webhooks/feed-horizon'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  ConnectionError,
  type Event,
  SvcError,
  UnexpectedResponseError,
  verifyWebhook,
  WebhookVerificationError,
} from '../../packages/sdk/src/index.ts'
import { HttpProxy } from '../harness/http-proxy.ts'
import { insertManyCards, manyCardId } from '../harness/many-cards.ts'
import { newPartner } from '../harness/partner.ts'
import { merchantClient, partnerClient } from '../harness/sdk.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'

let service: TestService
let proxy: HttpProxy

beforeAll(async () => {
  service = await openService()
  proxy = await HttpProxy.open(service.baseUrl)
})
afterEach(() => {
  proxy.decide = () => 'pass'
  proxy.seen.length = 0
})
afterAll(async () => {
  await proxy.close()
  await service.close()
})

test('a list is fetched page by page as it is read: each item once, and no page before it is needed', async () => {
  const { qrCodes } = merchantClient(proxy, await service.newMerchant())
  const made: string[] = []
  for (let n = 0; n < 25; n++) made.push((await qrCodes.create({ qrName: `Code ${n}` })).qrCodeId)
  const list = qrCodes.list({ limit: 10 })
  expect(proxy.at('/search')).toHaveLength(0)
  const seen: string[] = []
  for await (const { qrCodeId } of list) {
    seen.push(qrCodeId)
    expect(proxy.at('/search')).toHaveLength(Math.ceil(seen.length / 10))
  }
  expect(seen).toEqual(made.reverse())
  proxy.seen.length = 0
  expect(await list.take(3)).toHaveLength(3)
  expect(proxy.at('/search')).toHaveLength(1)
})

async function accountOf(from: number, to: number) {
  const partner = await newPartner(service, { products: ['employee_rewards'], fundsPaise: 100_000_000_00n })
  await asSuperuser(service.db.database, (db) => insertManyCards(db, partner, from, to))
  return { partner, cards: partnerClient(proxy, partner).cards }
}

test('a whole account is read as one stream, resumed where it breaks off: every card once, in order', async () => {
  const count = 5_000
  const { partner, cards } = await accountOf(1, count)
  proxy.decide = ({ path }) =>
    path.endsWith('/search') && proxy.at('/search').length <= 2 ? 'halve' : 'pass'
  let n = 0
  for await (const card of cards.all(partner)) expect(card.svcCardId).toBe(manyCardId(++n))
  expect(n).toBe(count)
  expect(proxy.at('/search')).toHaveLength(3)
})

test('a reader that stops reading an account ends its stream, so that others can be opened', async () => {
  const { partner, cards } = await accountOf(10_001, 12_000)
  // The service lets a partner have two streams at a time.
  for (let n = 0; n < 6; n++)
    for await (const card of cards.all(partner)) {
      expect(card.svcCardId).toBe(manyCardId(10_001))
      break
    }
  const lost = partnerClient(proxy, partner, { maxRetries: 0 })
  proxy.decide = ({ path }) => (path.endsWith('/search') ? 'lose' : 'pass')
  await expect(lost.cards.all(partner).next()).rejects.toBeInstanceOf(ConnectionError)
  const unknown = cards.all({ companyId: 'com_none', cardAccountId: partner.cardAccountId })
  proxy.decide = () => 'pass'
  expect(SvcError.is(await unknown.next().catch((error: unknown) => error), 'company_not_found')).toBe(true)
})

test('following events yields past and new events, each once and in order, across lost connections', async () => {
  const { qrCodes, events } = merchantClient(proxy, await service.newMerchant())
  const ending = new AbortController()
  await qrCodes.create({ qrName: 'Before' })
  const received: Event[] = []
  const listening = (async () => {
    for await (const event of events.follow({ signal: ending.signal })) {
      received.push(event)
      if (event.type !== 'qr_code.created') continue
      if (event.data.qrName === 'Before') await qrCodes.create({ qrName: 'During' })
      // The stream's connection goes; the next event happens while nobody listens.
      if (event.data.qrName === 'During') {
        service.app.http.server.closeAllConnections()
        await qrCodes.create({ qrName: 'Between' })
      }
      if (event.data.qrName === 'Between') await qrCodes.cancel(event.data.qrCodeId!)
    }
  })()
  while (received.length < 4) await new Promise((resolve) => setTimeout(resolve, 10))
  ending.abort(new Error('enough'))
  await expect(listening).rejects.toThrow('enough')
  expect(received.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4])
  expect(received.at(-1)!.type).toBe('qr_code.cancelled')
  expect(proxy.seen.filter(({ path }) => path.includes('/stream')).length).toBeGreaterThanOrEqual(2)
  const listed = await events.list({ limit: 3 }).take(10)
  expect(listed).toEqual(received)
  expect((await events.list({ type: 'qr_code.cancelled' }).take(10)).map(({ sequence }) => sequence)).toEqual(
    [4],
  )
})

test('following from the newest event begins with the next one, and a position beyond the end is events_ahead', async () => {
  const { qrCodes, events } = merchantClient(proxy, await service.newMerchant())
  expect(await events.latest()).toBe(0)
  await qrCodes.create({ qrName: 'Before' })
  while ((await events.latest()) < 1) await new Promise((resolve) => setTimeout(resolve, 10))
  const after = await events.latest()
  await qrCodes.create({ qrName: 'After' })
  for await (const event of events.follow({ after })) {
    expect(event.type === 'qr_code.created' && event.data.qrName).toBe('After')
    break
  }
  const beyond = [events.follow({ after: 3 }).next(), events.list({ after: 3 }).take(1)]
  for (const outcome of await Promise.allSettled(beyond))
    expect(outcome.status === 'rejected' && SvcError.is(outcome.reason, 'events_ahead')).toBe(true)
})

test('a list and a stream begin with the oldest stored event; from 0 on they are rejected with events_forgotten', async () => {
  const shop = await service.newMerchant()
  const { qrCodes, events } = merchantClient(proxy, shop)
  await qrCodes.create({ qrName: 'Forgotten' })
  while ((await events.latest()) < 1) await new Promise((resolve) => setTimeout(resolve, 10))
  await asSuperuser(service.db.database, async (db) => {
    for (const table of ['outbox', 'event_numbers'])
      await db.query(
        `update ${table} set created_at = created_at - interval '500 days' where tenant_id = $1`,
        [shop.merchantId],
      )
  })
  await forgetEvents(service.app.services)
  await qrCodes.create({ qrName: 'Kept' })
  while ((await events.latest()) < 2) await new Promise((resolve) => setTimeout(resolve, 10))
  expect((await events.list().take(10)).map(({ sequence }) => sequence)).toEqual([2])
  for await (const { sequence } of events.follow()) {
    expect(sequence).toBe(2)
    break
  }
  const required = [events.follow({ after: 0 }).next(), events.list({ after: 0 }).take(1)]
  for (const outcome of await Promise.allSettled(required))
    expect(outcome.status === 'rejected' && SvcError.is(outcome.reason, 'events_forgotten')).toBe(true)
})

test('a webhook is verified and typed; a changed one, an old one and one with another secret are rejected', async () => {
  const receiver = await WebhookReceiver.open()
  const { qrCodes, webhooks } = merchantClient(proxy, await service.newMerchant())
  const endpoint = await webhooks.create({ url: receiver.url() })
  const { qrCodeId } = await qrCodes.create({ qrName: 'Verified' })
  await receiver.until(() => receiver.received.length > 0)
  const { raw, headers } = receiver.received[0]!
  const event = verifyWebhook(raw, headers, endpoint.secret)
  expect(event.type === 'qr_code.created' && event.data.qrCodeId).toBe(qrCodeId)
  expect(verifyWebhook(Buffer.from(raw), new Headers(headers), endpoint.secret)).toEqual(event)
  const old = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 600) }
  const { secret: next } = await webhooks.rotateSecret(endpoint.endpointId)
  for (const [body, fields, secret] of [
    [raw.replace('Verified', 'Verifled'), headers, endpoint.secret],
    [JSON.stringify(JSON.parse(raw), null, 1), headers, endpoint.secret],
    [raw, old, endpoint.secret],
    [raw, headers, next],
    [raw, {}, endpoint.secret],
  ] as const)
    expect(() => verifyWebhook(body, fields, secret)).toThrow(WebhookVerificationError)
  // During a rotation both secrets verify.
  await qrCodes.cancel(qrCodeId)
  await receiver.until(() => receiver.received.length > 1)
  const signed = receiver.received[1]!
  for (const secret of [endpoint.secret, next])
    expect(verifyWebhook(signed.raw, signed.headers, secret).type).toBe('qr_code.cancelled')
  expect((await webhooks.attempts(endpoint.endpointId).take(10)).length).toBeGreaterThanOrEqual(1)
  await webhooks.delete(endpoint.endpointId)
  await receiver.close()
})

test('a given fetch is called as a function and not as a method, which Workers reject', async () => {
  const asWorkers = function (this: unknown, ...sent: Parameters<typeof fetch>): Promise<Response> {
    if (this !== undefined) throw new TypeError('Illegal invocation')
    return fetch(...sent)
  }
  proxy.decide = () => 'pass'
  const { qrCodes } = merchantClient(proxy, await service.newMerchant(), { maxRetries: 0, fetch: asWorkers })
  expect((await qrCodes.create({})).status).toBe('ACTIVE')
})

test('a redirect is not followed: the token is sent nowhere else', async () => {
  const received: (string | undefined)[] = []
  const elsewhere = createServer((request, response) => {
    received.push(request.headers.authorization)
    response.end('{}')
  })
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`
  const { qrCodes } = merchantClient(proxy, await service.newMerchant(), { maxRetries: 0 })
  proxy.decide = ({ path }) => (path === '/api/v0/qr-code' ? { status: 307, headers: { location } } : 'pass')
  await expect(qrCodes.create({})).rejects.toBeInstanceOf(UnexpectedResponseError)
  expect(received).toEqual([])
  await new Promise((resolve) => elsewhere.close(resolve))
})
