import { checkInvariants } from '@svc/console-api/invariants'
import { calendarDay } from '@svc/kernel/time'
import { statement } from '@svc/platform/db/statement'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundsOf } from '../harness/approvals.ts'
import { Terminal } from '../harness/card-rail.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { expectFailure } from '../harness/failure.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
let other: TestService

beforeAll(async () => {
  const env = { CARD_LOAD_LIMITS: 'default=2000/3000/5000/6000,FUEL=700/700/700/900' }
  service = await openService({ env })
  other = await openService({ env, background: false, db: service.db })
})
afterAll(async () => {
  const broken = (await checkInvariants(service.app.services.database))
    .filter(({ violations }) => violations.length > 0)
    .map(({ name, violations }) => [name, violations])
  await other.close()
  await service.close()
  expect(broken).toEqual([])
})

const path = (svcCardId: string, rest = '') => `/api/v0/partner/svcCard/${svcCardId}${rest}`

let references = 0
const request = (amount: number, more: object = {}) => ({
  amount,
  referenceNumber: `move-${++references}`,
  ...more,
})

interface World {
  readonly partner: TestPartner
  readonly issuer: Client
  readonly otherIssuer: Client
  readonly account: string
}

/** A partner whose cards are loaded again, and may be unloaded. */
async function newWorld(plan: Parameters<typeof newPartner>[1] = {}): Promise<World> {
  const partner = await newPartner(service, { accountType: 'MEAL', ...plan })
  const issuer = await asPartner(service.client, partner)
  const account = `/api/v0/partner/card-accounts/${partner.cardAccountId}`
  if (plan.accountType !== 'GIFT') payloadOf(await issuer.patch(account, { unallocateFundAllowed: true }))
  return { partner, issuer, otherIssuer: await asPartner(other.client, partner), account }
}

const newCard = async ({ issuer, partner }: World, loadAmount = 500): Promise<Json> =>
  payloadOf(await createCard(issuer, partner, { loadAmount }))
const load = ({ issuer }: World, svcCardId: string, amount: number, more: object = {}) =>
  issuer.post(path(svcCardId, '/loads'), request(amount, more))
const unload = ({ issuer }: World, svcCardId: string, amount: number, more: object = {}) =>
  issuer.post(path(svcCardId, '/unloads'), request(amount, more))
const show = async ({ issuer }: World, svcCardId: string): Promise<Json> =>
  payloadOf(await issuer.get(path(svcCardId)))
const block = ({ issuer }: World, svcCardId: string) =>
  issuer.patch(path(svcCardId, '/status'), { status: 'BL', reason: 'lost' })

/** The rule of a limit that was exceeded. */
async function overLimit(response: Promise<{ errorDescription?: string | undefined }>): Promise<string> {
  const refused = await response
  expectFailure(refused as never, 'load_over_limit')
  return refused.errorDescription!
}

