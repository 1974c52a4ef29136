import { checkInvariants } from '@svc/console-api/invariants'
import { expireCardHolds } from '@svc/core/cards/rail/expire-card-holds'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { passMidnight, waitForMidnight } from '../harness/business-day.ts'
import { newIdentity, referenceTo, Terminal } from '../harness/card-rail.ts'
import { Client, type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { type ServiceProcess, startProcesses } from '../harness/processes.ts'
import { asSuperuser, CARD_RAIL_KEY, MASTER_KEY, openService, type TestService } from '../harness/service.ts'

const RULES = '/api/v0/partner/spend-rules'

let service: TestService
/** Beside `service`, by the machine’s time. */
let twin: TestService
let other: ServiceProcess
let otherClient: Client

beforeAll(async () => {
  service = await openService()
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, CARD_RAIL_KEYS: CARD_RAIL_KEY }
  ;[other] = (await startProcesses(1, env, service.app.services.config.DATA_DIR)) as [ServiceProcess]
  otherClient = await Client.open(other.baseUrl)
  twin = await openService({ db: service.db })
  passMidnight(service)
})
afterAll(async () => {
  await other?.end('SIGTERM')
  await twin?.close()
  const broken = (await checkInvariants(service.app.services.database)).flatMap(({ name, violations }) =>
    violations.length > 0 ? [[name, violations]] : [],
  )
  await service.close()
  expect(broken).toEqual([])
})

interface World {
  readonly partner: TestPartner
  readonly issuer: Client
  readonly newCard: (order?: object) => Promise<{ svcCardId: string; terminal: Terminal; there: Terminal }>
  /** Sets a rule; returns its id. */
  readonly rule: (terms: object) => Promise<string>
  readonly backtest: (proposal?: object) => Promise<Json>
}

/** A partner of its own, so that rules of one test decline nothing of another. */
async function newWorld(at = service): Promise<World> {
  const partner = await newPartner(at)
  const issuer = await asPartner(at.client, partner)
  return {
    partner,
    issuer,
    async newCard(order = {}) {
      const { svcCardId, token } = payloadOf(await createCard(issuer, partner, order))
      return {
        svcCardId,
        terminal: new Terminal(at.client, token),
        there: new Terminal(otherClient, token),
      }
    },
    rule: async (terms) => payloadOf(await issuer.post(RULES, { name: 'A rule', ...terms })).spendRuleId,
    backtest: async (proposal = {}) => payloadOf(await issuer.post(`${RULES}/backtest`, proposal)),
  }
}

const declinedBy = (spendRuleId: string, reason: string, responseCode: string) => ({
  status: 'declined',
  reason,
  responseCode,
  spendRuleId,
})
const isApproved = ({ status }: Json) => status === 'approved'

test('a category or country in another form may be any: a rule that asks for one is about it', async () => {
  const { rule, newCard } = await newWorld()
  const { terminal } = await newCard()
  const bets = await rule({ mccs: ['7995'] })
  for (const mcc of ['MCC 7995', '07995', '７９９５', { code: 7995 }])
    expect(await terminal.authorize(1, { mcc })).toMatchObject({ spendRuleId: bets })
  const abroad = await rule({ countries: ['US'] })
  expect(await terminal.authorize(1, { merchantCountry: 'USA' })).toMatchObject({ spendRuleId: abroad })
  expect(await terminal.authorize(1, { merchantCountry: 'IN' })).toMatchObject({ status: 'approved' })
})

