import { expireDueCoins } from '@svc/core/coins/expire-coins'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiResponse, type Client, type Json, payloadOf } from '../harness/client.ts'
import { CoinModel, expiryMs, type ModelConfig } from '../harness/coin-model.ts'
import {
  asCoinPartner,
  balanceOf,
  COINS,
  differencesOf,
  historyOf,
  newCoinPartner,
  newConfig,
  newUsers,
} from '../harness/coins.ts'
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
  const first = await openService()
  services = [first, await openService({ db: first.db })]
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

const now = (): number => services[0].clock.now()
const day = (instantMs: number): string => new Date(instantMs + 5.5 * HOUR).toISOString().slice(0, 10)

const user = fc.nat(USERS - 1)
const config = fc.nat(CONFIGS - 1)
const terms = fc.record({
  amount: fc.integer({ min: 1, max: 20 }),
  limitOver: fc.option(fc.nat(40), { nil: undefined }),
  days: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  active: fc.boolean(),
})
const allocateStep = fc.record({ kind: fc.constant('allocate' as const), user, config })
const redeemStep = fc.record({
  kind: fc.constant('redeem' as const),
  user,
  amount: fc.integer({ min: 1, max: 40 }),
})
const retryStep = fc.record({ kind: fc.constant('retry' as const), which: fc.nat() })
const step = fc.oneof(
  { weight: 5, arbitrary: allocateStep },
  { weight: 4, arbitrary: redeemStep },
  { weight: 2, arbitrary: retryStep },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revise' as const), config, terms }) },
  // Six hours at a time: no expiry is ever nearer to now than the time that a step takes.
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), sixHours: fc.integer({ min: 1, max: 10 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface Sent {
  readonly path: string
  readonly body: object
  readonly response: ApiResponse
}

let requests = 0

/** Users and configurations of one run, with what the model makes of them. */
class World {
  readonly users: string[]
  readonly configs: { readonly made: Json; terms: ModelConfig; revision: number }[]
  readonly models = Array.from({ length: USERS }, () => new CoinModel())
  readonly sent: Sent[] = []

  private constructor(users: string[], made: Json[]) {
    this.users = users
    this.configs = made.map((config) => ({
      made: config,
      terms: { amount: 10, limit: undefined, days: 1, active: true },
      revision: 1,
    }))
  }

  static async make(): Promise<World> {
    const users = await newUsers(services[0], partner, USERS)
    const configs = Array.from({ length: CONFIGS }, () =>
      newConfig(clients[0]!, { amount: 10, coinsExpireAfterDays: 1 }),
    )
    return new World(users, await Promise.all(configs))
  }

  /** Requests go to both services in turn. */
  async send(path: string, body: object): Promise<Sent> {
    const client = clients[this.sent.length % 2]!
    const sent = { path, body, response: await client.post(`${COINS}${path}`, body) }
    this.sent.push(sent)
    return sent
  }

  allocation = (who: number, which: number) => ({
    requestId: `model-${requests++}`,
    event: this.configs[which]!.made.event,
    userId: this.users[who]!,
    companyId: partner.companyId,
  })
  redemption = (who: number, amount: number) => ({
    requestId: `model-${requests++}`,
    userId: this.users[who]!,
    amount,
  })

  async revise(
    which: number,
    {
      amount,
      limitOver,
      days,
      active,
    }: { amount: number; limitOver: number | undefined; days: number | undefined; active: boolean },
  ): Promise<void> {
    const config = this.configs[which]!
    const limit = limitOver === undefined ? undefined : amount + limitOver
    const status = active ? 'ACTIVE' : 'INACTIVE'
    const body = { amount, perUserDailyLimit: limit ?? null, coinsExpireAfterDays: days ?? null, status }
    const path = `${COINS}/${config.made.coinConfigId}`
    const changed = payloadOf(await clients[0]!.patch(path, body, { 'if-match': `"${config.revision}"` }))
    config.terms = { amount, limit, days, active }
    config.revision = changed.revision
  }
}

async function take(world: World, move: Step): Promise<void> {
  if (move.kind === 'pass') return pass(move.sixHours * 6 * HOUR)
  if (move.kind === 'sweep') return void (await expireDueCoins(services[1].app.services))
  if (move.kind === 'revise') return world.revise(move.config, move.terms)
  if (move.kind === 'retry') {
    const former = world.sent[move.which % Math.max(1, world.sent.length)]
    if (former?.response.status !== 200) return
    const again = await world.send(former.path, former.body)
    expect(again.response.text).toBe(former.response.text)
    return
  }
  const model = world.models[move.user]!
  if (move.kind === 'allocate') {
    const { terms } = world.configs[move.config]!
    const { response: reply } = await world.send('/allocate', world.allocation(move.user, move.config))
    const key = `${move.config} ${day(now())}`
    expect(reply.error).toBe(model.refusal(terms, key))
    if (reply.status !== 200) return
    const { allocationId, amount, balance, createdOn } = reply.json.payload
    const createdMs = Date.parse(createdOn)
    model.expire(createdMs)
    model.award(allocationId, terms.amount, expiryMs(createdMs, terms.days), key)
    expect({ amount, balance }).toEqual({ amount: terms.amount, balance: model.active })
    return
  }
  const { response: reply } = await world.send('/redeem', world.redemption(move.user, move.amount))
  model.expire(now())
  const taken = model.redeem(move.amount)
  expect(reply.error).toBe(taken ? undefined : 'insufficient_coins')
  if (taken) expect(reply.json.payload.balance).toBe(model.active)
}

async function expectBalances(world: World): Promise<void> {
  for (const [i, userId] of world.users.entries())
    expect(await balanceOf(clients[i % 2]!, userId)).toMatchObject(world.models[i]!.balance(now()))
}

test('one caller at a time: after every step every balance is what a plain model says', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (moves) => {
      const world = await World.make()
      for (const move of moves) {
        await take(world, move)
        await expectBalances(world)
      }
    }),
    { numRuns: 25 },
  )
  expect(await differencesOf(services[0])).toEqual([])
})

