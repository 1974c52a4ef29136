import type { Call, Touched } from './callers.ts'
import type { Partner } from './partners.ts'
import { Tally } from './tally.ts'
import { ensure, type World } from './world.ts'

const COINS = '/api/v0/svc-coins'

export interface CoinUser {
  readonly userId: string
  readonly partner: Partner
  readonly allocated: Tally
  readonly spent: Tally
  /** What callers were told was taken back. */
  readonly voided: Tally
  /** Allocations that callers were told of. */
  readonly allocations: string[]
}

interface Configuration {
  readonly partner: Partner
  readonly event: string
  coinConfigId: string
  revision: number
}

/** Partners who award coins, take them, and change what they award. */
export class Coins {
  readonly #world: World
  readonly #touched: () => Touched
  readonly users: CoinUser[] = []
  readonly #configs: Configuration[] = []
  #requests = 0

  constructor(world: World, partners: readonly Partner[], touched: () => Touched) {
    this.#world = world
    this.#touched = touched
    for (const partner of partners)
      for (const userId of partner.users)
        this.users.push({
          userId,
          partner,
          allocated: new Tally(),
          spent: new Tally(),
          voided: new Tally(),
          allocations: [],
        })
  }

  #touch({ userId, partner }: CoinUser): void {
    const touched = this.#touched()
    touched.users.add(userId)
    touched.tenants.add(partner.id)
    for (const kind of ['coins', 'coins_pending']) touched.accounts.add(`${kind}:${userId}`)
    for (const kind of ['coins_issued', 'coins_redeemed', 'coins_expired'])
      touched.accounts.add(`${kind}:${partner.id}`)
  }

  configure(partner: Partner): Call {
    const { chance } = this.#world
    const n = this.#requests++
    const amount = chance.whole(1, 50)
    const config: Configuration = { partner, event: `event.${n}`, coinConfigId: '', revision: 1 }
    const days = chance.happens(0.6) ? chance.whole(1, 3) : undefined
    const activation = chance.pick([
      {},
      {},
      { activation: 'CONFIRMATION' },
      { activateAfterDays: chance.whole(1, 2) },
    ])
    return {
      name: 'createCoinConfig',
      who: partner,
      method: 'POST',
      path: COINS,
      headers: { 'idempotency-key': `config-${n}` },
      body: JSON.stringify({
        event: config.event,
        amount,
        title: 'Thank you',
        ...(days && { coinsExpireAfterDays: days }),
        ...activation,
        ...(chance.happens(0.4) && { perUserDailyLimit: amount * chance.whole(1, 6) }),
      }),
      repeats: 'bytes',
      sure: ({ status, json, text }) => {
        ensure(status === 200, () => `a configuration was refused: ${text}`)
        if (config.coinConfigId) return
        config.coinConfigId = json.payload.coinConfigId
        this.#configs.push(config)
      },
    }
  }

  revise(): Call | undefined {
    const { chance } = this.#world
    if (this.#configs.length === 0) return undefined
    const config = chance.pick(this.#configs)
    return {
      name: 'updateCoinConfig',
      who: config.partner,
      method: 'PATCH',
      path: `${COINS}/${config.coinConfigId}`,
      headers: { 'if-match': `"${config.revision}"` },
      body: JSON.stringify({
        title: `Thanks ${this.#requests++}`,
        status: chance.happens(0.85) ? 'ACTIVE' : 'INACTIVE',
      }),
      repeats: 'no',
      sure: ({ status, json, text }) => {
        ensure(status === 200 || status === 412 || status === 409, () => `a revision: ${status} ${text}`)
        if (status === 200) config.revision = json.payload.revision
        else config.revision++
      },
    }
  }

  user(): CoinUser {
    return this.#world.chance.pick(this.users)
  }

  allocate(user = this.user()): Call | undefined {
    const { chance } = this.#world
    const own = this.#configs.filter(({ partner }) => partner === user.partner)
    if (own.length === 0) return undefined
    const body = JSON.stringify({
      requestId: `award-${this.#requests++}`,
      event: chance.pick(own).event,
      userId: user.userId,
      companyId: user.partner.companyId,
    })
    return this.#move(user, user.allocated, 'allocate', body)
  }

  redeem(user = this.user()): Call {
    const amount = this.#world.chance.whole(1, 60)
    const body = JSON.stringify({ requestId: `redeem-${this.#requests++}`, userId: user.userId, amount })
    return this.#move(user, user.spent, 'redeem', body)
  }

  #move(user: CoinUser, tally: Tally, how: string, body: string): Call {
    let done: string | undefined
    // What an award is worth is known from its answer only.
    const call: Call = {
      name: `${how.slice(how.lastIndexOf('/') + 1)} coins`,
      who: user.partner,
      method: 'POST',
      path: `${COINS}/${how}`,
      body,
      repeats: 'bytes',
      sure: ({ status, json, text }) => {
        this.#touch(user)
        tally.settle(call)
        if (status === 422 || status === 409)
          return ensure(done === undefined, () => `${done} was answered first, then ${text}`)
        ensure(status === 200, () => `${how}: ${status} ${text}`)
        if (done !== undefined) return undefined
        done = text
        if (how === 'allocate') user.allocations.push(json.payload.allocationId)
        return tally.add(BigInt(json.payload.amount))
      },
      unsure: () => {
        this.#touch(user)
        if (done === undefined) tally.maybe(call, 0n)
      },
    }
    return call
  }

  /** Confirms an allocation, or takes it back. */
  end(user = this.user()): Call | undefined {
    const { chance } = this.#world
    if (user.allocations.length === 0) return undefined
    const allocation = `allocations/${chance.pick(user.allocations)}`
    if (chance.happens(0.5)) return this.#confirm(user, `${COINS}/${allocation}/confirm`)
    const body = JSON.stringify({ requestId: `void-${this.#requests++}`, reason: 'returned' })
    return this.#move(user, user.voided, `${allocation}/void`, body)
  }

  #confirm(user: CoinUser, path: string): Call {
    const touch = () => this.#touch(user)
    return {
      name: 'confirm coins',
      who: user.partner,
      method: 'POST',
      path,
      body: '{}',
      repeats: 'no',
      sure: ({ status, text }) => {
        touch()
        ensure(status === 200 || status === 409, () => `confirm: ${status} ${text}`)
      },
      unsure: touch,
    }
  }

  read(): Call {
    const user = this.user()
    return {
      name: 'getCoinBalance',
      who: user.partner,
      method: 'GET',
      path: `${COINS}/users/${user.userId}/balance`,
      repeats: 'no',
      sure: ({ status, json, text }) => {
        ensure(status === 200, () => `balance: ${text}`)
        const { active, expired, spent } = json.payload
        ensure(active >= 0 && expired >= 0 && spent >= 0, () => `a balance under nothing: ${text}`)
      },
    }
  }
}
