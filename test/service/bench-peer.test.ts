import { randomBytes } from 'node:crypto'
import { checkInvariants } from '@svc/console-api/invariants'
import { signNotice } from '@svc/server/http/notice-signature'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildHandwritten, startHandwritten } from '../../lab/bench/handwritten.ts'
import type { ServerProcess } from '../../lab/bench/server-process.ts'
import type { Json } from '../harness/client.ts'
import { newConfig } from '../harness/coins.ts'
import { asPartner, encryptFor, newPartner, type TestPartner } from '../harness/partner.ts'
import { newCode, newUtr } from '../harness/qr-codes.ts'
import { openService, RAIL_KEY, type TestMerchant, type TestService } from '../harness/service.ts'

// The hand-written peer of the benchmark, on the database of the service: what it writes, the service reads.
let service: TestService
let peer: ServerProcess
let merchant: TestMerchant
let token: string
let incentive: TestPartner
let incentiveHeaders: Record<string, string>
let rewards: TestPartner
let rewardsHeaders: Record<string, string>

beforeAll(async () => {
  await buildHandwritten()
  service = await openService({ env: { CARD_BIN: '99991234' } })
  const { keyring, publicUrl } = service.app.services
  peer = await startHandwritten({
    databaseUrl: service.db.url,
    keyring,
    issuer: publicUrl(),
    railKey: RAIL_KEY,
  })
  // Two encoders choose the same size for texts of this length.
  merchant = await service.newMerchant({ vpa: 'shop.1.a1b2c3d4@bank' })
  token = (await service.as(merchant)).headers['authorization']!
  incentive = await newPartner(service)
  incentiveHeaders = (await asPartner(service.client, incentive)).headers
  rewards = await newPartner(service, { products: ['employee_rewards'] })
  rewardsHeaders = (await asPartner(service.client, rewards)).headers
})
afterAll(async () => {
  await peer?.end()
  await service?.close()
})

interface PeerRequest {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

interface Response {
  readonly status: number
  readonly json: Json
}

async function send(baseUrl: string, { method, path, headers = {}, body }: PeerRequest): Promise<Response> {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body }),
  })
  return { status: response.status, json: await response.json() }
}

/** Size and quiet zone of an image stand for it: its bytes are another encoder's. */
const imageSize = (base64: string): string => {
  const png = Buffer.from(base64, 'base64')
  return `${png.toString('latin1', 1, 4)}, ${png.readUInt32BE(16)} × ${png.readUInt32BE(20)}`
}

/** What differs between any two requests, under names: ids, instants, references, numbers and tokens. */
function plain(value: Json): Json {
  if (Array.isArray(value)) return value.map(plain)
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value as Record<string, Json>)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, inner]) => [name, named(name, inner)]),
    )
  return value
}

const INSTANTS = new Set(['createdOn', 'modifiedOn', 'physicalCardRequestDate', 'timestamp'])

function named(name: string, value: Json): Json {
  if (name === 'qrCodeBase64') return imageSize(value)
  if (typeof value === 'string' && ['payload', 'errorMessage'].includes(name)) return plain(JSON.parse(value))
  if (name === 'token' && String(value).includes('.')) return 'a token'
  if (name === 'expiry' && typeof value === 'number') return 'an instant'
  if (INSTANTS.has(name)) return String(value).replace(/\d+/g, '9')
  if (name === 'error_description') return 'a description'
  if (name === 'maskedNumber') return String(value).replace(/\d{4}$/, '9999')
  if (['mobile', 'utr', 'referenceNumber'].includes(name)) return String(value).length
  if (typeof value === 'string')
    return value.replace(/\b([a-z]+)_[0-9a-z]{26}\b/g, '$1_').replace(/tr=SVC[0-9A-Z]{26}/, 'tr=')
  return plain(value)
}

/** The same request to both, where what it names is each one's own. */
async function both(
  build: (side: 'svc' | 'peer') => PeerRequest | Promise<PeerRequest>,
): Promise<[Response, Response]> {
  const ours = await send(service.baseUrl, await build('svc'))
  const theirs = await send(peer.baseUrl, await build('peer'))
  expect({ status: theirs.status, body: plain(theirs.json) }).toEqual({
    status: ours.status,
    body: plain(ours.json),
  })
  return [ours, theirs]
}

