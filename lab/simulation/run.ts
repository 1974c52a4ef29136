import { expireDueCoins } from '@svc/core/coins/expire-coins'
import { closeExpiredQrCodes, expireQrCodes } from '@svc/core/qr-codes/expire-qr-codes'
import { Relay } from '@svc/core/webhooks/relay'
import { Bank } from './bank.ts'
import { type Call, Callers, Touched } from './callers.ts'
import { Cards } from './cards.ts'
import { Coins } from './coins.ts'
import { drawFault, type Fault } from './faults.ts'
import { Feeds } from './feeds.ts'
import { rotateKeys } from './key-rotation.ts'
import { changeMerchant, enableMerchants, type Merchant, newMerchant } from './merchants.ts'
import { changeClient, newPartner, type Partner } from './partners.ts'
import { Past } from './past.ts'
import type { SimulatedProcess } from './process.ts'
import { QrCodes } from './qr-codes.ts'
import type { SimulationServer } from './server.ts'
import { Watch } from './watch.ts'
import { World } from './world.ts'

const DAY_MS = 86_400_000
const MAX_SKEW_MS = 3_000
const ALL_CHECKED_EVERY_ROUNDS = 150
/** The share of rounds after which everything comes to rest, so that what is read has an instant. */
const PAST_KEPT = 0.01

export interface RunResult {
  readonly steps: number
  readonly rounds: number
  readonly crashes: number
  readonly statements: number
  readonly traceHash: string
  readonly counts: ReadonlyMap<string, number>
}

/** One seed: a service on an empty database, its callers, and what goes wrong, until so many steps were taken. */
export class Run {
  readonly world: World
  readonly callers: Callers
  readonly #server: SimulationServer
  #touched = new Touched()
  #merchants: Merchant[] = []
  #partners: Partner[] = []
  #codes!: QrCodes
  #bank!: Bank
  #cards!: Cards
  #coins!: Coins
  #feeds!: Feeds
  #watch!: Watch
  readonly #past: Past
  #disturbances = 0
  #stopped = false

  constructor(server: SimulationServer, process: SimulatedProcess, seed: number, database: string) {
    this.#server = server
    this.world = new World(server, process, seed, database)
    this.callers = new Callers(this.world)
    this.#past = new Past(this.world, this.callers)
  }

  get steps(): number {
    return this.callers.steps + this.#disturbances
  }

  /** Takes no more steps and ends as if these had been all. */
  stop(): void {
    this.#stopped = true
  }

  async take(steps: number): Promise<RunResult> {
    try {
      await this.#setUp()
      while (this.steps < steps && !this.#stopped) await this.#round()
      await this.#end()
    } finally {
      await this.#watch?.close()
      await this.world.close()
    }
    const { world, callers } = this
    return {
      steps: this.steps,
      rounds: callers.round,
      crashes: world.crashes,
      statements: world.network.statements,
      traceHash: world.traceHash(),
      counts: callers.counts,
    }
  }

  async #setUp(): Promise<void> {
    const { world } = this
    await world.open()
    this.#watch = await Watch.open(this.#server, world)
    const touched = () => this.#touched
    const round = () => this.callers.round
    await world.carryOut([
      async () => {
        this.#merchants = [await newMerchant(world, 0), await newMerchant(world, 1)]
        this.#partners = [await newPartner(world, 'incentive'), await newPartner(world, 'employee_rewards')]
      },
    ])
    this.#codes = new QrCodes(world, this.#merchants, touched, round)
    this.#bank = new Bank(world, this.#codes, touched, round)
    this.#cards = new Cards(world, this.#partners, touched, round)
    this.#coins = new Coins(world, this.#partners, touched)
    this.#feeds = new Feeds(world, [...this.#merchants, ...this.#partners])
    await this.callers.exchange(this.#feeds.endpoints(), [], false)
    await this.callers.exchange(
      this.#partners.flatMap((partner) => [this.#coins.configure(partner), this.#coins.configure(partner)]),
      [],
      false,
    )
  }

  async #round(): Promise<void> {
    const { world, callers } = this
    const { chance } = world
    this.#touched = new Touched()
    world.trace(`round ${callers.round + 1} at ${world.process.wallMs()}`)
    await this.#time()
    const calls = await this.#calls()
    const meanwhile = this.#meanwhile()
    // What operators do is not repeated by anybody, so nothing interrupts it.
    if (meanwhile.length === 0 && chance.happens(0.12)) this.#arm()
    this.#cards.using(calls, callers.round + 1)
    await callers.exchange(calls, meanwhile)
    world.armed = []
    await this.#watch.references(this.#codes)
    await this.#watch.check(this.#touched)
    await this.#watch.compare(this.#touched, this.#cards, this.#coins, this.#partners)
    if (callers.round % ALL_CHECKED_EVERY_ROUNDS === 0) await this.#watch.checkAll()
    if (chance.happens(PAST_KEPT)) {
      await this.#settle()
      await this.#past.keep(this.#merchants, this.#bank, this.#cards, this.#coins)
    }
  }

