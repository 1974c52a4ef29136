import { checkInvariants } from '@svc/console-api/invariants'
import { CompactEncrypt } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { done, encryptOrder, results, upload } from '../harness/bulk.ts'
import { type ApiResponse, type Client, payloadOf } from '../harness/client.ts'
import { expectFailure } from '../harness/failure.ts'
import { asPartner, CREATE, encryptFor, newPartner, orderCard, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

/** The second one compares the content of orders for a minute, the first one not at all. */
let service: TestService
let comparing: TestService
let partner: TestPartner
let client: Client
let sameClient: Client

beforeAll(async () => {
  service = await openService({ env: { CARD_REPEAT_SECONDS: '0' } })
  comparing = await openService({ db: service.db, env: { CARD_REPEAT_SECONDS: '60' } })
  partner = await newPartner(service)
  client = await asPartner(service.client, partner)
  sameClient = await asPartner(comparing.client, partner)
})
afterAll(async () => {
  const broken = (await checkInvariants(service.app.services.database))
    .filter(({ violations }) => violations.length > 0)
    .map(({ name, violations }) => [name, violations])
  await comparing.close()
  await service.close()
  expect(broken).toEqual([])
})

let last = 0
const newReference = () => `order-${++last}`
const order = (fields: object, caller = client, of = partner): Promise<ApiResponse> =>
  orderCard(caller, of, { loadAmount: 10, firstName: 'Asha', ...fields })
const cardsOf = async (of = partner): Promise<number> =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query('select count(*)::int as cards from cards where partner_id = $1', [
      of.partnerId,
    ])
    return rows[0].cards as number
  })
const fund = (of: TestPartner) =>
  asSuperuser(service.db.database, async (db) => {
    const accounts = [`card_funding:${of.cardAccountId}`, `funding_clearing:${of.partnerId}`]
    const journal = `jrn_${of.cardAccountId.slice(4)}`
    await db.query('begin')
    await db.query(
      `insert into journals (tenant_id, journal_id, kind, effective_date, legs, at)
       values ($1, $2, 'card_funding', now(), 1, now())`,
      [of.partnerId, journal],
    )
    await db.query(
      `insert into ledger_transfers (transfer_id, tenant_id, journal_id, leg, kind, debit_account_id,
         credit_account_id, amount, unit, object_id, created_at)
       values ($2, $1, $2, 1, 'card_funding', $4, $3, 100000, 'INR', $5, now())`,
      [of.partnerId, journal, ...accounts, of.cardAccountId],
    )
    await db.query('commit')
  })

test('an order with the referenceNumber of an earlier one returns its card, encrypted again and without a key', async () => {
  const referenceNumber = newReference()
  const first = payloadOf(await order({ referenceNumber }))
  const before = await cardsOf()
  expect(payloadOf(await order({ referenceNumber }))).toEqual(first)
  expect(await cardsOf()).toBe(before)
  expect(payloadOf(await order({})).svcCardId).not.toBe(first.svcCardId)
})

test('a referenceNumber with other content is 409 and names the card; another partner may use it', async () => {
  const referenceNumber = newReference()
  const { svcCardId } = payloadOf(await order({ referenceNumber }))
  for (const other of [{ loadAmount: 11 }, { firstName: 'Ravi' }, { physicalCard: true }]) {
    const response = await order({ referenceNumber, ...other })
    expectFailure(response, 'order_reference_in_use')
    expect(response.errorDescription).toContain(svcCardId)
  }
  const outsider = await newPartner(service)
  const theirs = await order({ referenceNumber }, await asPartner(service.client, outsider), outsider)
  expect(payloadOf(theirs).svcCardId).not.toBe(svcCardId)
})

test('for one referenceNumber sent 20 times at once to two services one card is created, and all get it', async () => {
  const referenceNumber = newReference()
  const before = await cardsOf()
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, i) => order({ referenceNumber }, i % 2 === 0 ? client : sameClient)),
  )
  expect(new Set(responses.map((response) => payloadOf(response).svcCardId)).size).toBe(1)
  expect(await cardsOf()).toBe(before + 1)
})

