import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { OPERATIONS } from '@svc/server/operations'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertManyCards } from '../harness/many-cards.ts'
import { asPartner, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService, tokenOf } from '../harness/service.ts'

const EVENTS_MAX = 5
const SEARCHES_MAX = 2
const EVENTS = '/api/v0/events/stream'
const SEARCH = '/api/v0/partner/svcCard/search'

let service: TestService
let partner: TestPartner
let ofPartner: Record<string, string>
let ofMerchant: Record<string, string>
beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service, { products: ['employee_rewards'], fundsPaise: 10n ** 9n })
  // More than the buffers between here and the service hold, so that a search lasts until it is read.
  await asSuperuser(service.db.database, (admin) => insertManyCards(admin, partner, 1, 5_000))
  const caller = await asPartner(service.client, partner)
  ofPartner = { ...caller.headers, 'content-type': 'application/json' }
  const merchant = await service.newMerchant()
  ofMerchant = { authorization: `Bearer ${await tokenOf(service.client, merchant.apiKey)}` }
})
afterAll(() => service.close())

const account = (page: object = {}) =>
  JSON.stringify({ companyId: partner.companyId, cardAccountId: partner.cardAccountId, ...page })
const url = (path: string) => `${service.client.baseUrl}${path}`

/** The statuses of so many event streams of a tenant, all open at the same time. */
async function openEvents(headers: Record<string, string>, count = EVENTS_MAX): Promise<number[]> {
  const open = await Promise.all(
    Array.from({ length: count }, () => request(url(EVENTS), { headers, reset: true })),
  )
  for (const { body } of open) body.on('error', () => undefined).destroy()
  return open.map(({ statusCode }) => statusCode)
}

const search = (headers: Record<string, string> = {}, page: object = {}) =>
  request(url(SEARCH), { method: 'POST', headers: { ...ofPartner, ...headers }, body: account(page) })

/** Resolves once the tenant can have all its streams at the same time: what was open before has ended. */
const allFree = (headers: Record<string, string>) =>
  expect
    .poll(() => openEvents(headers), { timeout: 10_000 })
    .toEqual(Array.from({ length: EVENTS_MAX }, () => 200))

async function searchesFree(): Promise<void> {
  await expect
    .poll(
      async () => {
        const open = await Promise.all(Array.from({ length: SEARCHES_MAX }, () => search()))
        await Promise.all(open.map(({ body }) => body.text()))
        return open.map(({ statusCode }) => statusCode)
      },
      { timeout: 10_000 },
    )
    .toEqual([200, 200])
}

describe('HEAD', () => {
  const gets = OPERATIONS.filter(({ method }) => method === 'GET')

  test.each(gets)('on $id is like GET without the body, or rejected where GET streams', async (operation) => {
    const path = operation.path.replace(/:\w+/g, 'none_0')
    const headers = operation.auth === 'merchant' ? ofMerchant : ofPartner
    const head = await request(url(path), { method: 'HEAD', headers })
    expect(await head.body.text()).toBe('')
    if (operation.streams && operation.alsoProduces === undefined) {
      expect([head.statusCode, head.headers['allow']]).toEqual([405, 'GET'])
      expect(head.headers['x-request-id']).toBeTruthy()
      return
    }
    const get = await request(url(path), { headers })
    await get.body.text()
    expect([head.statusCode, head.headers['content-type']]).toEqual([
      get.statusCode,
      get.headers['content-type'],
    ])
  })

  test('fifty times on every operation leaves a tenant all its streams', async () => {
    for (const { path } of gets)
      for (const headers of [ofMerchant, ofPartner]) {
        const all = Array.from({ length: 50 }, () =>
          request(url(path.replace(/:\w+/g, 'none_0')), { method: 'HEAD', headers }),
        )
        for (const { body } of await Promise.all(all)) await body.text()
      }
    expect(await openEvents(ofMerchant)).toEqual(Array(EVENTS_MAX).fill(200))
    await allFree(ofPartner)
    await searchesFree()
  })
})

