import { checkInvariants } from '@svc/console-api/invariants'
import { endDueCards } from '@svc/core/cards/end/end-card'
import { expireCardHolds } from '@svc/core/cards/rail/expire-card-holds'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Terminal } from '../harness/card-rail.ts'
import { runHere } from '../harness/cli.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { expectFailure } from '../harness/failure.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let client: Client

beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service)
  client = await asPartner(service.client, partner)
})
afterAll(async () => {
  const broken = (await checkInvariants(service.app.services.database))
    .filter(({ violations }) => violations.length > 0)
    .map(({ name, violations }) => [name, violations])
  await service.close()
  expect(broken).toEqual([])
})

const DAY_MS = 86_400_000
const path = (svcCardId: string, rest = '') => `/api/v0/partner/svcCard/${svcCardId}${rest}`
const newCard = async (order: object = {}): Promise<Json> =>
  payloadOf(await createCard(client, partner, { loadAmount: 500, ...order }))
const card = async (svcCardId: string): Promise<Json> => payloadOf(await client.get(path(svcCardId)))
const end = async (svcCardId: string): Promise<Json> => payloadOf(await client.get(path(svcCardId, '/end')))
const block = async (svcCardId: string): Promise<Json> =>
  payloadOf(await client.patch(path(svcCardId, '/status'), { status: 'BL', reason: 'lost' }))
const replace = (svcCardId: string) => client.post(path(svcCardId, '/replace'), { reason: 'lost' })
const giveBack = (svcCardId: string, consentReference: string) =>
  client.post(path(svcCardId, '/return'), { consentReference })
const sweep = () => endDueCards(service.app.services)
const sql = <T>(text: string, values: unknown[] = []): Promise<T[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as T[])

interface Event {
  readonly type: string
  readonly payload: Json
}
const eventsOf = async (svcCardId: string): Promise<Event[]> =>
  sql(
    `select type, payload from outbox where object_id = $1 and type <> 'card.created' order by created_at, event_id`,
    [svcCardId],
  )
const typesOf = async (svcCardId: string) => (await eventsOf(svcCardId)).map(({ type }) => type)

/** Moves the end of a card so many days into the past, as if they had passed. */
const passDays = (svcCardId: string, days: number) =>
  sql(
    `update cards set unclaimed_at = unclaimed_at - $2 * interval '1 day', due_at = due_at - $2 * interval '1 day'
     where svc_card_id = $1`,
    [svcCardId, days],
  )
const returnWaits = (svcCardId: string) =>
  sql(`update card_returns set due_at = now() - interval '1 second' where svc_card_id = $1`, [svcCardId])
const wake = (svcCardId: string) => sql('update cards set due_at = now() where svc_card_id = $1', [svcCardId])

/** Rupees in an account of the ledger. */
const inAccount = async (accountId: string): Promise<number> => {
  const [row] = await sql<{ balance: string }>('select balance from ledger_accounts where account_id = $1', [
    accountId,
  ])
  return Number(row?.balance) / 100
}
const funding = () => inAccount(`card_funding:${partner.cardAccountId}`)

test('a replaced card has its balance on a new card with another number; the old one is permanently blocked', async () => {
  const old = await newCard()
  const terminal = new Terminal(service.client, old.token)
  const { authorizationId } = await terminal.authorize(100)
  await terminal.capture(100, { authorizationId })
  const response = await replace(old.svcCardId)
  const made = payloadOf(response)
  expect(made).toMatchObject({
    accountBalance: 400,
    otbBalance: 400,
    loadAmount: '400',
    cardStatus: { name: 'UL' },
    userId: old.userId,
    usedLtd: 0,
  })
  expect(made.maskedNumber).not.toBe(old.maskedNumber)
  expect(made.token).not.toBe(old.token)
  expect(await card(old.svcCardId)).toMatchObject({
    accountBalance: 0,
    cardStatus: { name: 'BL' },
    remarks: 'lost',
  })
  expect(await end(old.svcCardId)).toMatchObject({ replacedBy: made.svcCardId, returns: [] })
  expect(await end(made.svcCardId)).toMatchObject({ replaces: old.svcCardId })
  expect(await terminal.authorize(1)).toMatchObject({ status: 'declined', reason: 'card_blocked' })
  expect(await new Terminal(service.client, made.token).authorize(400)).toMatchObject({ status: 'approved' })
  const types = ['card.authorized', 'card.captured', 'card.status_changed', 'card.replaced', 'card.declined']
  expect(await typesOf(old.svcCardId)).toEqual(types)
  const again = payloadOf(await replace(old.svcCardId))
  expect(again.svcCardId).toBe(made.svcCardId)
  expect(await typesOf(old.svcCardId)).toEqual(types)
})