test('a load and an unload move money between a card and its card account, and are in every list and statement with the balance after them', async () => {
  const world = await newWorld()
  const { issuer, partner, account } = world
  const { svcCardId } = await newCard(world)
  const loaded = payloadOf(await load(world, svcCardId, 250.5, { reason: 'April' }))
  const unloaded = payloadOf(await unload(world, svcCardId, 100.25))
  const { cardAccountId } = partner
  expect(loaded).toEqual({
    loadId: expect.stringMatching(/^cld_/),
    svcCardId,
    cardAccountId,
    kind: 'load',
    amount: 250.5,
    balance: 750.5,
    cardAccountBalance: 999_249.5,
    referenceNumber: expect.any(String),
    reason: 'April',
    transactionId: expect.stringMatching(/^trf_/),
    createdOn: expect.stringMatching(/\+05:30$/),
  })
  expect(unloaded).toMatchObject({ kind: 'unload', balance: 650.25, cardAccountBalance: 999_349.75 })
  const { data } = payloadOf(await issuer.get(path(svcCardId, '/transactions')))
  const moved = ({ referenceNumber, transactionId, createdOn }: Json) => ({
    referenceNumber,
    transactionId,
    createdOn,
    status: 'completed',
  })
  expect(data).toMatchObject([
    { kind: 'unload', direction: 'debit', amount: 100.25, balance: 650.25, ...moved(unloaded) },
    { kind: 'load', direction: 'credit', amount: 250.5, balance: 750.5, ...moved(loaded) },
    { kind: 'load', direction: 'credit', amount: 500, balance: 500 },
  ])
  const statement = payloadOf(await issuer.get(path(svcCardId, '/statement')))
  expect(statement).toMatchObject({ openingBalance: 0, closingBalance: 650.25 })
  const { lines } = payloadOf(await issuer.get(`${account}/statement`))
  expect(lines.slice(-2)).toMatchObject([
    { kind: 'card_reload', amount: -250.5, balance: 999_249.5, svcCardId },
    { kind: 'card_unload', amount: 100.25, balance: 999_349.75, svcCardId },
  ])
  const events = async () =>
    payloadOf(await issuer.get('/api/v0/events')).data.map(({ type, data }: Json) => [type, data])
  await expect.poll(events).toContainEqual(['card.loaded', loaded])
  await expect.poll(events).toContainEqual(['card.unloaded', unloaded])
})

test('a repeat of a reference returns the first response, also from another process at the same time; with another request it is rejected', async () => {
  const world = await newWorld()
  const { svcCardId } = await newCard(world)
  const { svcCardId: another } = await newCard(world)
  const clients = [world.issuer, world.otherIssuer, world.issuer, world.otherIssuer]
  for (const [way, balance] of [
    ['/loads', 600],
    ['/unloads', 500],
  ] as const) {
    const same = request(100)
    const all = await Promise.all(clients.map((client) => client.post(path(svcCardId, way), same)))
    expect(new Set(all.map(({ text }) => text)).size).toBe(1)
    expect(payloadOf(all[0]!)).toMatchObject({ amount: 100, balance })
    expect((await show(world, svcCardId)).accountBalance).toBe(balance)
    const wrong = [
      [svcCardId, way, { ...same, amount: 100.01 }],
      [svcCardId, way, { ...same, reason: 'other' }],
      [another, way, same],
      [svcCardId, way === '/loads' ? '/unloads' : '/loads', same],
    ] as const
    for (const [card, to, body] of wrong)
      expectFailure(await world.issuer.post(path(card, to), body), 'load_reference_in_use')
    expect((await show(world, svcCardId)).accountBalance).toBe(balance)
    expect((await show(world, another)).accountBalance).toBe(500)
  }
})

test('a gift card is loaded once, and its money is never taken back', async () => {
  const world = await newWorld({ accountType: 'GIFT' })
  const { svcCardId } = await newCard(world)
  expectFailure(await load(world, svcCardId, 1), 'card_not_reloadable')
  expectFailure(await unload(world, svcCardId, 1), 'unload_not_allowed')
  const refused = await world.issuer.patch(world.account, { unallocateFundAllowed: true })
  expectFailure(refused, 'validation_failed')
  expect(refused.errorDescription).toContain('unallocateFundAllowed must be false')
  expect(await show(world, svcCardId)).toMatchObject({ accountBalance: 500, unallocateFundAllowed: false })
})

test.each(['RELOADABLE_GPR', 'MEAL', 'FUEL', 'EMPLOYEE_REWARDS', 'VIRTUAL_ACCOUNT'] as const)(
  'a card of account type %s is loaded again',
  async (accountType) => {
    const world = await newWorld({ accountType })
    const { svcCardId } = await newCard(world, 100)
    expect(payloadOf(await load(world, svcCardId, 0.01)).balance).toBe(100.01)
    expect((await show(world, svcCardId)).accountType.name).toBe(accountType)
  },
)

