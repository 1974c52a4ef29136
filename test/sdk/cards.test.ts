import { issueSharedKey, registerPublicKey, retireJweKey } from '@svc/core/tenants/jwe-keys'
import { retireKey } from '@svc/platform/crypto/key-rotation'
import { newKeyBytes } from '@svc/platform/crypto/keyring'
import type { Tx } from '@svc/platform/db/database'
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ConnectionError, type Partner, SvcError } from '../../packages/sdk/src/index.ts'
import { HttpProxy } from '../harness/http-proxy.ts'
import { newPartner, type TestPartner } from '../harness/partner.ts'
import { partnerClient, sharedKeyOf } from '../harness/sdk.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const CREATE = '/api/v0/partner/svcCard'

let service: TestService
let proxy: HttpProxy
let partner: TestPartner

beforeAll(async () => {
  service = await openService()
  proxy = await HttpProxy.open(service.baseUrl)
  partner = await newPartner(service)
})
afterEach(() => {
  proxy.decide = () => 'pass'
  proxy.seen.length = 0
})
afterAll(async () => {
  await proxy.close()
  await service.close()
})

const orderOf = ({ companyId, cardAccountId }: TestPartner, rest: object = {}) => ({
  companyId,
  cardAccountId,
  loadAmount: '10',
  ...rest,
})
const cardsOf = ({ partnerId }: TestPartner): Promise<number> =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query('select 1 from cards where partner_id = $1', [partnerId])
    return rows.length
  })
const headerOf = (body: string): unknown =>
  JSON.parse(Buffer.from(body.replaceAll('"', '').split('.')[0]!, 'base64url').toString())

test.each(['ECDH-ES+A256KW P-256', 'ECDH-ES+A256KW X25519', 'RSA-OAEP-256'] as const)(
  'an order encrypted to the published key for %s issues a card',
  async (publishedKey) => {
    const { cards } = partnerClient(proxy, partner, { encryption: { publishedKey } })
    const card = await cards.create(orderOf(partner, { firstName: 'Asha' }))
    expect(card).toMatchObject({ firstName: 'Asha', loadAmount: '10', cardStatus: { name: 'UL' } })
    await cards.create(orderOf(partner))
    expect(proxy.at('/.well-known/jwks.json')).toHaveLength(1)
    expect(headerOf(proxy.at(CREATE)[0]!.body)).toMatchObject({
      alg: publishedKey.split(' ')[0],
      enc: 'A256GCM',
    })
  },
)

test('with the shared key only the token is requested, and the order appears nowhere in plain text', async () => {
  const { cards } = partnerClient(proxy, partner)
  await cards.create(orderOf(partner, { firstName: 'Canary' }))
  expect(proxy.seen.map(({ path }) => path)).toEqual(['/oauth/token', CREATE])
  expect(proxy.at(CREATE)[0]!.body).not.toContain('Canary')
  expect(headerOf(proxy.at(CREATE)[0]!.body)).toEqual({
    alg: 'A256KW',
    enc: 'A256GCM',
    kid: partner.sharedKey.kid,
  })
})

test('responses are encrypted with the shared key or a registered pair, and are decrypted with it alone', async () => {
  const withShared = partnerClient(proxy, partner, {
    decryptResponsesWith: { kty: 'oct', ...sharedKeyOf(partner) },
  })
  const encryptedResponses = await withShared.cards.create(orderOf(partner, { firstName: 'Meera' }))
  expect(encryptedResponses.firstName).toBe('Meera')
  expect(proxy.at(CREATE)[0]!.headers.accept).toBe('application/problem+json, application/jose')

  const other = await newPartner(service)
  const pair = await generateKeyPair('ECDH-ES+A256KW', { crv: 'X25519', extractable: true })
  const facts = { kid: `answers-${other.partnerId}`, alg: 'ECDH-ES+A256KW', use: 'enc' }
  const publicJwk = { ...(await exportJWK(pair.publicKey)), ...facts }
  await service.app.services.database.operate((tx) => registerPublicKey(tx, other.partnerId, publicJwk))
  const privateJwk = { ...(await exportJWK(pair.privateKey)), ...facts }
  const own = partnerClient(proxy, other, { decryptResponsesWith: privateJwk })
  const card = await own.cards.create(orderOf(other))
  expect(await own.cards.get(card.svcCardId)).toEqual(card)
  const found = await own.cards.find({ ...orderOf(other), svcCardId: card.svcCardId })
  expect(found?.svcCardId).toBe(card.svcCardId)
  const locked = await own.cards.setStatus(card.svcCardId, { status: 'L' })
  expect(locked.cardStatus.name).toBe('L')
  const wrong = partnerClient(proxy, other, { decryptResponsesWith: { kty: 'oct', ...sharedKeyOf(partner) } })
  await expect(wrong.cards.get(card.svcCardId)).rejects.toThrow(/is encrypted to key/)
})

