import { registerPublicKey } from '@svc/core/tenants/jwe-keys'
import { retireKey } from '@svc/platform/crypto/key-rotation'
import { newKeyBytes } from '@svc/platform/crypto/keyring'
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { SvcError } from '../../packages/sdk/src/index.ts'
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

test('with the shared key nothing but the token is asked for, and the order is nowhere in plain', async () => {
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

test('answers come encrypted to the shared key or to a registered pair, and are opened with it alone', async () => {
  const withShared = partnerClient(proxy, partner, {
    decryptResponsesWith: { kty: 'oct', ...sharedKeyOf(partner) },
  })
  const encryptedResponses = await withShared.cards.create(orderOf(partner, { firstName: 'Meera' }))
  expect(encryptedResponses.firstName).toBe('Meera')
  expect(proxy.at(CREATE)[0]!.headers.accept).toBe('application/jose, application/problem+json')

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

test('lost answers: the very same encrypted request is sent under the very same key, and there is exactly one card', async () => {
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

test('a published key that is replaced while orders are under way costs no order and doubles none', async () => {
  const rotated = await newPartner(service)
  const { cards } = partnerClient(proxy, rotated, { encryption: { publishedKey: 'ECDH-ES+A256KW P-256' } })
  await cards.create(orderOf(rotated))
  const { database, keyring } = service.app.services
  const [former] = keyring.all('encryption_p256')
  await database.operate((tx) => keyring.add(tx, 'encryption_p256', 0, newKeyBytes('encryption_p256')))
  await database.operate((tx) => retireKey(tx, former!.keyId))
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

test('an order that was carried out before its key was retired is not carried out again after it', async () => {
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
  const [former] = keyring.all('encryption_rsa')
  await database.operate((tx) => keyring.add(tx, 'encryption_rsa', 0, newKeyBytes('encryption_rsa')))
  await database.operate((tx) => retireKey(tx, former!.keyId))
  await keyring.refresh()
  retired = Promise.resolve()
  const card = await made
  expect(await cardsOf(unlucky)).toBe(1)
  expect((await cards.get(card.svcCardId)).svcCardId).toBe(card.svcCardId)
})

test('failures of orders have their words: too little money, and an encrypted request that is not the partner’s', async () => {
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

test('a bulk upload is encrypted line by line, and its results are read page by page', async () => {
  const { cards } = partnerClient(proxy, partner)
  const orders = Array.from({ length: 25 }, (_, n) => orderOf(partner, { firstName: `Row ${n}` }))
  const { jobId, rows } = await cards.createMany(orders)
  expect(rows).toBe(25)
  while ((await cards.bulkJob(jobId)).status !== 'DONE')
    await new Promise((resolve) => setTimeout(resolve, 20))
  const results = await cards.bulkResults(jobId, { limit: 10 }).take(100)
  expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 25 }, () => 'ISSUED'))
  expect(proxy.seen.filter(({ path }) => path.includes('/results'))).toHaveLength(3)
})