test('what may be taken back follows unallocateFundAllowed of the card account, at once', async () => {
  const world = await newWorld()
  const { svcCardId } = await newCard(world)
  for (const unallocateFundAllowed of [false, true]) {
    const settings = payloadOf(await world.issuer.patch(world.account, { unallocateFundAllowed }))
    expect(settings).toMatchObject({ unallocateFundAllowed })
    expect(await show(world, svcCardId)).toMatchObject({ unallocateFundAllowed })
    const response = await unload(world, svcCardId, 1)
    if (unallocateFundAllowed) expect(payloadOf(response).balance).toBe(499)
    else expectFailure(response, 'unload_not_allowed')
  }
})

test('a load is within the limits of its account type: by load, day, month and balance; the first load counts, and what the replaced card was loaded with', async () => {
  const world = await newWorld()
  const { svcCardId } = await newCard(world)
  const refused = (amount: number) => overLimit(load(world, svcCardId, amount))
  expect(await refused(2000.01)).toBe('A load is at most 2000.00 rupees')
  payloadOf(await load(world, svcCardId, 2000))
  expect(await refused(500.01)).toBe('A day’s loads of the card are at most 3000.00 rupees; 500.00 are left')
  payloadOf(await load(world, svcCardId, 500))
  const clock = `/sandbox/tenants/${world.partner.partnerId}/clock/advance`
  payloadOf(await world.issuer.post(clock, { bySeconds: 32 * 86_400 }))
  const later = { ...world, issuer: await asPartner(service.client, world.partner) }
  const again = (amount: number, card = svcCardId) => load(later, card, amount)
  payloadOf(await again(2000))
  payloadOf(await again(1000))
  const terminal = new Terminal(service.client, (await show(later, svcCardId)).token)
  const { authorizationId } = await terminal.authorize(5000)
  expect(authorizationId).toEqual(expect.any(String))
  const { svcCardId: replacement } = payloadOf(
    await later.issuer.post(path(svcCardId, '/replace'), { reason: 'lost' }),
  )
  expect(await overLimit(again(0.01, replacement))).toBe(
    'A day’s loads of the card are at most 3000.00 rupees; 0.00 are left',
  )
  const fuel = await newWorld({ accountType: 'FUEL' })
  expect(await overLimit(createCard(fuel.issuer, fuel.partner, { loadAmount: 701 }))).toBe(
    'A new card of type FUEL holds at most 700.00 rupees',
  )
  const { svcCardId: tank } = await newCard(fuel, 400)
  expect(await overLimit(load(fuel, tank, 300.01))).toContain('; 300.00 are left')
})

test('the balance after a load is within the limit, whatever the month allows', async () => {
  const world = await newWorld()
  const { svcCardId, token } = await newCard(world, 2000)
  const clock = `/sandbox/tenants/${world.partner.partnerId}/clock/advance`
  const on = async (days: number): Promise<World> => {
    payloadOf(await world.issuer.post(clock, { bySeconds: days * 86_400 }))
    return { ...world, issuer: await asPartner(service.client, world.partner) }
  }
  const may = await on(32)
  payloadOf(await load(may, svcCardId, 2000))
  const june = await on(32)
  expect(await overLimit(load(june, svcCardId, 2000.01))).toContain('A load is at most')
  payloadOf(await load(june, svcCardId, 1500))
  expect(await overLimit(load(june, svcCardId, 500.01))).toBe(
    'After a load the card holds at most 6000.00 rupees; 500.00 are left',
  )
  await new Terminal(service.client, token).authorize(10)
  payloadOf(await load(june, svcCardId, 500))
})