const operate = <T>(work: (tx: Tx) => Promise<T>) => service.app.services.database.operate(work)

/** A shared key that is issued to the partner. */
async function issuedKey({ partnerId }: TestPartner) {
  const { keyring, random } = service.app.services
  const { k, ...key } = await operate((tx) =>
    issueSharedKey(tx, { keyring, random, mode: 'test' }, partnerId),
  )
  return { ...key, k: k.reveal() }
}

/** The private half of a pair that is registered for the partner. */
async function registeredKey({ partnerId }: TestPartner, name: string) {
  const pair = await generateKeyPair('ECDH-ES+A256KW', { crv: 'P-256', extractable: true })
  const facts = { kid: `${name}-${partnerId}`, alg: 'ECDH-ES+A256KW', use: 'enc' }
  const publicJwk = { ...(await exportJWK(pair.publicKey)), ...facts }
  await operate((tx) => registerPublicKey(tx, partnerId, publicJwk))
  return { ...(await exportJWK(pair.privateKey)), ...facts }
}

async function useCards({ cards }: Partner, order: ReturnType<typeof orderOf>): Promise<void> {
  const { svcCardId } = await cards.create(order)
  expect((await cards.get(svcCardId)).svcCardId).toBe(svcCardId)
  expect((await cards.setStatus(svcCardId, { status: 'L' })).svcCardId).toBe(svcCardId)
}

test('while a shared key replaces another, clients that have the previous one or both decrypt every response', async () => {
  const own = await newPartner(service)
  const previous = { kty: 'oct', ...sharedKeyOf(own) }
  const next = await issuedKey(own)
  const before = partnerClient(proxy, own, { decryptResponsesWith: previous })
  const during = partnerClient(proxy, own, {
    decryptResponsesWith: [previous, next],
    encryption: { sharedKey: next },
  })
  const after = partnerClient(proxy, own, { decryptResponsesWith: next, encryption: { sharedKey: next } })
  await useCards(before, orderOf(own))
  await useCards(during, orderOf(own))
  expect((await after.cards.create(orderOf(own))).loadAmount).toBe('10')
  await operate((tx) => retireJweKey(tx, own.partnerId, previous.kid))
  const used = () => useCards(after, orderOf(own)).then(() => 'decrypted', String)
  // A process may know the previous keys for a second more.
  await expect.poll(used, { timeout: 10_000 }).toBe('decrypted')
  await useCards(during, orderOf(own))
})

test('while a registered key replaces another, clients that have the previous one or both decrypt every response', async () => {
  const own = await newPartner(service)
  const previous = await registeredKey(own, 'previous')
  const next = await registeredKey(own, 'next')
  const [before, during, after] = [previous, [previous, next], next].map((decryptResponsesWith) =>
    partnerClient(proxy, own, { decryptResponsesWith }),
  ) as [Partner, Partner, Partner]
  await useCards(before, orderOf(own))
  await useCards(during, orderOf(own))
  await operate((tx) => retireJweKey(tx, own.partnerId, previous.kid))
  const used = () => useCards(after, orderOf(own)).then(() => 'decrypted', String)
  await expect.poll(used, { timeout: 10_000 }).toBe('decrypted')
  await useCards(during, orderOf(own))
})

test('transactions and the statement of a card are those of the API', async () => {
  const own = await newPartner(service)
  const { cards } = partnerClient(proxy, own)
  const { svcCardId } = await cards.create(orderOf(own))
  await cards.create(orderOf(own))
  const [load, ...more] = await cards.transactions(svcCardId, { limit: 1 }).take(5)
  expect(load).toMatchObject({ kind: 'load', svcCardId, balance: load?.amount })
  expect(more).toEqual([])
  expect(await cards.listTransactions({ kind: 'load', limit: 1 }).take(5)).toHaveLength(2)
  expect(await cards.listTransactions({ svcCardId, createdTo: '2026-01-01T00:00:00Z' }).take(5)).toEqual([])
  expect(await cards.statement(svcCardId)).toMatchObject({ openingBalance: 0, lines: [load] })
})