test('a tenant has as many event streams as documented, and not one more', async () => {
  await allFree(ofMerchant)
  await expect
    .poll(async () => (await openEvents(ofMerchant, EVENTS_MAX + 1)).sort(), { timeout: 10_000 })
    .toEqual([...Array(EVENTS_MAX).fill(200), 429])
})

/** Requests as bytes, all at once on one connection. */
function pipeline(requests: readonly string[]): Promise<Socket> {
  const { port } = new URL(service.client.baseUrl)
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => resolve(socket))
    socket.on('error', () => undefined).write(requests.join(''))
  })
}

/** Pipelines again until a further request is refused: the one that checks may have come before the last of these. */
async function occupy(requests: readonly string[], isRefused: () => Promise<boolean>): Promise<Socket> {
  for (;;) {
    const socket = await pipeline(requests)
    await once(socket, 'data')
    if (await isRefused()) return socket
    socket.destroy()
    await once(socket, 'close')
  }
}

const asText = (line: string, headers: Record<string, string>, body = '') =>
  `${line} HTTP/1.1\r\nhost: localhost\r\n${Object.entries({
    ...headers,
    'content-length': String(body.length),
  })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${body}`

describe('a caller that disconnects releases its streams', () => {
  test('that wait behind another response of the same connection', async () => {
    const streams = Array.from({ length: EVENTS_MAX }, () => asText(`GET ${EVENTS}`, ofMerchant))
    const socket = await occupy(streams, async () => (await openEvents(ofMerchant, 1))[0] === 429)
    socket.destroy()
    await allFree(ofMerchant)
    const searches = [
      asText(`GET ${EVENTS}`, ofPartner),
      ...Array.from({ length: SEARCHES_MAX }, () => asText(`POST ${SEARCH}`, ofPartner, account())),
    ]
    const second = await occupy(searches, async () => (await statusOf(search())) === 429)
    second.destroy()
    await searchesFree()
    await allFree(ofPartner)
  })

  test.each([
    ['an event stream', () => asText(`GET ${EVENTS}`, ofPartner)],
    ['a search', () => asText(`POST ${SEARCH}`, ofPartner, account())],
  ])('before the headers of %s were sent', async (_, text) => {
    await asSuperuser(service.db.database, async (db) => {
      // The first read of either waits here, until its caller has gone.
      await db.query('begin')
      await db.query('lock table event_counters, card_accounts in access exclusive mode')
      const sockets = await Promise.all(Array.from({ length: EVENTS_MAX }, () => pipeline([text()])))
      await expect
        .poll(async () => {
          const { rows } = await db.query<{ n: string }>(
            `select count(*) as n from pg_locks where not granted and relation in ('event_counters'::regclass, 'card_accounts'::regclass)`,
          )
          return Number(rows[0]!.n)
        })
        .toBeGreaterThan(0)
      const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
      for (const socket of sockets) socket.destroy()
      await Promise.all(closed)
      await db.query('rollback')
    })
    await allFree(ofPartner)
    await searchesFree()
  })
})

async function statusOf(response: ReturnType<typeof search>): Promise<number> {
  const { statusCode, body } = await response
  await body.text()
  return statusCode
}

test('a stream that is rejected as an encrypted response does not count', async () => {
  for (let i = 0; i < 10; i++) expect(await statusOf(search({ accept: 'application/jose' }))).toBe(406)
  await searchesFree()
})

test('pages of a search by limit are no streams: they take none, and need none', async () => {
  await searchesFree()
  const pages = [await search({}, { limit: 10_000 }), await search({}, { limit: 10_000 })]
  expect(await statusOf(search({}, { limit: 1 }))).toBe(200)
  const streams = [await search(), await search()]
  expect([...pages, ...streams].map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
  expect(await statusOf(search())).toBe(429)
  expect(await statusOf(search({}, { limit: 1 }))).toBe(200)
  for (const { body } of [...pages, ...streams]) body.on('error', () => undefined).destroy()
  await searchesFree()
})