test('held amounts stay on the replaced card until captured or released; the rest moves to the new card, including refunds', async () => {
  const { svcCardId, token } = await newCard()
  const terminal = new Terminal(service.client, token)
  const { authorizationId } = await terminal.authorize(200)
  const made = payloadOf(await replace(svcCardId))
  expect(made.accountBalance).toBe(300)
  expect(await card(svcCardId)).toMatchObject({ accountBalance: 200, holdBalance: 200, otbBalance: 0 })
  await sweep()
  const { messageId: captureId } = await terminal.capture(50, { authorizationId, final: true })
  await sweep()
  expect([(await card(svcCardId)).accountBalance, (await card(made.svcCardId)).accountBalance]).toEqual([
    0, 450,
  ])
  await terminal.refund(20, { captureId })
  await sweep()
  expect([(await card(svcCardId)).accountBalance, (await card(made.svcCardId)).accountBalance]).toEqual([
    0, 470,
  ])
  // The new card is replaced too: what comes back goes all the way.
  const last = payloadOf(await replace(made.svcCardId))
  await terminal.refund(30, { captureId })
  await sweep()
  expect((await card(last.svcCardId)).accountBalance).toBe(500)
  const amounts = (await eventsOf(svcCardId)).filter(({ type }) => type === 'card.replaced')
  expect(amounts.map(({ payload }) => payload.amount)).toEqual([300, 150, 20, 30])
})

test('the amount of a hold that expires on a replaced card moves to the new card, too', async () => {
  const { svcCardId, token } = await newCard()
  await new Terminal(service.client, token).authorize(200)
  const { svcCardId: made } = payloadOf(await replace(svcCardId))
  await sql(
    `update card_authorizations set expires_at = now() - interval '1 second' where svc_card_id = $1`,
    [svcCardId],
  )
  // The service's own loops may be at it too.
  const moved = () => expireCardHolds(service.app.services).then(sweep)
  await expect.poll(() => moved().then(() => card(made))).toMatchObject({ accountBalance: 500 })
})

test('a card with nothing left to move, or with a return in progress, is not replaced', async () => {
  const { svcCardId, token } = await newCard()
  await new Terminal(service.client, token).authorize(500)
  expectFailure(await replace(svcCardId), 'nothing_left')
  const other = await newCard()
  await block(other.svcCardId)
  payloadOf(await giveBack(other.svcCardId, 'letter-1'))
  expectFailure(await replace(other.svcCardId), 'return_waiting')
})

test('with the holder’s consent the balance of a blocked or expired card waits in `unclaimed`, then returns to its card account', async () => {
  const { svcCardId } = await newCard()
  expectFailure(await giveBack(svcCardId, 'letter-1'), 'card_not_ended')
  await block(svcCardId)
  const before = await funding()
  const waits = await inAccount(`unclaimed:${partner.partnerId}`)
  const first = await giveBack(svcCardId, 'letter-1')
  expect(payloadOf(first)).toMatchObject({
    amount: 500,
    status: 'WAITING',
    basis: 'consent',
    consentReference: 'letter-1',
    cardAccountId: partner.cardAccountId,
  })
  expect(payloadOf(await giveBack(svcCardId, 'letter-1'))).toEqual(payloadOf(first))
  expectFailure(await giveBack(svcCardId, 'letter-2'), 'return_waiting')
  expect((await card(svcCardId)).accountBalance).toBe(0)
  expect(await inAccount(`unclaimed:${partner.partnerId}`)).toBe(waits + 500)
  await sweep()
  expect(await funding()).toBe(before)
  await returnWaits(svcCardId)
  await wake(svcCardId)
  await sweep()
  expect(await funding()).toBe(before + 500)
  expect((await end(svcCardId)).returns).toMatchObject([{ amount: 500, status: 'RETURNED' }])
  expectFailure(await giveBack(svcCardId, 'letter-2'), 'nothing_left')
  expect((await typesOf(svcCardId)).slice(-2)).toEqual(['card.return_waiting', 'card.returned'])
})

test('an unclaimed balance is announced 45, 15 and 1 days before, and returns after CARD_UNCLAIMED_DAYS', async () => {
  const { svcCardId } = await newCard()
  await block(svcCardId)
  const { endedOn, unclaimedOn } = await end(svcCardId)
  expect((Date.parse(unclaimedOn) - Date.parse(endedOn)) / DAY_MS).toBe(1_095)
  await sweep()
  expect(await typesOf(svcCardId)).toEqual(['card.status_changed'])
  await passDays(svcCardId, 1_095 - 45)
  await sweep()
  await sweep()
  await passDays(svcCardId, 30)
  await sweep()
  await passDays(svcCardId, 14)
  await sweep()
  const announced = (await eventsOf(svcCardId)).slice(1)
  expect(announced.map(({ type, payload }) => [type, payload.daysLeft, payload.accountBalance])).toEqual([
    ['card.unclaimed_soon', 45, 500],
    ['card.unclaimed_soon', 15, 500],
    ['card.unclaimed_soon', 1, 500],
  ])
  const before = await funding()
  await passDays(svcCardId, 1)
  await sweep()
  expect((await end(svcCardId)).returns).toMatchObject([
    { basis: 'unclaimed', status: 'WAITING', amount: 500 },
  ])
  expect(await funding()).toBe(before)
  await returnWaits(svcCardId)
  await wake(svcCardId)
  await sweep()
  expect(await funding()).toBe(before + 500)
})