test('after lost responses the same encrypted request is sent under the same key, and there is exactly one card', async () => {
  const careful = await newPartner(service)
  for (const jwe of [{ sharedKey: sharedKeyOf(careful) }, { publishedKey: 'RSA-OAEP-256' }] as const) {
    const { cards } = partnerClient(proxy, careful, { encryption: jwe })
    const before = await cardsOf(careful)
    proxy.seen.length = 0
    proxy.decide = ({ path }) =>
      path === CREATE && proxy.at(CREATE).length < 4
        ? (['lose', 'halve', 'lose'] as const)[proxy.at(CREATE).length - 1]!
        : 'pass'
    const card = await cards.create(orderOf(careful))
    const sent = proxy.at(CREATE).map(({ body, headers }) => `${String(headers['idempotency-key'])} ${body}`)
    expect(sent).toHaveLength(4)
    expect(new Set(sent).size).toBe(1)
    expect(await cardsOf(careful)).toBe(before + 1)
    expect((await cards.get(card.svcCardId)).svcCardId).toBe(card.svcCardId)
  }
})

test('a published key that is replaced while orders are in flight loses no order and duplicates none', async () => {
  const rotated = await newPartner(service)
  const { cards } = partnerClient(proxy, rotated, { encryption: { publishedKey: 'ECDH-ES+A256KW P-256' } })
  await cards.create(orderOf(rotated))
  const { database, keyring } = service.app.services
  const [replaced] = keyring.all('encryption_p256')
  await database.operate((tx) => keyring.add(tx, 'encryption_p256', 0, newKeyBytes('encryption_p256')))
  await database.operate((tx) => retireKey(tx, replaced!.keyId))
  await keyring.refresh()
  // The first of these loses its answer too: carried out or refused, the next attempt must come to the same end.
  proxy.seen.length = 0
  proxy.decide = ({ path }) => (path === CREATE && proxy.at(CREATE).length === 1 ? 'lose' : 'pass')
  const made = await Promise.all(Array.from({ length: 8 }, () => cards.create(orderOf(rotated))))
  expect(new Set(made.map(({ svcCardId }) => svcCardId)).size).toBe(8)
  expect(await cardsOf(rotated)).toBe(9)
  const kids = new Set(proxy.at(CREATE).map(({ body }) => (headerOf(body) as { kid: string }).kid))
  expect(kids.size).toBe(2)
  expect(proxy.at('/.well-known/jwks.json').length).toBeLessThanOrEqual(2)
})

test('an order executed before its key was retired is not executed again afterwards', async () => {
  const unlucky = await newPartner(service)
  const { cards } = partnerClient(proxy, unlucky, { encryption: { publishedKey: 'RSA-OAEP-256' } })
  const { database, keyring } = service.app.services
  let retired: Promise<void> | undefined
  proxy.decide = ({ path }) => {
    if (path !== CREATE) return 'pass'
    if (proxy.at(CREATE).length === 1) return 'lose'
    return retired ? 'pass' : { status: 503, headers: { 'retry-after': '0' } }
  }
  const made = cards.create(orderOf(unlucky))
  while (proxy.at(CREATE).length < 2) await new Promise((resolve) => setTimeout(resolve, 10))
  const [replaced] = keyring.all('encryption_rsa')
  await database.operate((tx) => keyring.add(tx, 'encryption_rsa', 0, newKeyBytes('encryption_rsa')))
  await database.operate((tx) => retireKey(tx, replaced!.keyId))
  await keyring.refresh()
  retired = Promise.resolve()
  const card = await made
  expect(await cardsOf(unlucky)).toBe(1)
  expect((await cards.get(card.svcCardId)).svcCardId).toBe(card.svcCardId)
})

test('failed orders have their error codes: insufficient funds, and an encrypted request that is not the partner’s', async () => {
  const poor = await newPartner(service, { fundsPaise: 5_00n })
  const { cards } = partnerClient(proxy, poor)
  const reported = await cards.create(orderOf(poor)).catch((error: unknown) => error)
  expect(SvcError.is(reported, 'insufficient_funds')).toBe(true)
  proxy.seen.length = 0
  const foreign = partnerClient(proxy, poor, { encryption: { sharedKey: sharedKeyOf(partner) } })
  const refused = await foreign.cards.create(orderOf(poor)).catch((error: unknown) => error)
  expect(SvcError.is(refused, 'decryption_failed')).toBe(true)
  expect(proxy.at(CREATE)).toHaveLength(1)
})