test('a rule without limits declines what its conditions fit, and its transaction and event name it', async () => {
  const { issuer, rule, newCard } = await newWorld()
  const { svcCardId, terminal } = await newCard()
  const spendRuleId = await rule({ mccs: ['7995', '4800-4899'], name: 'No bets' })
  const declined = declinedBy(spendRuleId, 'blocked_by_rule', '57')
  expect(await terminal.authorize(10, { mcc: '7995' })).toMatchObject(declined)
  expect(await terminal.authorize(10, { mcc: 4850 })).toMatchObject(declined)
  expect(await terminal.authorize(0, { mcc: '7995' })).toMatchObject(declined)
  expect(await terminal.authorize(10, { mcc: '5411' })).toMatchObject({ status: 'approved' })
  expect(await terminal.authorize(10)).toMatchObject({ status: 'approved' })
  const { data } = payloadOf(
    await issuer.get(`/api/v0/partner/svcCard/${svcCardId}/transactions?status=declined`),
  )
  expect(data).toHaveLength(3)
  expect(data[0]).toMatchObject({ spendRuleId, reason: 'blocked_by_rule', responseCode: '57' })
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query(`select payload from outbox where type = 'card.declined' and object_id = $1`, [svcCardId]),
  )
  expect(rows).toMatchObject([declined, declined, declined].map((payload) => ({ payload })))
  const removed = payloadOf(await issuer.send('DELETE', `${RULES}/${spendRuleId}`))
  expect(removed).toMatchObject({ spendRuleId, removedOn: expect.any(String) })
  expect(payloadOf(await issuer.send('DELETE', `${RULES}/${spendRuleId}`))).toEqual(removed)
  expect(await terminal.authorize(10, { mcc: '7995' })).toMatchObject({ status: 'approved' })
})

test('the sandbox’s terminal is declined by the rule that declines an authorisation, and names it', async () => {
  const { issuer, rule, newCard } = await newWorld()
  const { svcCardId, terminal } = await newCard()
  const beside = await newCard()
  const spend = async (amount: number, more: object = {}, of = svcCardId) =>
    service.client.post(`/sandbox/cards/${of}/spend`, { amount, channel: 'pos', ...more })
  const refusedBy = async (response: ReturnType<typeof spend>) => {
    const { error, errorDescription } = await response
    return [error, errorDescription]
  }
  const code = 'declined_by_spend_rule'
  const bets = await rule({ svcCardId, name: 'No bets', mccs: ['7995'] })
  const text = `The spend rule ${bets} (No bets) declines it: blocked_by_rule`
  expect(await refusedBy(spend(1, { mcc: '7995' }))).toEqual([code, text])
  payloadOf(await spend(1, { mcc: '5411' }))
  payloadOf(await spend(1, { mcc: '7995' }, beside.svcCardId))
  const online = await rule({ svcCardId, channels: ['ecommerce'], countries: ['US'] })
  expect((await spend(1, { channel: 'online', merchantCountry: 'US' })).errorDescription).toContain(online)
  payloadOf(await spend(1, { channel: 'pos', merchantCountry: 'US' }))
  const day = await rule({ svcCardId, dayAmount: 100, transactionAmount: 60 })
  const declined = async (amount: number) => (await spend(amount)).errorDescription
  expect(await declined(60.01)).toContain(`${day} (A rule) declines it: over_rule_transaction_limit`)
  expect(await terminal.authorize(60)).toMatchObject({ status: 'approved' })
  expect(await declined(40.01)).toContain('over_rule_day_limit')
  payloadOf(await spend(40))
  await issuer.send('DELETE', `${RULES}/${day}`)
  payloadOf(await spend(60.01))
  payloadOf(await service.client.post(`/sandbox/cards/${svcCardId}/refund`, { amount: 60.01 }))
})

test('a list of what is permitted declines what states no code; channels and countries are conditions too', async () => {
  const { rule, newCard } = await newWorld()
  const { svcCardId, terminal } = await newCard()
  const food = await rule({ svcCardId, exceptMccs: ['5411'] })
  expect(await terminal.authorize(1)).toMatchObject({ spendRuleId: food })
  expect(await terminal.authorize(1, { mcc: '5812' })).toMatchObject({ spendRuleId: food })
  const abroad = await rule({ exceptCountries: ['IN'], channels: ['pos'] })
  expect(await terminal.authorize(1, { mcc: '5411' })).toMatchObject({ spendRuleId: abroad })
  expect(await terminal.authorize(1, { mcc: '5411', merchantCountry: 'US' })).toMatchObject({
    spendRuleId: abroad,
  })
  expect(await terminal.authorize(1, { mcc: '5411', channel: 'ecommerce' })).toMatchObject({
    status: 'approved',
  })
  expect(await terminal.authorize(1, { mcc: '5411', merchantCountry: 'in' })).toMatchObject({
    status: 'approved',
  })
})