test('within CARD_REPEAT_SECONDS the same content is the same order, also at once; with a referenceNumber or a key it is not compared', async () => {
  const same = { firstName: 'Meera' }
  const before = await cardsOf()
  const responses = await Promise.all(Array.from({ length: 10 }, () => order(same, sameClient)))
  const [svcCardId, ...others] = new Set(responses.map((response) => payloadOf(response).svcCardId))
  expect(others).toEqual([])
  expect(await cardsOf()).toBe(before + 1)
  expect(payloadOf(await order({ firstName: 'Sita' }, sameClient)).svcCardId).not.toBe(svcCardId)
  const keyed = (key: string) =>
    orderCard(sameClient, partner, { loadAmount: 10, ...same }, { 'idempotency-key': key })
  const meant = [
    await order({ ...same, referenceNumber: newReference() }, sameClient),
    await keyed('first-of-two-equal-cards'),
    await keyed('second-of-two-equal-cards'),
  ].map((response) => payloadOf(response).svcCardId)
  expect(new Set([svcCardId, ...meant]).size).toBe(4)
  // A bare order repeats none of those.
  expect(payloadOf(await order(same, sameClient)).svcCardId).toBe(svcCardId)
  // The other service does not compare.
  expect(payloadOf(await order(same)).svcCardId).not.toBe(svcCardId)
})

test('by default a bare order is repeated for 120 seconds; equal lines of an upload are two orders', async () => {
  const byDefault = await openService({ db: service.db })
  const caller = await asPartner(byDefault.client, partner)
  const equal = { firstName: 'Lata', loadAmount: 10 }
  const send = async () => payloadOf(await order(equal, caller)).svcCardId
  const first = await send()
  expect(await send()).toBe(first)
  await asSuperuser(service.db.database, (db) =>
    db.query(`update cards set created_at = created_at - interval '110 seconds' where svc_card_id = $1`, [
      first,
    ]),
  )
  expect(await send()).toBe(first)
  const lines = [await encryptOrder(partner, equal), await encryptOrder(partner, equal)]
  const { jobId } = payloadOf(await upload(caller, lines))
  await done(caller, jobId)
  const issued = (await results(caller, jobId)).map((row) => row.svcCardId)
  expect(new Set([first, ...issued]).size).toBe(3)
  await asSuperuser(service.db.database, (db) =>
    db.query(`update cards set created_at = created_at - interval '11 seconds' where svc_card_id = $1`, [
      first,
    ]),
  )
  expect(await send()).not.toBe(first)
  await byDefault.close()
})

test('after CARD_REPEAT_SECONDS the same content is a new order, and a request that was a repeat stays one', async () => {
  const same = { firstName: 'Kiran' }
  const { svcCardId } = payloadOf(await order(same, sameClient))
  const { companyId, cardAccountId } = partner
  const repeat = await encryptFor(partner, { companyId, cardAccountId, loadAmount: 10, ...same })
  expect(payloadOf(await sameClient.post(CREATE, repeat)).svcCardId).toBe(svcCardId)
  await asSuperuser(service.db.database, async (db) => {
    await db.query(`update cards set created_at = created_at - interval '2 minutes' where svc_card_id = $1`, [
      svcCardId,
    ])
    await db.query('delete from idempotency_keys')
  })
  expect(payloadOf(await sameClient.post(CREATE, repeat)).svcCardId).toBe(svcCardId)
  expect(payloadOf(await order(same, sameClient)).svcCardId).not.toBe(svcCardId)
})

