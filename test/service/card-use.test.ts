import { CARD_CHECKS } from '@svc/core/cards/card/reconcile-cards'
import { reconcile } from '@svc/core/ledger/reconcile'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { passMidnight } from '../harness/business-day.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let client: Client

beforeAll(async () => {
  service = await openService()
  passMidnight(service)
  partner = await newPartner(service)
  client = await asPartner(service.client, partner)
})
afterAll(async () => {
  const books = await reconcile(service.app.services.database, CARD_CHECKS)
  await service.close()
  expect(books.checks.filter(({ ok }) => !ok)).toEqual([])
})

const path = (svcCardId: string, rest = '') => `/api/v0/partner/svcCard/${svcCardId}${rest}`
const newCard = async (order: object = {}): Promise<Json> =>
  payloadOf(await createCard(client, partner, order))
const setStatus = (svcCardId: string, status: string, reason?: string) =>
  client.patch(path(svcCardId, '/status'), { status, ...(reason !== undefined && { reason }) })
const activate = (svcCardId: string) => client.post(path(svcCardId, '/activate'))
const card = async (svcCardId: string): Promise<Json> => payloadOf(await client.get(path(svcCardId)))
const spend = (svcCardId: string, amount: number, channel = 'pos', headers = {}) =>
  service.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount, channel }, headers)
const refund = (svcCardId: string, amount: number) =>
  service.client.post(`/sandbox/cards/${svcCardId}/refund`, { amount })

interface Event {
  readonly type: string
  readonly payload: Json
  readonly at: Date
}

const eventsOf = async (svcCardId: string): Promise<Event[]> => {
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query<Event>(
      'select type, payload, created_at as at from outbox where object_id = $1 order by created_at',
      [svcCardId],
    ),
  )
  return rows
}

test('a channel is open only while both of its flags are on', async () => {
  for (const channel of ['pos', 'atm', 'online'])
    for (const [user, admin] of [
      [true, true],
      [true, false],
      [false, true],
      [false, false],
    ] as const) {
      const { svcCardId } = await newCard()
      await asSuperuser(service.db.database, (db) =>
        db.query(
          `update cards set ${channel}_allowed = $2, ${channel}_allowed_admin = $3 where svc_card_id = $1`,
          [svcCardId, user, admin],
        ),
      )
      const response = await spend(svcCardId, 1, channel)
      if (user && admin) expect(payloadOf(response).otbBalance).toBe(499)
      else expect(response).toMatchObject({ status: 422, error: 'channel_not_allowed' })
    }
})

test('spends and refunds change the balance exactly to the paisa and count in the used fields', async () => {
  const { svcCardId } = await newCard({ loadAmount: 1000 })
  expect(payloadOf(await spend(svcCardId, 249.55))).toMatchObject({
    svcCardId,
    amount: 249.55,
    channel: 'pos',
    otbBalance: 750.45,
  })
  expect(payloadOf(await spend(svcCardId, 0.01, 'online')).otbBalance).toBe(750.44)
  expect(payloadOf(await refund(svcCardId, 49.56))).toMatchObject({ amount: 49.56, otbBalance: 800 })
  expect(await card(svcCardId)).toMatchObject({
    otbBalance: 800,
    accountBalance: 800,
    loadAmount: '1000',
    usedDtd: 200,
    usedMtd: 200,
    usedYtd: 200,
    usedLtd: 200,
  })
  expect(payloadOf(await spend(svcCardId, 0.5)).otbBalance).toBe(799.5)
  expect((await card(svcCardId)).otbBalance).toBe(799)
})

test('a refund on a later day does not make the used amount of that day negative', async () => {
  const { svcCardId } = await newCard({ loadAmount: 1000 })
  await spend(svcCardId, 300)
  service.clock.advance(24 * 3_600_000)
  client = await asPartner(service.client, partner)
  expect(payloadOf(await refund(svcCardId, 100)).otbBalance).toBe(800)
  expect(await card(svcCardId)).toMatchObject({ usedDtd: 0, usedLtd: 200 })
})

test('a spend over the balance and a refund over the spent amount change nothing', async () => {
  const { svcCardId } = await newCard()
  expect(await spend(svcCardId, 500.01)).toMatchObject({ status: 422, error: 'card_balance_too_low' })
  expect(await refund(svcCardId, 0.01)).toMatchObject({ status: 422, error: 'refund_over_spent' })
  expect(payloadOf(await spend(svcCardId, 500)).otbBalance).toBe(0)
  expect(payloadOf(await refund(svcCardId, 499.99)).otbBalance).toBe(499.99)
  expect(await refund(svcCardId, 0.02)).toMatchObject({ status: 422, error: 'refund_over_spent' })
  expect(payloadOf(await refund(svcCardId, 0.01)).otbBalance).toBe(500)
})

test('amounts that are not positive rupees exact to the paisa are rejected', async () => {
  const { svcCardId } = await newCard()
  for (const amount of [0, -1, 0.001, 1.005, 1e8, '5', null])
    expect((await spend(svcCardId, amount as number)).status, String(amount)).toBe(400)
})