const BULK = `${CREATE}/bulk`

async function resultsOf({ cards }: Partner, jobId: string) {
  while ((await cards.bulkJob(jobId)).status !== 'DONE')
    await new Promise((resolve) => setTimeout(resolve, 20))
  return cards.bulkResults(jobId, { limit: 10 }).take(100)
}

test('a bulk upload is encrypted line by line, and its results are read page by page', async () => {
  const client = partnerClient(proxy, partner)
  const orders = Array.from({ length: 25 }, (_, n) => orderOf(partner, { firstName: `Row ${n}` }))
  const { jobId, rows } = await client.cards.createMany(await client.cards.encryptMany(orders))
  expect(rows).toBe(25)
  const results = await resultsOf(client, jobId)
  expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 25 }, () => 'ISSUED'))
  expect(proxy.seen.filter(({ path }) => path.includes('/results'))).toHaveLength(3)
})

test('encrypted orders whose upload was lost are uploaded again, by another process too: one job, and each card once', async () => {
  const careful = await newPartner(service)
  const first = partnerClient(proxy, careful, { maxRetries: 0 })
  const encrypted = await first.cards.encryptMany(Array.from({ length: 3 }, () => orderOf(careful)))
  proxy.decide = ({ path }) => (path === BULK ? 'lose' : 'pass')
  await expect(first.cards.createMany(encrypted)).rejects.toBeInstanceOf(ConnectionError)
  expect(proxy.at(BULK)).toHaveLength(1)
  proxy.decide = () => 'pass'
  const stored = JSON.parse(JSON.stringify(encrypted)) as string[]
  const second = partnerClient(proxy, careful)
  const upload = await second.cards.createMany(stored)
  expect(await second.cards.createMany(stored)).toEqual(upload)
  const results = await resultsOf(second, upload.jobId)
  expect(results.map(({ status }) => status)).toEqual(['ISSUED', 'ISSUED', 'ISSUED'])
  expect(await cardsOf(careful)).toBe(3)
  const other = await second.cards.createMany(stored, { idempotencyKey: 'another' })
  expect(other.jobId).not.toBe(upload.jobId)
  expect(await resultsOf(second, other.jobId)).toEqual(results)
  expect(await cardsOf(careful)).toBe(3)
})

test('many loads are uploaded once, also when the response was lost, and a reference names one load', async () => {
  const rich = await newPartner(service, { accountType: 'MEAL' })
  const { cards } = partnerClient(proxy, rich)
  const { svcCardId } = await cards.create(orderOf(rich))
  const loads = Array.from({ length: 3 }, (_, n) => ({
    svcCardId,
    amount: 10,
    referenceNumber: `load-${n % 2}`,
  }))
  proxy.decide = ({ path }) => (path === `${BULK}/loads` ? 'lose' : 'pass')
  const careless = partnerClient(proxy, rich, { maxRetries: 0 })
  await expect(careless.cards.loadMany(loads)).rejects.toBeInstanceOf(ConnectionError)
  proxy.decide = () => 'pass'
  const { jobId, rows } = await cards.loadMany(loads)
  expect(rows).toBe(3)
  expect(await cards.loadMany(loads)).toEqual({ jobId, rows, status: 'QUEUED' })
  const [first, second, repeat] = await resultsOf(partnerClient(proxy, rich), jobId)
  expect([first, second]).toMatchObject([{ status: 'LOADED' }, { status: 'LOADED' }])
  expect(repeat!.loadId).toBe(first!.loadId)
  expect(await cards.bulkJob(jobId)).toMatchObject({ kind: 'LOADS', loaded: 3 })
})

test('unencrypted orders are rejected with a TypeError, and nothing is uploaded', async () => {
  const { cards } = partnerClient(proxy, partner)
  // As a caller in JavaScript gives them, whom no type refuses.
  const uploaded = cards.createMany([orderOf(partner)] as unknown as string[])
  await expect(uploaded).rejects.toThrow(/^createMany uploads encrypted orders/)
  expect(proxy.seen).toEqual([])
})