const notice = (tr: string, utr: string, amount: number | string, key = RAIL_KEY): PeerRequest => {
  const body = JSON.stringify({ utr, tr, amount, payerVpa: 'payer@bank' })
  const headers = { 'x-rail-signature': signNotice(Buffer.from(body), key, Date.now()) }
  return { method: 'POST', path: '/rails/upi/credits', headers, body }
}

const newCodes = async (request: object = {}): Promise<{ svc: string; peer: string; trs: string[] }> => {
  const client = await service.as(merchant)
  const [one, other] = [await newCode(service, client, request), await newCode(service, client, request)]
  return { svc: one.qrCodeId, peer: other.qrCodeId, trs: [one.tr, other.tr] }
}

test('tokens of the hand-written peer and of the service are accepted by both', async () => {
  const path = '/api/v0/merchant/token'
  const [, theirs] = await both(() => ({ method: 'POST', path, headers: { 'api-key': merchant.apiKey } }))
  await both(() => ({ method: 'POST', path, headers: { 'api-key': `${merchant.apiKey}x` } }))
  const headers = { authorization: `Bearer ${theirs.json.token}` }
  await both(() => ({ method: 'POST', path: '/api/v0/qr-code', headers, body: '{"qrName":"Table 1"}' }))
})

test('the peer creates and cancels QR codes as the service does', async () => {
  const headers = { authorization: token }
  const path = '/api/v0/qr-code'
  const full = {
    qrName: 'Table 12',
    multipleUse: true,
    fixedAmount: true,
    amount: 249.5,
    description: 'Lunch',
    customParams: { table: '12' },
    customerName: 'Asha',
  }
  await both(() => ({ method: 'POST', path, headers, body: JSON.stringify(full) }))
  await both((side) => ({
    method: 'POST',
    path,
    headers,
    body: JSON.stringify({ referenceNumber: side.padEnd(8, '0') }),
  }))
  await both(() => ({ method: 'POST', path, headers, body: '{"fixedAmount":true}' }))
  await both(() => ({ method: 'POST', path, body: '{}' }))
  const codes = await newCodes()
  const cancel = (id: string): PeerRequest => ({
    method: 'PATCH',
    path: `${path}/${id}/cancel`,
    headers,
    body: '{}',
  })
  await both((side) => cancel(codes[side]))
  const [ours] = await both((side) => cancel(codes[side]))
  expect(ours.json.payload.status).toBe('CANCELLED')
  await both(() => cancel('qr_00000000000000000000000000'))
})

test('the peer accepts, rejects, suspends and repeats credits as the service does', async () => {
  const pay = (trs: readonly string[], amount: number, utrs = [newUtr(), newUtr()]) =>
    both((side) => notice(trs[side === 'svc' ? 0 : 1]!, utrs[side === 'svc' ? 0 : 1]!, amount))
  const open = await newCodes({ multipleUse: true })
  const utrs = [newUtr(), newUtr()]
  const [, first] = await pay(open.trs, 10, utrs)
  const [, again] = await pay(open.trs, 10, utrs)
  expect(again.json).toEqual(first.json)
  const once = await newCodes()
  await pay(once.trs, 10)
  await pay(once.trs, 10)
  const fixed = await newCodes({ multipleUse: true, fixedAmount: true, amount: 99 })
  await pay(fixed.trs, 98.5)
  await pay(['SVCNONE', 'SVCNONE'], 5)
  await both(() => notice(open.trs[0]!, newUtr(), 1, 'another key'))
})

test('for forty concurrent notices of one credit the peer records one, and a lost race loses no payment', async () => {
  const { trs } = await newCodes()
  const utr = newUtr()
  const same = Array.from({ length: 20 }, () => notice(trs[0]!, utr, 10))
  const others = Array.from({ length: 20 }, () => notice(trs[0]!, newUtr(), 10))
  const all = await Promise.all([...same, ...others].map((peerRequest) => send(peer.baseUrl, peerRequest)))
  expect(all.map(({ status }) => status)).toEqual(all.map(() => 200))
  const paid = new Map(all.map(({ json }) => [json.payload.paymentId, json.payload.status]))
  expect(paid.size).toBe(21)
  expect([...paid.values()].filter((status) => status === 'ACCEPTED')).toHaveLength(1)
})