/** Replays a user's history in the plain model: it must be a serial order that explains every line. */
function replay(history: readonly Json[]): CoinModel {
  const model = new CoinModel()
  const byId = (id: string) => model.lots.find((lot) => lot.id === id)!
  for (const [i, line] of history.entries()) {
    expect(line.entry).toBe(i + 1)
    const atMs = Date.parse(line.createdOn)
    if (line.kind === 'ALLOCATED')
      model.award(
        line.allocationId,
        line.amount,
        line.expiresOn ? Date.parse(line.expiresOn) : Number.POSITIVE_INFINITY,
      )
    else if (line.kind === 'REDEEMED') expect(line.allocations).toEqual(model.redeem(line.amount))
    else {
      const lot = byId(line.allocationId)
      expect(lot.expiresMs).toBeLessThanOrEqual(atMs)
      expect(line.amount).toBe(lot.remaining)
      model.expired += lot.remaining
      lot.remaining = 0
    }
    expect(line.balance).toBe(model.active)
    // Whoever wrote this line had first written off all that was due.
    if (line.kind !== 'EXPIRED')
      expect(model.lots.filter((lot) => lot.remaining > 0 && lot.expiresMs <= atMs)).toEqual([])
  }
  return model
}

const burst = fc.record({
  moves: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: allocateStep },
      { weight: 2, arbitrary: redeemStep },
      { weight: 1, arbitrary: retryStep },
    ),
    { minLength: 10, maxLength: 60 },
  ),
  sixHours: fc.nat(8),
  terms,
})

test('many at once on two services: the history is a serial order that the plain model replays, and it has every answer once', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(burst, { minLength: 1, maxLength: 4 }), async (bursts) => {
      const world = await World.make()
      for (const { moves, sixHours, terms: next } of bursts) {
        const pending: Promise<Sent>[] = []
        const bodies: [string, { userId: string }][] = []
        for (const move of moves) {
          if (move.kind === 'allocate') bodies.push(['/allocate', world.allocation(move.user, move.config)])
          else if (move.kind === 'redeem') bodies.push(['/redeem', world.redemption(move.user, move.amount)])
          else if (bodies.length > 0) bodies.push(bodies[move.which % bodies.length]!)
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
    { numRuns: 15 },
  )
  expect(await differencesOf(services[0])).toEqual([])
})

async function expectSerial(world: World): Promise<void> {
  const refused = world.sent.filter(({ response: reply }) => reply.status !== 200)
  const words = ['no_coin_config', 'coin_daily_limit_reached', 'insufficient_coins']
  for (const { response: reply } of refused) expect(words, reply.text).toContain(reply.error)
  for (const userId of world.users) {
    const history = await historyOf(clients[0]!, userId)
    const model = replay(history)
    expect(await balanceOf(clients[1]!, userId)).toMatchObject({ userId, ...model.balance(now()) })
    const responded = world.sent.filter(
      ({ response: reply, body }) => reply.status === 200 && (body as { userId: string }).userId === userId,
    )
    const byRequest = new Map(responded.map(({ response: reply }) => [reply.json.payload.requestId, reply]))
    // Whoever sent the same request got the same answer, byte for byte.
    for (const { response: reply } of responded)
      expect(reply.text).toBe(byRequest.get(reply.json.payload.requestId)!.text)
    const lines = history.filter(({ kind }) => kind !== 'EXPIRED')
    expect(lines.map(({ requestId }) => requestId).sort()).toEqual([...byRequest.keys()].sort())
    for (const line of lines) {
      const { amount, balance } = byRequest.get(line.requestId)!.json.payload
      expect({ amount, balance }).toEqual({ amount: line.amount, balance: line.balance })
    }
  }
}