test('locked, blocked and not yet activated cards cannot spend; they still accept refunds', async () => {
  const { svcCardId } = await newCard()
  payloadOf(await spend(svcCardId, 100))
  payloadOf(await setStatus(svcCardId, 'L'))
  expect(await spend(svcCardId, 1)).toMatchObject({ status: 422, error: 'card_not_usable' })
  expect(payloadOf(await refund(svcCardId, 40)).otbBalance).toBe(440)
  payloadOf(await setStatus(svcCardId, 'BL', 'stolen'))
  expect(await spend(svcCardId, 1)).toMatchObject({ status: 422, error: 'card_not_usable' })
  expect(payloadOf(await refund(svcCardId, 60)).otbBalance).toBe(500)
  const physical = await newCard({ physicalCard: true })
  expect(await spend(physical.svcCardId, 1)).toMatchObject({ status: 422, error: 'card_not_usable' })
  payloadOf(await activate(physical.svcCardId))
  expect(payloadOf(await spend(physical.svcCardId, 1)).otbBalance).toBe(499)
})

test('a nonexistent card cannot be used', async () => {
  for (const id of [`card_${'0'.repeat(26)}`, 'x', 'card_%00']) {
    expect(await spend(id, 1)).toMatchObject({ status: 404, error: 'card_not_found' })
    expect(await refund(id, 1)).toMatchObject({ status: 404, error: 'card_not_found' })
  }
})

test('the events of spends and refunds contain the receipt, and no number', async () => {
  const { svcCardId } = await newCard()
  const spent = payloadOf(
    await service.client.post(`/sandbox/cards/${svcCardId}/spend`, {
      amount: 12.5,
      channel: 'online',
      merchantName: 'Book Shop',
    }),
  )
  const refunded = payloadOf(await refund(svcCardId, 2.5))
  const events = await eventsOf(svcCardId)
  expect(events.map(({ type }) => type)).toEqual(['card.created', 'card.spent', 'card.refunded'])
  expect(events[1]!.payload).toEqual(spent)
  expect(events[1]!.payload).toEqual({
    transactionId: expect.stringMatching(/^trf_/),
    svcCardId,
    amount: 12.5,
    channel: 'online',
    merchantName: 'Book Shop',
    otbBalance: 487.5,
    createdOn: expect.any(String),
  })
  expect(events[2]!.payload).toEqual(refunded)
  expect(JSON.stringify(events)).not.toMatch(/\b\d{16}\b/)
})

test('the same Idempotency-Key spends once and returns the same bytes', async () => {
  const { svcCardId } = await newCard()
  const key = { 'idempotency-key': `till-${svcCardId}` }
  const responses = await Promise.all(Array.from({ length: 8 }, () => spend(svcCardId, 10, 'pos', key)))
  expect(new Set(responses.map(({ text }) => text)).size).toBe(1)
  expect((await card(svcCardId)).usedLtd).toBe(10)
  expect(await spend(svcCardId, 11, 'pos', key)).toMatchObject({
    status: 422,
    error: 'idempotency_key_reused',
  })
  const change = { 'idempotency-key': `lock-${svcCardId}` }
  const locked = await client.patch(path(svcCardId, '/status'), { status: 'L' }, change)
  payloadOf(await setStatus(svcCardId, 'UL'))
  expect((await client.patch(path(svcCardId, '/status'), { status: 'L' }, change)).text).toBe(locked.text)
  expect((await card(svcCardId)).cardStatus.name).toBe('UL')
})

test('64 concurrent callers never spend more than the card has, nor refund more than it spent', async () => {
  const { svcCardId } = await newCard({ loadAmount: 100 })
  const spends = await Promise.all(Array.from({ length: 64 }, () => spend(svcCardId, 3)))
  expect(spends.filter(({ status }) => status === 200)).toHaveLength(33)
  for (const refused of spends.filter(({ status }) => status !== 200))
    expect(refused.error).toBe('card_balance_too_low')
  expect(await card(svcCardId)).toMatchObject({ otbBalance: 1, usedLtd: 99 })
  const refunds = await Promise.all(Array.from({ length: 64 }, () => refund(svcCardId, 2)))
  expect(refunds.filter(({ status }) => status === 200)).toHaveLength(49)
  expect(await card(svcCardId)).toMatchObject({ otbBalance: 99, usedLtd: 1 })
})

test('two processes on one database never overspend a card together', async () => {
  const second = await openService({ db: service.db })
  try {
    const { svcCardId } = await newCard({ loadAmount: 100 })
    const responses = await Promise.all(
      Array.from({ length: 64 }, (_, i) =>
        (i % 2 ? service : second).client.post(`/sandbox/cards/${svcCardId}/spend`, {
          amount: 3,
          channel: 'pos',
        }),
      ),
    )
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(33)
    expect((await card(svcCardId)).otbBalance).toBe(1)
  } finally {
    await second.close()
  }
})

test('a lock concurrent with spends: every accepted spend came before the lock', async () => {
  for (let round = 0; round < 10; round++) {
    const { svcCardId } = await newCard()
    const [locked, ...spends] = await Promise.all([
      setStatus(svcCardId, 'L'),
      ...Array.from({ length: 16 }, () => spend(svcCardId, 1)),
    ])
    payloadOf(locked)
    const accepted = spends.filter(({ status }) => status === 200).length
    expect(await card(svcCardId)).toMatchObject({ usedLtd: accepted, cardStatus: { name: 'L' } })
    expect(await spend(svcCardId, 1)).toMatchObject({ error: 'card_not_usable' })
    const events = await eventsOf(svcCardId)
    const lockedAt = events.find(({ type }) => type === 'card.status_changed')!.at.getTime()
    for (const { type, at } of events)
      if (type === 'card.spent') expect(at.getTime()).toBeLessThanOrEqual(lockedAt)
  }
})