test('of several rules that decline, that of the card is named, then that of its account, then that of the partner', async () => {
  const { issuer, partner, rule, newCard } = await newWorld()
  const { svcCardId, terminal } = await newCard()
  const ofPartner = await rule({ transactionAmount: 50 })
  const ofAccount = await rule({ transactionAmount: 50, cardAccountId: partner.cardAccountId })
  const ofCard = await rule({ transactionAmount: 50, svcCardId })
  for (const spendRuleId of [ofCard, ofAccount, ofPartner]) {
    const declined = declinedBy(spendRuleId, 'over_rule_transaction_limit', '61')
    expect(await terminal.authorize(50.01)).toMatchObject(declined)
    await issuer.send('DELETE', `${RULES}/${spendRuleId}`)
  }
  expect(await terminal.authorize(50.01)).toMatchObject({ status: 'approved' })
})

test('limits of a day and a month count what is held and captured; voids, smaller captures and expiry give back', async () => {
  const { rule, newCard } = await newWorld()
  const { svcCardId, terminal } = await newCard()
  const day = await rule({ svcCardId, dayAmount: 100, dayCount: 4 })
  const first = await terminal.authorize(60)
  expect(first).toMatchObject({ status: 'approved' })
  expect(await terminal.authorize(40.01)).toMatchObject(declinedBy(day, 'over_rule_day_limit', '61'))
  await terminal.void({ authorizationId: first.authorizationId, amount: 20 })
  const second = await terminal.authorize(60)
  expect(second).toMatchObject({ status: 'approved' })
  expect(await terminal.authorize(1)).toMatchObject({ spendRuleId: day })
  await terminal.capture(10, { authorizationId: second.authorizationId, final: true })
  expect(await terminal.authorize(50)).toMatchObject({ status: 'approved' })
  expect(await terminal.authorize(0.01)).toMatchObject({ spendRuleId: day })
  await terminal.void({ authorizationId: first.authorizationId })
  // The count: two are left of the day, and one more; the fifth is too many.
  expect(await terminal.authorize(1)).toMatchObject({ status: 'approved' })
  expect(await terminal.authorize(1)).toMatchObject({ status: 'approved' })
  expect(await terminal.authorize(1)).toMatchObject(declinedBy(day, 'over_rule_day_count', '65'))
  await asSuperuser(service.db.database, (db) =>
    db.query(`update card_authorizations set expires_at = clock_timestamp() where svc_card_id = $1`, [
      svcCardId,
    ]),
  )
  await expireCardHolds(service.app.services)
  expect(await terminal.authorize(90)).toMatchObject({ status: 'approved' })
  expect(await terminal.authorize(0.01)).toMatchObject({ spendRuleId: day })
})

test('cards of an account count together, or each for itself', async () => {
  const { partner, rule, newCard } = await newWorld()
  const [one, two] = [await newCard(), await newCard()]
  const { cardAccountId } = partner
  const together = await rule({ cardAccountId, monthAmount: 300 })
  const each = await rule({ cardAccountId, monthCount: 2, perCard: true })
  expect(await one.terminal.authorize(100)).toMatchObject({ status: 'approved' })
  expect(await one.terminal.authorize(100)).toMatchObject({ status: 'approved' })
  expect(await one.terminal.authorize(1)).toMatchObject(declinedBy(each, 'over_rule_month_count', '65'))
  expect(await two.terminal.authorize(100.01)).toMatchObject(
    declinedBy(together, 'over_rule_month_limit', '61'),
  )
  expect(await two.terminal.authorize(100)).toMatchObject({ status: 'approved' })
})

test('authorisations of several cards at two processes never pass one limit', async () => {
  await waitForMidnight()
  const { rule, newCard } = await newWorld(twin)
  const cards = await Promise.all(Array.from({ length: 6 }, () => newCard()))
  await rule({ dayAmount: 1_000 })
  await rule({ dayCount: 50 })
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) => {
      const { terminal, there } = cards[n % cards.length]!
      return (n % 2 ? terminal : there).authorize(30)
    }),
  )
  expect(answers.filter(isApproved)).toHaveLength(33)
})

