import { expireDueCoins } from '@svc/core/coins/expire-coins'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '../harness/client.ts'
import { expiryMs } from '../harness/coin-model.ts'
import { replay } from '../harness/coin-replay.ts'
import { CoinWorld, type Sent } from '../harness/coin-world.ts'
import { asCoinPartner, balanceOf, differencesOf, historyOf, newCoinPartner } from '../harness/coins.ts'
import { LONG } from '../harness/long.ts'
import type { TestPartner } from '../harness/partner.ts'
import { openService, type TestService } from '../harness/service.ts'

const HOUR = 3_600_000
const USERS = 2
const CONFIGS = 2

/** Two processes' worth of service on one database. */
let services: readonly [TestService, TestService]
let partner: TestPartner
let clients: Client[]

beforeAll(async () => {
  const env = { COIN_CLAWBACK: 'wallet' }
  const first = await openService({ env })
  services = [first, await openService({ env, db: first.db })]
  ;({ partner } = await newCoinPartner(first))
  await freshTokens()
})
afterAll(async () => {
  await Promise.all(services.map((service) => service.close()))
})

async function freshTokens(): Promise<void> {
  clients = await Promise.all(services.map((service) => asCoinPartner(service.client, partner)))
}

async function pass(ms: number): Promise<void> {
  for (const { clock } of services) clock.advance(ms)
  await freshTokens()
}

const tenants = () => ({ service: services[0], partner, clients: () => clients })
const now = (): number => services[0].clock.now()
const day = (instantMs: number): string => new Date(instantMs + 5.5 * HOUR).toISOString().slice(0, 10)

const user = fc.nat(USERS - 1)
const config = fc.nat(CONFIGS - 1)
const terms = fc.record({
  amount: fc.integer({ min: 1, max: 20 }),
  limitOver: fc.option(fc.nat(40), { nil: undefined }),
  days: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  active: fc.boolean(),
  activation: fc.constantFrom('at once' as const, 'after a day' as const, 'confirmed' as const),
})
const allocateStep = fc.record({ kind: fc.constant('allocate' as const), user, config })
const redeemStep = fc.record({
  kind: fc.constant('redeem' as const),
  user,
  amount: fc.integer({ min: 1, max: 40 }),
})
const confirmStep = fc.record({ kind: fc.constant('confirm' as const), user, which: fc.nat() })
const voidStep = fc.record({ kind: fc.constant('void' as const), user, which: fc.nat() })
const retryStep = fc.record({ kind: fc.constant('retry' as const), which: fc.nat() })
const step = fc.oneof(
  { weight: 5, arbitrary: allocateStep },
  { weight: 4, arbitrary: redeemStep },
  { weight: 2, arbitrary: retryStep },
  { weight: 2, arbitrary: confirmStep },
  { weight: 2, arbitrary: voidStep },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('revise' as const), config, terms }) },
  // Six hours at a time: no expiry is ever nearer to now than the time that a step takes.
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), sixHours: fc.integer({ min: 1, max: 10 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function take(world: CoinWorld, move: Step): Promise<void> {
  if (move.kind === 'pass') return pass(move.sixHours * 6 * HOUR)
  if (move.kind === 'sweep') return void (await expireDueCoins(services[1].app.services))
  if (move.kind === 'revise') return world.revise(move.config, move.terms)
  if (move.kind === 'retry') {
    const previous = world.sent[move.which % Math.max(1, world.sent.length)]
    if (previous?.response.status !== 200) return
    const again = await world.send(previous.path, previous.body)
    expect(again.response.text).toBe(previous.response.text)
    return
  }
  if (move.kind === 'allocate') return allocate(world, move)
  if (move.kind === 'confirm') return confirm(world, move)
  if (move.kind === 'void') return voids(world, move)
  const model = world.models[move.user]!
  const { response: reply } = await world.send('/redeem', world.redemption(move.user, move.amount))
  model.expire(now())
  const taken = model.redeem(move.amount)
  expect(reply.error).toBe(taken ? undefined : 'insufficient_coins')
  if (taken) expect(reply.json.payload.balance).toBe(model.active)
}

type Move<K extends Step['kind']> = Extract<Step, { kind: K }>

async function allocate(world: CoinWorld, move: Move<'allocate'>): Promise<void> {
  const model = world.models[move.user]!
  const { terms } = world.configs[move.config]!
  const { response: reply } = await world.send('/allocate', world.allocation(move.user, move.config))
  const key = `${move.config} ${day(now())}`
  expect(reply.error).toBe(model.refusal(terms, key))
  if (reply.status !== 200) return
  const { allocationId, amount, balance, createdOn, pending, activatesOn } = reply.json.payload
  const createdMs = Date.parse(createdOn)
  model.expire(createdMs)
  expect(pending).toBe(terms.activation === 'at once' ? undefined : true)
  if (terms.activation === 'at once')
    model.award(allocationId, terms.amount, expiryMs(createdMs, terms.days), key)
  else {
    const activatesMs = terms.activation === 'confirmed' ? undefined : expiryMs(createdMs, 1)
    expect(activatesOn && Date.parse(activatesOn)).toBe(activatesMs)
    const when = { days: terms.days, ...(activatesMs !== undefined && { activatesMs }) }
    model.awardPending(allocationId, terms.amount, when, key)
  }
  expect({ amount, balance }).toEqual({ amount: terms.amount, balance: model.active })
}

async function confirm(world: CoinWorld, move: Move<'confirm'>): Promise<void> {
  const model = world.models[move.user]!
  const id = model.unconfirmed[move.which % Math.max(1, model.unconfirmed.length)]
  if (id === undefined) return
  const { response: reply } = await world.send(`/allocations/${id}/confirm`, {})
  const { activatedOn, balance } = reply.json.payload
  model.expire(Date.parse(activatedOn))
  expect(reply.error).toBe(model.confirm(id, Date.parse(activatedOn)))
  expect(balance).toBe(model.active)
}

async function voids(world: CoinWorld, move: Move<'void'>): Promise<void> {
  const model = world.models[move.user]!
  const lot = model.lots[move.which % Math.max(1, model.lots.length)]
  if (lot === undefined) return
  const { response: reply } = await world.send(`/allocations/${lot.id}/void`, world.void())
  expect(reply.error).toBe(lot.isVoided ? 'coin_allocation_voided' : undefined)
  if (reply.status !== 200) return
  const { amount, shortfall, pending, balance, createdOn } = reply.json.payload
  model.expire(Date.parse(createdOn))
  expect({ amount, shortfall, pending }).toEqual(model.void(lot.id, true))
  expect(balance).toBe(model.active)
}

async function expectBalances(world: CoinWorld): Promise<void> {
  for (const [i, userId] of world.users.entries())
    expect(await balanceOf(clients[i % 2]!, userId)).toMatchObject(world.models[i]!.balance(now()))
}

test('one caller at a time: after every step every balance equals that of a simple model', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (moves) => {
      const world = await CoinWorld.make(tenants())
      for (const move of moves) {
        await take(world, move)
        await expectBalances(world)
      }
    }),
    { numRuns: LONG ? 50 : 12 },
  )
  expect(await differencesOf(services[0])).toEqual([])
})