test('a month’s loads are within their limit on each of its days', async () => {
  const world = await newWorld()
  const { svcCardId } = await newCard(world, 100)
  const { partnerId } = world.partner
  const clock = `/sandbox/tenants/${partnerId}/clock/advance`
  // From the middle of the next month on, so that the days of the test are of one month.
  const [year, month] = calendarDay(new Date(service.clock.now()), 'Asia/Kolkata').split('-').map(Number)
  const start = Date.UTC(year!, month!, 12)
  const to = (ms: number) => world.issuer.post(clock, { to: new Date(ms).toISOString() })
  let spent = 0
  for (const [day, amount] of [2000, 2000, 1000].entries()) {
    payloadOf(await to(start + day * 86_400_000))
    const on = { ...world, issuer: await asPartner(service.client, world.partner) }
    payloadOf(await load(on, svcCardId, amount))
    spent += amount
    expect(payloadOf(await unload(on, svcCardId, amount)).balance).toBe(100)
  }
  expect(spent).toBe(5000)
  const on = { ...world, issuer: await asPartner(service.client, world.partner) }
  expect(await overLimit(load(on, svcCardId, 0.01))).toBe(
    'A month’s loads of the card are at most 5000.00 rupees; 0.00 are left',
  )
})

test('a card that is blocked is neither loaded nor unloaded; one that is locked is both', async () => {
  const world = await newWorld()
  const { svcCardId } = await newCard(world)
  payloadOf(await world.issuer.patch(path(svcCardId, '/status'), { status: 'L' }))
  payloadOf(await load(world, svcCardId, 2))
  payloadOf(await unload(world, svcCardId, 1))
  payloadOf(await block(world, svcCardId))
  expectFailure(await load(world, svcCardId, 1), 'card_ended')
  expectFailure(await unload(world, svcCardId, 1), 'card_ended')
  expect((await show(world, svcCardId)).accountBalance).toBe(501)
  const outsider = await newWorld()
  for (const way of ['/loads', '/unloads'])
    expectFailure(await outsider.issuer.post(path(svcCardId, way), request(1)), 'card_not_found')
})

test('a load that the card account cannot pay, and an unload of what is spent or held, move nothing', async () => {
  const world = await newWorld({ fundsPaise: 600_00n })
  const { svcCardId, token } = await newCard(world)
  expectFailure(await load(world, svcCardId, 100.01), 'insufficient_funds')
  await new Terminal(service.client, token).authorize(300)
  const refused = await unload(world, svcCardId, 200.01)
  expectFailure(refused, 'card_balance_too_low')
  expect(refused.errorDescription).toBe('200.00 rupees of the card are neither spent nor held')
  payloadOf(await unload(world, svcCardId, 200))
  expect(payloadOf(await load(world, svcCardId, 300)).cardAccountBalance).toBe(0)
  payloadOf(await world.issuer.patch(world.account, { lowBalance: 5 }))
  payloadOf(await unload(world, svcCardId, 6))
  payloadOf(await load(world, svcCardId, 2))
  const low = async () =>
    payloadOf(await world.issuer.get('/api/v0/events?type=card_account.low')).data.map(
      ({ data }: Json) => data.balance,
    )
  await expect.poll(low).toEqual([4])
})

test('bad requests name the field', async () => {
  const world = await newWorld()
  const { svcCardId } = await newCard(world)
  for (const [more, field] of [
    [{ amount: 0 }, 'amount'],
    [{ amount: 1.005 }, 'amount'],
    [{ amount: '10' }, 'amount'],
    [{ referenceNumber: '' }, 'referenceNumber'],
    [{ referenceNumber: 'a b' }, 'referenceNumber'],
    [{ reason: ' ' }, 'reason'],
    [{ note: 'x' }, 'note'],
  ] as const)
    for (const way of ['/loads', '/unloads']) {
      const refused = await world.issuer.post(path(svcCardId, way), request(1, more))
      expectFailure(refused, 'validation_failed')
      expect(refused.errorDescription).toContain(field)
    }
})

const step = fc.record({
  type: fc.constantFrom('load', 'unload', 'spend', 'refund', 'return'),
  paise: fc.integer({ min: 1, max: 40_000 }),
})