test('CARD_REPEAT_SECONDS are counted by the partner’s test clock', async () => {
  const ahead = await newPartner(comparing)
  const later = async (bySeconds: number) => {
    payloadOf(await comparing.client.post(`/sandbox/tenants/${ahead.partnerId}/clock/advance`, { bySeconds }))
    const caller = await asPartner(comparing.client, ahead)
    const request = { companyId: ahead.companyId, cardAccountId: ahead.cardAccountId, loadAmount: 10 }
    return payloadOf(await caller.post(CREATE, await encryptFor(ahead, request))).svcCardId
  }
  const first = await later(86_400)
  expect(await later(30)).toBe(first)
  expect(await later(60)).not.toBe(first)
})

test('a rejected request is used up: the same JWE gets the same rejection, whatever has changed, and whatever its key', async () => {
  const poor = await newPartner(service, { fundsPaise: 0n })
  const caller = await asPartner(service.client, poor)
  const { companyId, cardAccountId } = poor
  const request = { companyId, cardAccountId, loadAmount: 10 }
  const encrypted = await encryptFor(poor, request)
  expectFailure(await caller.post(CREATE, encrypted), 'insufficient_funds')
  await fund(poor)
  for (const headers of [{}, { 'idempotency-key': 'again' }])
    expectFailure(await caller.post(CREATE, encrypted, headers), 'insufficient_funds')
  expect(await cardsOf(poor)).toBe(0)
  // Encrypted anew it is another request, also under the same key.
  const anew = await caller.post(CREATE, await encryptFor(poor, request), { 'idempotency-key': 'again' })
  payloadOf(anew)
  expect(await cardsOf(poor)).toBe(1)
})

test('the rejection of a request names the same card as before', async () => {
  const referenceNumber = newReference()
  payloadOf(await order({ referenceNumber }))
  const { companyId, cardAccountId } = partner
  const encrypted = await encryptFor(partner, { companyId, cardAccountId, loadAmount: 99, referenceNumber })
  const [first, again] = [await client.post(CREATE, encrypted), await client.post(CREATE, encrypted)]
  expect([first.error, again.error]).toEqual(['order_reference_in_use', 'order_reference_in_use'])
  expect(again.errorDescription).toBe(first.errorDescription)
})

test('one rejected request sent to two services while its account is funded is rejected by both, or issued once', async () => {
  for (let round = 0; round < 8; round++) {
    const poor = await newPartner(service, { fundsPaise: 0n })
    const callers = [await asPartner(service.client, poor), await asPartner(comparing.client, poor)]
    const { companyId, cardAccountId } = poor
    const encrypted = await encryptFor(poor, { companyId, cardAccountId, loadAmount: 10 })
    const sent = [...callers, ...callers].map((caller) => caller.post(CREATE, encrypted))
    const [responses] = await Promise.all([Promise.all(sent), fund(poor)])
    expect(new Set(responses.map(({ status, error }) => `${status} ${error ?? ''}`)).size).toBe(1)
    expect(await cardsOf(poor)).toBe(responses[0]!.status === 200 ? 1 : 0)
  }
})

test('a request whose header has `iat` or `url` is valid for JWE_MAX_AGE_SECONDS and that path only', async () => {
  const { kid, alg, enc, key } = partner.sharedKey
  const { companyId, cardAccountId } = partner
  const body = () =>
    Buffer.from(JSON.stringify({ companyId, cardAccountId, loadAmount: 10, firstName: newReference() }))
  const send = async (bound: object) => {
    const jwe = await new CompactEncrypt(body()).setProtectedHeader({ alg, enc, kid, ...bound }).encrypt(key)
    const { status, error } = await client.post(CREATE, jwe)
    return error ?? status
  }
  const nowS = Math.floor(service.clock.now() / 1_000)
  expect(await send({ iat: nowS - 290, url: CREATE })).toBe(200)
  expect(await send({ iat: nowS + 50 })).toBe(200)
  for (const bound of [
    { iat: nowS - 310 },
    { iat: nowS + 120 },
    { iat: nowS + 0.5 },
    { iat: String(nowS) },
    { url: `${CREATE}/bulk` },
    { url: 7 },
  ])
    expect(await send(bound), JSON.stringify(bound)).toBe('decryption_failed')
})
