import { checkInvariants } from '@svc/console-api/invariants'
import { expireCardHolds } from '@svc/core/cards/rail/expire-card-holds'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newIdentity, referenceTo, Terminal } from '../harness/card-rail.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const ROUNDS = 10

let service: TestService
let other: TestService
let partner: TestPartner
let issuer: Client

beforeAll(async () => {
  const env = { CARD_TRANSACTION_MAX_RUPEES: '400', CARD_DAY_MAX_RUPEES: '700' }
  service = await openService({ background: false, env })
  other = await openService({ background: false, db: service.db, env })
  partner = await newPartner(service)
  issuer = await asPartner(service.client, partner)
})
afterAll(async () => {
  const broken = (await checkInvariants(service.app.services.database))
    .filter(({ violations }) => violations.length > 0)
    .map(({ name, violations }) => [name, violations])
  await other.close()
  await service.close()
  expect(broken).toEqual([])
})

interface TestCard {
  readonly svcCardId: string
  /** One card at two processes. */
  readonly terminal: Terminal
  readonly there: Terminal
}

async function newCard(loadAmount = 500): Promise<TestCard> {
  const { svcCardId, token } = payloadOf(await createCard(issuer, partner, { loadAmount }))
  return {
    svcCardId,
    terminal: new Terminal(service.client, token),
    there: new Terminal(other.client, token),
  }
}
const sql = <T>(text: string, values: unknown[] = []): Promise<T[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as T[])
const moneyOf = async ({ svcCardId }: TestCard): Promise<Json> => {
  const { accountBalance, holdBalance } = payloadOf(await issuer.get(`/api/v0/partner/svcCard/${svcCardId}`))
  return { accountBalance, holdBalance }
}
const reasonsOf = async ({ svcCardId }: TestCard): Promise<string[]> => {
  const found = await sql<{ reason: string }>(
    'select reason from card_exceptions where svc_card_id = $1 order by reason',
    [svcCardId],
  )
  return found.map(({ reason }) => reason)
}
const eventsOf = async ({ svcCardId }: TestCard): Promise<string[]> => {
  const found = await sql<{ type: string }>(
    'select type from outbox where object_id = $1 order by created_at, event_id',
    [svcCardId],
  )
  return found.map(({ type }) => type)
}
/** The time of the card's open holds has passed. */
async function expire({ svcCardId }: TestCard): Promise<void> {
  await sql(
    `update card_authorizations set expires_at = now() - interval '1 second' where svc_card_id = $1`,
    [svcCardId],
  )
  await expireCardHolds(service.app.services)
}

const UNDONE = [
  [['void', 'capture'], 'capture_after_void'],
  [['void', 'expiry', 'capture'], 'capture_after_void'],
  [['expiry', 'void', 'capture'], 'capture_after_void'],
  [['capture', 'void'], 'void_after_capture'],
  [['capture', 'expiry', 'void'], 'void_after_capture'],
  [['expiry', 'capture', 'void'], 'void_after_capture'],
] as const

test.each(UNDONE)(
  'for an authorisation, %s: one exception, %s; the amount is debited once',
  async (order, reason) => {
    const card = await newCard()
    const identity = newIdentity()
    await card.terminal.authorize(100, identity)
    const happen = {
      void: () => card.terminal.void(referenceTo(identity)),
      expiry: () => expire(card),
      capture: () => card.terminal.capture(100, referenceTo(identity)),
    }
    for (const each of order) await happen[each]()
    expect(await reasonsOf(card)).toEqual([reason])
    expect(await moneyOf(card)).toEqual({ accountBalance: 400, holdBalance: 0 })
  },
)

test('a void of an expired hold is recorded without an event and releases nothing, also when repeated', async () => {
  const card = await newCard()
  const { authorizationId } = await card.terminal.authorize(100)
  await expire(card)
  for (let n = 0; n < 2; n++) {
    const voided = await card.terminal.void({ authorizationId })
    expect(voided).toMatchObject({ status: 'recorded', authorizationId, otbBalance: 500 })
    expect(voided).not.toHaveProperty('releasedAmount')
  }
  expect(await eventsOf(card)).toEqual(['card.created', 'card.authorized', 'card.hold_expired'])
  expect(await reasonsOf(card)).toEqual([])
})

test('a forced post of an authorisation whose expired hold was voided is an exception, too', async () => {
  const card = await newCard()
  const { authorizationId } = await card.terminal.authorize(100)
  await expire(card)
  await card.terminal.void({ authorizationId })
  await card.terminal.advise('forced_post', 100, { authorizationId })
  expect(await reasonsOf(card)).toEqual(['capture_after_void'])
  expect(await moneyOf(card)).toEqual({ accountBalance: 400, holdBalance: 0 })
})

const IN_PART = [
  [['void', 'capture']],
  [['capture', 'void']],
  [['void', 'expiry', 'capture']],
  [['expiry', 'void', 'capture']],
  [['expiry', 'capture', 'void']],
] as const

test.each(IN_PART)(
  'for an authorisation, %s of a part each: no exception; a capture of the voided part is one',
  async (order) => {
    const card = await newCard()
    const { authorizationId } = await card.terminal.authorize(100)
    const happen = {
      void: () => card.terminal.void({ authorizationId, amount: 40 }),
      expiry: () => expire(card),
      capture: () => card.terminal.capture(60, { authorizationId }),
    }
    for (const each of order) await happen[each]()
    expect(await reasonsOf(card)).toEqual([])
    await card.terminal.capture(10, { authorizationId })
    expect(await reasonsOf(card)).toEqual(['capture_after_void'])
    expect(await moneyOf(card)).toEqual({ accountBalance: 430, holdBalance: 0 })
  },
)