  async #time(): Promise<void> {
    const { world, callers } = this
    const { chance, process } = world
    await world.pass(chance.happens(0.03) ? chance.whole(500, 70_000) : chance.whole(1, 60))
    if (chance.happens(0.02)) world.skewMs = chance.whole(-MAX_SKEW_MS, MAX_SKEW_MS)
    if (!chance.happens(0.004)) return
    this.#disturbances++
    const jump = chance.weighted({ back: 4, forth: 4, far: 1 })
    world.trace(`clock ${jump}`)
    if (jump !== 'back') {
      // Nobody waits for an answer for longer than its key is kept.
      await this.#settle()
      callers.acknowledged = []
    }
    if (jump === 'back') {
      this.#past.forget()
      world.latestMs = Math.max(world.latestMs, process.wallMs() + MAX_SKEW_MS)
    }
    process.wallBaseMs += jump === 'back' ? -DAY_MS : jump === 'forth' ? DAY_MS : 400 * DAY_MS
  }

  /** What is sent at the same time: mostly by many callers, now and then by all of them about one thing. */
  async #calls(): Promise<Call[]> {
    const { chance } = this.world
    const { outstanding, acknowledged } = this.callers
    const again = outstanding.filter(() => chance.happens(0.3)).slice(0, 8)
    if (acknowledged.length > 0 && chance.happens(0.15)) again.push(chance.pick(acknowledged).call)
    if (chance.happens(0.06)) return [...again, ...this.#flood()]
    const calls: Call[] = [...again]
    for (let left = chance.happens(0.4) ? chance.whole(1, 6) : chance.whole(10, 40); left > 0; left--)
      calls.push(...(await this.#call()))
    return calls
  }

  async #call(): Promise<Call[]> {
    const kind = this.world.chance.weighted({
      code: 10,
      cancel: 3,
      pay: 16,
      late: 4,
      again: 3,
      refund: 4,
      readCode: 8,
      card: 8,
      spend: 12,
      cardRefund: 4,
      status: 5,
      readCard: 8,
      allocate: 9,
      redeem: 10,
      configure: 0.3,
      revise: 1,
      readCoins: 4,
      feed: 3,
    })
    const made = {
      code: () => this.#codes.create(),
      cancel: () => this.#codes.cancel(),
      pay: () => this.#bank.pay(),
      late: () => this.#bank.late(3),
      again: () => this.#bank.again(),
      refund: () => this.#bank.refund(),
      readCode: () => this.#codes.read(),
      card: () => this.#cards.create(),
      spend: () => this.#cards.spend(),
      cardRefund: () => this.#cards.refund(),
      status: () => this.#cards.status(),
      readCard: () => this.#cards.read(),
      allocate: () => this.#coins.allocate(),
      redeem: () => (this.world.chance.happens(0.3) ? this.#coins.end() : this.#coins.redeem()),
      configure: () => this.#coins.configure(this.world.chance.pick(this.#partners)),
      revise: () => this.#coins.revise(),
      readCoins: () => this.#coins.read(),
      feed: () => this.#feeds.read(),
    }[kind]()
    const calls = await made
    return calls === undefined ? [] : Array.isArray(calls) ? calls : [calls]
  }

  /** Many callers who want the same row. */
  #flood(): Call[] {
    const { chance } = this.world
    const size = chance.whole(8, 24)
    const each = (make: () => Call | Call[] | undefined) =>
      Array.from({ length: size }, make).flatMap((calls) => calls ?? [])
    const code = this.#codes.newest()
    const card = this.#cards.card()
    const user = this.#coins.user()
    const kind = chance.weighted({ pay: 3, payAndCancel: 3, spend: 3, status: 1, redeem: 2, allocate: 1 })
    if (kind === 'pay' && code) return each(() => this.#bank.pay(code))
    if (kind === 'payAndCancel' && code)
      return each(() => (chance.happens(0.15) ? this.#codes.cancel(code) : this.#bank.pay(code)))
    if (kind === 'spend' && card) return each(() => this.#cards.spend(card, 200_00))
    if (kind === 'status' && card) return each(() => this.#cards.status(card))
    if (kind === 'redeem') return each(() => this.#coins.redeem(user))
    return each(() => this.#coins.allocate(user))
  }

  /** What the service does of itself and what its operator does, while calls are under way. */
  #meanwhile(): (() => Promise<void>)[] {
    const { world } = this
    const { chance } = world
    if (chance.happens(0.3)) {
      const { services } = world.app
      const relay = new Relay(services, () => undefined)
      const number = () => (relay.loop.start(), relay.loop.stop())
      const sweep = () => expireDueCoins(services).then(() => undefined)
      const close = () => closeExpiredQrCodes(services).then(() => undefined)
      const expire = () => expireQrCodes(services).then(close)
      return [number, chance.happens(0.4) ? sweep : expire]
    }
    if (!chance.happens(0.012)) return []
    this.#disturbances++
    const act = chance.weighted({ merchant: 4, client: 2, keys: 3 })
    world.trace(`operator ${act}`)
    if (act === 'merchant') return [changeMerchant(world, chance.pick(this.#merchants))]
    if (act === 'client') return [changeClient(world, chance.pick(this.#partners))]
    return [rotateKeys(world, [...this.#merchants, ...this.#partners])]
  }

  #arm(): void {
    const { world } = this
    const { chance } = world
    const atCommit = chance.happens(0.45)
    const faults: Fault[] = []
    for (let n = chance.weighted({ '1': 8, '2': 2, '5': 1 }), i = 0; i < Number(n); i++)
      faults.push(drawFault(chance, atCommit))
    this.#disturbances += faults.length
    world.armed = faults.map((fault) => ({
      fault,
      atCommit,
      skip: atCommit ? chance.whole(0, 2) : chance.whole(0, 25),
    }))
  }

  /** No more trouble, everybody may work, and every outcome gets known. */
  async #settle(): Promise<void> {
    const { world, callers } = this
    world.armed = []
    await enableMerchants(world, this.#merchants)
    await world.pass(1_500)
    await callers.settleAll()
    await this.#watch.references(this.#codes)
  }

  async #end(): Promise<void> {
    const { world, callers } = this
    this.#touched = new Touched()
    await this.#settle()
    for (let late = this.#bank.late(20); late.length > 0; late = this.#bank.late(20)) {
      await callers.exchange(late, [], false)
      await this.#settle()
    }
    // A new process knows the responses of the previous one.
    await world.crash()
    for (let from = 0; from < callers.acknowledged.length; from += 20)
      await callers.exchange(
        callers.acknowledged.slice(from, from + 20).map(({ call }) => call),
        [],
        false,
      )
    const relay = new Relay(world.app.services, () => undefined)
    await world.carryOut([() => (relay.loop.start(), relay.loop.stop())])
    await this.#feeds.readAll(callers)
    await this.#settle()
    await this.#past.compare()
    await this.#watch.compareAll(this.#bank, this.#cards, this.#coins, this.#partners)
    await this.#watch.checkAll()
  }
}