test('an operator returns money to the card as long as it waits; it is announced again before it is unclaimed', async () => {
  const settings = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const svc = async (...args: string[]): Promise<Json> => {
    const { code, stdout, stderr } = await runHere(['admin', 'cards', ...args, '--json'], settings)
    return code === 0 ? JSON.parse(stdout) : stderr
  }
  const { svcCardId } = await newCard()
  await block(svcCardId)
  await passDays(svcCardId, 1_095)
  await sweep()
  const [waiting] = await svc('returns', svcCardId, '--status', 'WAITING')
  const reversed = await svc('reverse-return', waiting.returnId, '--reason', 'holder found')
  expect(reversed).toMatchObject({ status: 'REVERSED', reversalReason: 'holder found', amount: 500 })
  expect(await svc('reverse-return', waiting.returnId, '--reason', 'again')).toEqual(reversed)
  expect((await card(svcCardId)).accountBalance).toBe(500)
  await sweep()
  expect((await typesOf(svcCardId)).slice(-2)).toEqual(['card.return_reversed', 'card.unclaimed_soon'])
  expect((await end(svcCardId)).returns).toHaveLength(1)
  const made = await svc('replace', svcCardId, '--reason', 'holder found')
  expect(made).toMatchObject({ accountBalance: 500, cardStatus: { name: 'UL' } })
  expect(await end(made.svcCardId)).toMatchObject({ replaces: svcCardId })
  await svc('block', made.svcCardId, '--reason', 'gives up')
  const consented = await svc('return', made.svcCardId, '--consent', 'letter-9')
  expect(consented).toMatchObject({ status: 'WAITING', basis: 'consent', amount: 500 })
  await returnWaits(made.svcCardId)
  await wake(made.svcCardId)
  await sweep()
  expect(await svc('reverse-return', consented.returnId, '--reason', 'too late')).toContain(
    'has been returned',
  )
})

test('a refund to a blocked or expired card whose money was returned is returned the same way at once, when its days are over', async () => {
  const { svcCardId, token } = await newCard()
  const terminal = new Terminal(service.client, token)
  const { authorizationId } = await terminal.authorize(100)
  const { messageId: captureId } = await terminal.capture(100, { authorizationId })
  await block(svcCardId)
  await passDays(svcCardId, 1_095)
  await sweep()
  await returnWaits(svcCardId)
  await wake(svcCardId)
  await sweep()
  await terminal.refund(100, { captureId })
  await sweep()
  expect((await end(svcCardId)).returns).toMatchObject([
    { amount: 100, status: 'WAITING' },
    { amount: 400, status: 'RETURNED' },
  ])
})

test('a card expires once: announced 30, 7 and 1 days before, and expired afterwards', async () => {
  const { svcCardId } = await newCard()
  const locked = await newCard()
  const { lastDay } = await end(svcCardId)
  const expiryMs = Date.parse(`${lastDay}T18:30:00Z`)
  const moveTo = async (daysBefore: number) => {
    service.clock.advance(expiryMs - daysBefore * DAY_MS + 60_000 - service.clock.now())
    client = await asPartner(service.client, partner)
    await sweep()
  }
  for (const days of [29, 7, 1]) await moveTo(days)
  await block(locked.svcCardId)
  await moveTo(0)
  await sweep()
  const announced = await eventsOf(svcCardId)
  expect(announced.map(({ type, payload }) => [type, payload.daysLeft])).toEqual([
    ['card.expiring', 29],
    ['card.expiring', 7],
    ['card.expiring', 1],
    ['card.expired', 0],
  ])
  expect(announced.at(-1)!.payload).toMatchObject({ svcCardId, lastDay, accountBalance: 500 })
  expect((await end(svcCardId)).endedOn).toBeDefined()
  expect((await typesOf(locked.svcCardId)).at(-1)).toBe('card.status_changed')
  const made = payloadOf(await replace(svcCardId))
  expect(made.accountBalance).toBe(500)
  // Three years from the day after the last one.
  expect(Number(made.expiryYear)).toBe(new Date(expiryMs + DAY_MS / 4).getUTCFullYear() + 3)
  expect(await new Terminal(service.client, made.token).authorize(1)).toMatchObject({ status: 'approved' })
})