test('whatever is loaded, unloaded, spent and refunded, the record has it in the fields of that name, and in those of then', async () => {
  const world = await newWorld({ accountType: 'EMPLOYEE_REWARDS' })
  const { companyId, cardAccountId } = world.partner
  const search = async (svcCardId: string): Promise<Json> =>
    payloadOf(
      await world.issuer.post('/api/v0/partner/svcCard/search', { companyId, cardAccountId, svcCardId }),
    ).data[0]
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
      const { svcCardId } = await newCard(world, 400)
      const is = { loaded: 400_00, last: 400_00, unloaded: 0, used: 0, balance: 400_00 }
      for (const { type, paise } of steps) {
        const amount = paise / 100
        if (type === 'load' && is.loaded + paise <= 3000_00) {
          payloadOf(await load(world, svcCardId, amount))
          Object.assign(is, { loaded: is.loaded + paise, last: paise, balance: is.balance + paise })
        } else if (type === 'unload' && paise <= is.balance) {
          payloadOf(await unload(world, svcCardId, amount))
          Object.assign(is, { unloaded: is.unloaded + paise, balance: is.balance - paise })
        } else if (type === 'spend' && paise <= is.balance) {
          const body = { amount, channel: 'pos' }
          payloadOf(await world.issuer.post(`/sandbox/cards/${svcCardId}/spend`, body))
          Object.assign(is, { used: is.used + paise, balance: is.balance - paise })
        } else if (type === 'refund' && paise <= is.used) {
          payloadOf(await world.issuer.post(`/sandbox/cards/${svcCardId}/refund`, { amount }))
          Object.assign(is, { used: is.used - paise, balance: is.balance + paise })
        }
        const expected = {
          accountBalance: Math.floor(is.balance / 100),
          otbBalance: Math.floor(is.balance / 100),
          loadAmount: '400',
          lastAllocatedAmount: Math.floor(is.last / 100),
          limitAllocatedLtd: (is.loaded - is.unloaded) / 100,
          usedLtd: is.used / 100,
          unAllocateHoldBalance: 0,
        }
        expect(await show(world, svcCardId)).toMatchObject(expected)
        expect(await search(svcCardId)).toMatchObject({
          ...expected,
          totalRewardsReceived: is.loaded / 100,
          rewardPointsReceived: Math.floor(is.loaded / 100),
        })
        // What is on the card is what was allocated and not used.
        expect(is.balance).toBe(is.loaded - is.unloaded - is.used)
      }
      if (is.balance === 0) return
      payloadOf(await block(world, svcCardId))
      payloadOf(await world.issuer.post(path(svcCardId, '/return'), { consentReference: svcCardId }))
      expect(await show(world, svcCardId)).toMatchObject({
        accountBalance: 0,
        unAllocateHoldBalance: is.balance / 100,
      })
    }),
    { numRuns: 8 },
  )
})

const ROUNDS = 8
const rounds = (round: () => Promise<void>) => Promise.all(Array.from({ length: ROUNDS }, round))
const outcome = ({ status, error }: { status: number; error?: string | undefined }) =>
  status === 200 ? 'done' : error

test('two loads for the last rupee of the card account, in two processes: one of them gets it', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const world = await newWorld({ fundsPaise: 201_00n })
    const [one, two] = [await newCard(world, 100), await newCard(world, 100)]
    const both = await Promise.all([
      world.issuer.post(path(one.svcCardId, '/loads'), request(1)),
      world.otherIssuer.post(path(two.svcCardId, '/loads'), request(1)),
    ])
    expect(both.map(outcome).sort()).toEqual(['done', 'insufficient_funds'])
    expect(await fundsOf(service, world.partner)).toBe('0')
  }
})

const times = <T>(count: number, work: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, work))