const order = async (partner: TestPartner, more: object): Promise<string> => {
  const { companyId, cardAccountId } = partner
  return JSON.stringify(await encryptFor(partner, { companyId, cardAccountId, ...more }))
}
const CARDS = '/api/v0/partner/svcCard'

test('the peer issues gift cards from encrypted orders as the service does', async () => {
  const create = (body: string): PeerRequest => ({
    method: 'POST',
    path: CARDS,
    headers: incentiveHeaders,
    body,
  })
  const mobile = () => String(6_000_000_000 + (randomBytes(4).readUInt32BE() % 1_000_000_000))
  const holder = { firstName: 'Ravi', lastName: 'Kumar', city: 'Pune', loadAmount: 25 }
  const bodies = {
    svc: await order(incentive, { ...holder, mobile: mobile() }),
    peer: await order(incentive, { ...holder, mobile: mobile() }),
  }
  const [, first] = await both((side) => create(bodies[side]))
  const [, repeated] = await both((side) => create(bodies[side]))
  expect(repeated.json).toEqual(first.json)
  await both(async () => create(await order(incentive, { userId: incentive.userId, physicalCard: true })))
  await both(async () => create(await order(incentive, { companyId: 'com_none' })))
  await both(async () => create(await order(incentive, { cardAccountId: 'acc_none' })))
  await both(async () => create(await order(rewards, { firstName: 'Ravi' })))
  await both(async () => create(await order(incentive, { mobile: '12' })))
  await both(() => create('{"companyId":"open"}'))
})

test('for sixteen concurrent repeats of one encrypted order the peer issues one card', async () => {
  const body = await order(incentive, { mobile: '9876512345', firstName: 'Mina', loadAmount: 3 })
  const peerRequest: PeerRequest = { method: 'POST', path: CARDS, headers: incentiveHeaders, body }
  const all = await Promise.all(Array.from({ length: 16 }, () => send(peer.baseUrl, peerRequest)))
  expect(new Set(all.map(({ json }) => json.payload.svcCardId)).size).toBe(1)
})

test('both can search the cards that the other one issued', async () => {
  const search = (headers: Record<string, string>, body: object): PeerRequest => ({
    method: 'POST',
    path: `${CARDS}/search`,
    headers,
    body: JSON.stringify(body),
  })
  const issue = async (baseUrl: string, partner: TestPartner, headers: Record<string, string>) => {
    const body = await order(partner, { firstName: 'Ravi', loadAmount: 7 })
    return (await send(baseUrl, { method: 'POST', path: CARDS, headers, body })).json.payload.svcCardId
  }
  for (const [partner, headers] of [
    [incentive, incentiveHeaders],
    [rewards, rewardsHeaders],
  ] as const) {
    const { companyId, cardAccountId } = partner
    for (const baseUrl of [service.baseUrl, peer.baseUrl]) {
      const svcCardId = await issue(baseUrl, partner, headers)
      const [ours, theirs] = await both(() => search(headers, { companyId, cardAccountId, svcCardId }))
      expect(theirs.json).toEqual(ours.json)
    }
    await both(() => search(headers, { companyId, cardAccountId, svcCardId: 'card_none' }))
    await both(() => search(headers, { companyId, cardAccountId: 'acc_none', svcCardId: 'card_none' }))
    await both(() => search(headers, { companyId, cardAccountId }))
    await both(() => search({ ...headers, cookie: '' }, { companyId, cardAccountId }))
    await both(() => search({ ...headers, partnerid: 'par_other' }, { companyId, cardAccountId }))
  }
})

test('the peer looks up coin configurations as the service does', async () => {
  const client = service.client.with(rewardsHeaders)
  const { coinConfigId } = await newConfig(client, { title: 'Thank you', coinsExpireAfterDays: 365 })
  const path = `/api/v0/svc-coins/${coinConfigId}`
  const [ours, theirs] = await both(() => ({ method: 'GET', path, headers: rewardsHeaders }))
  expect(theirs.json).toEqual(ours.json)
  await both(() => ({ method: 'GET', path, headers: incentiveHeaders }))
  await both(() => ({ method: 'GET', path }))
})

test('data written by the peer satisfies every invariant of the service', async () => {
  const broken = (await checkInvariants(service.app.services.database)).flatMap(({ name, violations }) =>
    violations.length > 0 ? [name] : [],
  )
  expect(broken).toEqual([])
})
