import { checkInvariants } from '@svc/app/invariants'
import { expireCardHolds } from '@svc/core/cards/expire-card-holds'
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
  'of an authorisation, %s: one exception, %s; the amount is taken once',
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

test('a void of an expired hold is recorded without an event and releases nothing, repeated too', async () => {
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

test('a forced post of an authorisation whose expired hold was voided is an exception too', async () => {
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
  'of an authorisation, %s of a part each: no exception; a capture of what was voided is one',
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

test('a capture after a void that came too late is an exception, as the void is', async () => {
  const card = await newCard()
  const { authorizationId } = await card.terminal.authorize(100)
  await card.terminal.capture(100, { authorizationId })
  await card.terminal.void({ authorizationId })
  await card.terminal.capture(10, { authorizationId })
  expect(await reasonsOf(card)).toEqual(['capture_after_void', 'void_after_capture'])
})

test('of a capture and a void of an expired hold at once, from two processes, one is an exception', async () => {
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