test('a rule that replaces another goes on with what was used of it, and follows its card to the next', async () => {
  const { issuer, rule, newCard } = await newWorld()
  const { svcCardId, terminal } = await newCard()
  const first = await rule({ svcCardId, dayAmount: 100 })
  await terminal.authorize(80)
  const second = await rule({ svcCardId, dayAmount: 120, replaces: first })
  expect(await terminal.authorize(40.01)).toMatchObject({ spendRuleId: second })
  expect(await terminal.authorize(30)).toMatchObject({ status: 'approved' })
  const elsewhere = await issuer.post(RULES, { name: 'No', dayAmount: 1, replaces: second })
  expect(elsewhere).toMatchObject({ status: 400 })
  const again = await issuer.post(RULES, { name: 'No', dayAmount: 1, svcCardId, replaces: first })
  expect(again).toMatchObject({ status: 400 })
  const next = payloadOf(
    await issuer.post(`/api/v0/partner/svcCard/${svcCardId}/replace`, { reason: 'lost' }),
  )
  const { token, svcCardId: nextId } = next.card ?? next
  const shop = new Terminal(service.client, token)
  expect(await shop.authorize(10.01)).toMatchObject({ spendRuleId: second })
  expect(payloadOf(await issuer.get(`${RULES}/${second}`)).svcCardId).toBe(nextId)
})

test('rules are of the partner’s own cards, and twenty of one are enough', async () => {
  const [mine, others] = [await newWorld(), await newWorld()]
  const { svcCardId } = await others.newCard()
  expect(await mine.issuer.post(RULES, { name: 'x', dayAmount: 1, svcCardId })).toMatchObject({ status: 404 })
  const { cardAccountId } = others.partner
  expect(await mine.issuer.post(RULES, { name: 'x', dayAmount: 1, cardAccountId })).toMatchObject({
    status: 404,
  })
  const spendRuleId = await others.rule({ dayAmount: 1 })
  expect(await mine.issuer.get(`${RULES}/${spendRuleId}`)).toMatchObject({ status: 404 })
  expect(await mine.issuer.send('DELETE', `${RULES}/${spendRuleId}`)).toMatchObject({ status: 404 })
  const set = await Promise.all(
    Array.from({ length: 25 }, () => mine.issuer.post(RULES, { name: 'x', transactionAmount: 1 })),
  )
  expect(set.filter(({ status }) => status === 200)).toHaveLength(20)
  expect(set.filter(({ status }) => status === 422)).toHaveLength(5)
})

test('what contradicts itself, or says nothing, is no rule', async () => {
  const { issuer } = await newWorld()
  for (const [field, terms] of [
    ['channels', {}],
    ['exceptMccs', { mccs: ['5411'], exceptMccs: ['5812'] }],
    ['exceptCountries', { countries: ['IN'], exceptCountries: ['US'] }],
    ['mccs[0]', { mccs: ['5812-5411'] }],
    ['perCard', { mccs: ['5812'], perCard: true }],
  ] as const) {
    const response = await issuer.post(RULES, { name: 'x', ...terms })
    expect(response.status).toBe(400)
    expect(JSON.stringify(response.json)).toContain(`"${field} `.slice(1))
  }
})

/** What a card can meet: raises, parts, voids, captures, refunds, declines for several reasons. */
async function live({ terminal }: Awaited<ReturnType<World['newCard']>>): Promise<void> {
  const one = await terminal.authorize(100, { mcc: '5411', merchantCountry: 'IN', merchantName: 'Shop' })
  await terminal.authorize(20, { authorizationId: one.authorizationId })
  await terminal.capture(50, { authorizationId: one.authorizationId })
  const identity = newIdentity()
  await terminal.authorize(80, { ...identity, mcc: '7995' })
  await terminal.void(referenceTo(identity))
  await terminal.authorize(10_000)
  await terminal.authorize(10_000, { partialApproval: true, channel: 'ecommerce', mcc: '7995' })
  await terminal.void({ authorizationId: one.authorizationId })
  const late = newIdentity()
  await terminal.capture(5, { ...late, final: true })
  await terminal.authorize(5, late)
  await terminal.authorize(0)
  await terminal.authorize(3, { authorizationId: 'cau_unknown' })
  const last = await terminal.authorize(4)
  const captured = await terminal.capture(4, { authorizationId: last.authorizationId })
  await terminal.refund(4, { captureId: captured.messageId })
  await terminal.authorize(2)
}