test('a capture after a void that arrived too late is an exception, as the void is', async () => {
  const card = await newCard()
  const { authorizationId } = await card.terminal.authorize(100)
  await card.terminal.capture(100, { authorizationId })
  await card.terminal.void({ authorizationId })
  await card.terminal.capture(10, { authorizationId })
  expect(await reasonsOf(card)).toEqual(['capture_after_void', 'void_after_capture'])
})

test('of a concurrent capture and void of an expired hold, from two processes, one is an exception', async () => {
  const reasons = await Promise.all(
    Array.from({ length: ROUNDS }, async () => {
      const card = await newCard(100)
      const { authorizationId } = await card.terminal.authorize(60)
      await expire(card)
      await Promise.all([
        card.terminal.capture(60, { authorizationId }),
        card.there.void({ authorizationId }),
      ])
      expect(await moneyOf(card)).toEqual({ accountBalance: 40, holdBalance: 0 })
      return reasonsOf(card)
    }),
  )
  for (const found of reasons) expect([['capture_after_void'], ['void_after_capture']]).toContainEqual(found)
})

const ORDERS = [
  ['authorisation', 'part', 'final'],
  ['authorisation', 'final', 'part'],
  ['part', 'authorisation', 'final'],
  ['part', 'final', 'authorisation'],
  ['final', 'authorisation', 'part'],
  ['final', 'part', 'authorisation'],
] as const

test.each(ORDERS)(
  'an authorisation, a partial capture and a final capture leave no hold in the order %s, %s, %s',
  async (...order) => {
    const card = await newCard()
    const identity = newIdentity()
    const send = {
      authorisation: () => card.terminal.authorize(150, identity),
      part: () => card.terminal.capture(60, referenceTo(identity)),
      final: () => card.terminal.capture(30, { ...referenceTo(identity), final: true }),
    }
    const responses: Json[] = []
    for (const message of order) responses.push(await send[message]())
    expect(responses[order.indexOf('authorisation')]).toMatchObject({
      status: 'approved',
      responseCode: '00',
      authorizationCode: expect.stringMatching(/^\d{6}$/),
    })
    expect(await moneyOf(card)).toEqual({ accountBalance: 410, holdBalance: 0 })
    expect(responses.at(-1)).toMatchObject({ otbBalance: 410 })
  },
)

test('an authorisation that arrives after a final capture is approved without a hold, as is its repeat', async () => {
  const card = await newCard()
  const identity = newIdentity()
  await card.terminal.capture(100, { ...referenceTo(identity), final: true })
  const message = { amount: 150, channel: 'pos', ...identity }
  const first = await card.terminal.send('authorizations', message)
  expect(payloadOf(first)).toMatchObject({ status: 'approved', accountBalance: 400, otbBalance: 400 })
  expect(payloadOf(first)).not.toHaveProperty('authorizationId')
  expect((await card.terminal.send('authorizations', message)).text).toBe(first.text)
  expect(await eventsOf(card)).toEqual(['card.created', 'card.captured'])
  expect(await sql('select from card_authorizations where svc_card_id = $1', [card.svcCardId])).toEqual([])
})

test.each([['authorisation', 'capture'] as const, ['capture', 'authorisation'] as const])(
  'an authorisation and a partial capture result in the same hold in the order %s, %s',
  async (...order) => {
    const card = await newCard()
    const identity = newIdentity()
    const send = {
      authorisation: () => card.terminal.authorize(150, identity),
      capture: () => card.terminal.capture(60, referenceTo(identity)),
    }
    for (const message of order) await send[message]()
    expect(await moneyOf(card)).toEqual({ accountBalance: 440, holdBalance: 90 })
    expect(await card.terminal.capture(90, referenceTo(identity))).toMatchObject({ debitedAmount: 90 })
    expect(await moneyOf(card)).toEqual({ accountBalance: 350, holdBalance: 0 })
  },
)

test('an authorisation that arrives after its capture is decided on the remaining amount', async () => {
  const captured = async (loadAmount: number, amount: number, authorized: number) => {
    const card = await newCard(loadAmount)
    const identity = newIdentity()
    await card.terminal.capture(amount, referenceTo(identity))
    const { status, reason } = await card.terminal.authorize(authorized, identity)
    return [status, reason]
  }
  expect(await captured(100, 60, 100)).toEqual(['approved', undefined])
  expect(await captured(100, 60, 101)).toEqual(['declined', 'insufficient_funds'])
  // The limit of a transaction is for the whole amount; what was captured counts towards that of the day once.
  expect(await captured(5000, 400, 400)).toEqual(['approved', undefined])
  expect(await captured(5000, 400, 401)).toEqual(['declined', 'over_transaction_limit'])
})

test('a void of an authorisation that arrives after its capture releases the remainder', async () => {
  const card = await newCard()
  const identity = newIdentity()
  await card.terminal.capture(60, referenceTo(identity))
  await card.terminal.authorize(150, identity)
  expect(await card.terminal.void(referenceTo(identity))).toMatchObject({
    releasedAmount: 90,
    otbBalance: 440,
  })
  expect(await moneyOf(card)).toEqual({ accountBalance: 440, holdBalance: 0 })
})

test('a concurrent authorisation and final capture, from two processes, leave no hold', async () => {
  await Promise.all(
    Array.from({ length: ROUNDS }, async () => {
      const card = await newCard(100)
      const identity = newIdentity()
      const [authorized] = await Promise.all([
        card.terminal.authorize(60, identity),
        card.there.capture(40, { ...referenceTo(identity), final: true }),
      ])
      expect(authorized).toMatchObject({ status: 'approved' })
      expect(await moneyOf(card)).toEqual({ accountBalance: 60, holdBalance: 0 })
    }),
  )
})