test('loads concurrent with a block, in two processes: each is on the card before the block, or stays on the card account', async () => {
  const world = await newWorld()
  await rounds(async () => {
    const { svcCardId } = await newCard(world, 100)
    const [loads, blocked, more] = await Promise.all([
      times(3, () => load(world, svcCardId, 5)),
      world.otherIssuer.patch(path(svcCardId, '/status'), { status: 'BL', reason: 'lost' }),
      times(3, () => load(world, svcCardId, 5)),
    ])
    payloadOf(blocked)
    const responses = [...loads, ...more]
    const done = responses.filter(({ status }) => status === 200).map(payloadOf)
    expect((await show(world, svcCardId)).accountBalance).toBe(100 + 5 * done.length)
    for (const { error } of responses.filter(({ status }) => status !== 200)) expect(error).toBe('card_ended')
    const [{ createdOn: end }] = payloadOf(await world.issuer.get(path(svcCardId, '/history'))).data
    expect(done.filter(({ createdOn }) => Date.parse(createdOn) > Date.parse(end))).toEqual([])
    expectFailure(await load(world, svcCardId, 5), 'card_ended')
  })
})

test('unloads concurrent with authorisations, in two processes: no rupee is both taken back and held', async () => {
  const world = await newWorld()
  await rounds(async () => {
    const { svcCardId, token } = await newCard(world, 100)
    const terminal = new Terminal(other.client, token)
    const [unloads, holds] = await Promise.all([
      times(3, () => unload(world, svcCardId, 40)),
      times(3, () => terminal.authorize(40)),
    ])
    const unloaded = unloads.filter(({ status }) => status === 200).length
    const held = holds.filter(({ status }) => status === 'approved').length
    expect(unloaded + held).toBe(2)
    expect(new Set(unloads.map(outcome))).toEqual(
      new Set([...(unloaded > 0 ? ['done'] : []), ...(unloaded < 3 ? ['card_balance_too_low'] : [])]),
    )
    const { accountBalance, otbBalance } = await show(world, svcCardId)
    expect([accountBalance, otbBalance]).toEqual([100 - 40 * unloaded, 20])
  })
})

test('loads of one card from two processes at once keep to the limit of its day', async () => {
  const world = await newWorld()
  const { svcCardId } = await newCard(world, 1000)
  const clients = Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? world.issuer : world.otherIssuer))
  const all = await Promise.all(clients.map((client) => client.post(path(svcCardId, '/loads'), request(600))))
  expect(all.map(outcome).sort()).toEqual(['done', 'done', 'done', ...Array(5).fill('load_over_limit')])
  expect((await show(world, svcCardId)).accountBalance).toBe(2800)
})

test('the database refuses a load or an unload that has no row of its own, and one of a gift card', async () => {
  const world = await newWorld()
  const { svcCardId } = await newCard(world)
  const { partnerId, cardAccountId } = world.partner
  const forge = (kind: string, debit: string, credit: string) =>
    service.app.services.database.write([partnerId], async (tx) =>
      tx.query(
        statement(
          `forged_${kind}`,
          `with entered as (insert into svc.journals (tenant_id, journal_id, kind, effective_date, legs, at)
             values ($1, 'jrn_forged', $2, current_date, 1, clock_timestamp()) returning 1)
           insert into svc.ledger_transfers select 'trf_forged', $1, 'jrn_forged', 1, $2, $3, $4, 100, 'INR', $5,
             clock_timestamp() from entered`,
        ),
        [partnerId, kind, debit, credit, svcCardId],
      ),
    )
  const [card, funding] = [`card:${svcCardId}`, `card_funding:${cardAccountId}`]
  await expect(forge('card_reload', funding, card)).rejects.toThrow('no load or unload has this journal')
  await expect(forge('card_unload', card, funding)).rejects.toThrow('no load or unload has this journal')
  await expect(forge('card_unload', funding, card)).rejects.toThrow()
  expect((await show(world, svcCardId)).accountBalance).toBe(500)
})