test('a backtest of unchanged rules returns every recorded response byte for byte', async () => {
  const { partner, issuer, rule, newCard, backtest } = await newWorld()
  const cards = [await newCard(), await newCard()]
  await live(cards[0]!)
  const day = await rule({ dayAmount: 150, perCard: true })
  await rule({ cardAccountId: partner.cardAccountId, monthCount: 9 })
  await live(cards[1]!)
  await live(cards[0]!)
  await issuer.send('DELETE', `${RULES}/${day}`)
  await live(cards[1]!)
  const found = await backtest()
  expect(found).toMatchObject({
    examined: 40,
    identical: 40,
    notExamined: 0,
    changed: 0,
    changes: [],
    declined: { count: 0, amount: 0 },
    approved: { count: 0, amount: 0 },
  })
  const { svcCardId } = cards[0]!
  expect(await backtest({ svcCardId })).toMatchObject({ examined: 20, identical: 20 })
  const { cardAccountId } = partner
  expect(await backtest({ cardAccountId })).toMatchObject({ examined: 40, identical: 40 })
  const from = new Date(Date.now() - 91 * 86_400_000).toISOString()
  expect(await issuer.post(`${RULES}/backtest`, { from })).toMatchObject({ status: 400 })
})

test('a backtest says what a rule would have declined, and what of it would then have been approved', async () => {
  const { rule, newCard, backtest } = await newWorld()
  const { terminal } = await newCard()
  await terminal.authorize(300, { mcc: '7995' })
  await terminal.authorize(300, { mcc: '5411' })
  const found = await backtest({ create: [{ mccs: ['7995'] }] })
  expect(found).toMatchObject({
    examined: 2,
    identical: 0,
    changed: 2,
    declined: { count: 1, amount: 300 },
    approved: { count: 1, amount: 300 },
  })
  expect(found.changes).toMatchObject([
    { was: { status: 'approved' }, wouldBe: { reason: 'blocked_by_rule', spendRuleId: 'create[0]' } },
    { was: { reason: 'insufficient_funds', responseCode: '51' }, wouldBe: { status: 'approved' } },
  ])
  const strict = await rule({ dayAmount: 350 })
  await terminal.authorize(100)
  expect(await backtest({ remove: [strict] })).toMatchObject({ changed: 0, identical: 3 })
})

test('a backtest counts limits as the rules would have, with what was given back', async () => {
  const { rule, newCard, backtest } = await newWorld()
  const { terminal } = await newCard()
  const one = await terminal.authorize(60)
  await terminal.authorize(60)
  await terminal.void({ authorizationId: one.authorizationId })
  await terminal.authorize(40)
  await terminal.authorize(30)
  const { changes } = await backtest({ create: [{ dayAmount: 100 }] })
  // The second would have passed the limit, and what it held would have left room for the others.
  expect(changes.map(({ amount, wouldBe }: Json) => [amount, wouldBe.reason])).toEqual([
    [60, 'over_rule_day_limit'],
  ])
  const tight = await rule({ dayAmount: 140 })
  await terminal.authorize(120)
  await terminal.authorize(30)
  const without = { changed: 1, approved: { count: 1, amount: 30 } }
  expect(await backtest({ remove: [tight] })).toMatchObject(without)
  const loose = await backtest({ remove: [tight], create: [{ dayAmount: 250 }] })
  expect(loose).toMatchObject({ changed: 1, changes: [{ wouldBe: { spendRuleId: 'create[0]' } }] })
  expect(await backtest({ remove: [tight], create: [{ dayAmount: 280 }] })).toMatchObject(without)
})