const burst = fc.record({
  moves: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: allocateStep },
      { weight: 2, arbitrary: redeemStep },
      { weight: 1, arbitrary: retryStep },
      { weight: 1, arbitrary: confirmStep },
      { weight: 1, arbitrary: voidStep },
    ),
    { minLength: 10, maxLength: 60 },
  ),
  sixHours: fc.nat(8),
  terms,
})

test('many at once on two services: the history is a serial order that the simple model replays, and it has every response once', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(burst, { minLength: 1, maxLength: 4 }), async (bursts) => {
      const world = await CoinWorld.make(tenants())
      for (const { moves, sixHours, terms: next } of bursts) {
        const pending: Promise<Sent>[] = []
        const bodies: [string, object][] = []
        const known = world.allocationIds
        for (const move of moves) {
          if (move.kind === 'allocate') bodies.push(['/allocate', world.allocation(move.user, move.config)])
          else if (move.kind === 'redeem') bodies.push(['/redeem', world.redemption(move.user, move.amount)])
          else if (move.kind === 'void' || move.kind === 'confirm') {
            const path = `/allocations/${known[move.which % Math.max(1, known.length)]}/${move.kind}`
            if (known.length > 0) bodies.push([path, move.kind === 'void' ? world.void() : {}])
          } else if (bodies.length > 0) bodies.push(bodies[move.which % bodies.length]!)
        }
        for (const [path, body] of bodies) pending.push(world.send(path, body))
        await Promise.all([
          ...pending,
          expireDueCoins(services[0].app.services),
          expireDueCoins(services[1].app.services),
        ])
        await pass(sixHours * 6 * HOUR)
        await world.revise(0, next)
      }
      await expectSerial(world)
    }),
    { numRuns: LONG ? 30 : 8 },
  )
  expect(await differencesOf(services[0])).toEqual([])
})

async function expectSerial(world: CoinWorld): Promise<void> {
  const refused = world.sent.filter(({ response: reply }) => reply.status !== 200)
  const words = [
    'no_coin_config',
    'coin_daily_limit_reached',
    'insufficient_coins',
    'coin_allocation_voided',
    'coin_allocation_not_awaiting_confirmation',
  ]
  for (const { response: reply } of refused) expect(words, reply.text).toContain(reply.error)
  for (const userId of world.users) {
    const history = await historyOf(clients[0]!, userId)
    const model = replay(history, true)
    expect(await balanceOf(clients[1]!, userId)).toMatchObject({ userId, ...model.balance(now()) })
    const responded = world.sent.filter(
      ({ response: reply }) => reply.status === 200 && reply.json.payload.userId === userId,
    )
    // A confirmation has no requestId: its path says what it is about.
    const requestOf = ({ path, response: reply }: Sent): string => reply.json.payload.requestId ?? path
    const byRequest = new Map(responded.map((sent) => [requestOf(sent), sent.response]))
    // Whoever sent the same request got the same answer, byte for byte.
    for (const sent of responded) expect(sent.response.text).toBe(byRequest.get(requestOf(sent))!.text)
    const lines = history.filter(({ kind }) => !['EXPIRED', 'ACTIVATED'].includes(kind))
    const requests = [...byRequest.keys()].filter((key) => !key.endsWith('/confirm'))
    expect(lines.map(({ requestId }) => requestId).sort()).toEqual(requests.sort())
    for (const line of lines) {
      const { amount, balance } = byRequest.get(line.requestId)!.json.payload
      expect({ amount, balance }).toEqual({ amount: line.amount, balance: line.balance })
    }
  }
}
