import { encrypt } from '@svc/jwe/jwe'
import type { Call, Touched } from './callers.ts'
import { type Card, newCard, type Status } from './card.ts'
import { CardNetwork } from './card-network.ts'
import type { Partner } from './partners.ts'
import { ensure, type World } from './world.ts'

/** Orders for cards, and what is done with cards. */
export class Cards {
  readonly #world: World
  readonly #touched: () => Touched
  readonly #round: () => number
  readonly #partners: readonly Partner[]
  readonly all: Card[] = []
  readonly #network: CardNetwork
  #made = 0

  constructor(world: World, partners: readonly Partner[], touched: () => Touched, round: () => number) {
    this.#world = world
    this.#partners = partners
    this.#touched = touched
    this.#round = round
    this.#network = new CardNetwork(world, this)
  }

  card(): Card | undefined {
    const { chance } = this.#world
    if (this.all.length === 0) return undefined
    return chance.happens(0.6) ? chance.pick(this.all.slice(-5)) : chance.pick(this.all)
  }

  touch({ svcCardId, partner }: Card): void {
    const touched = this.#touched()
    touched.cards.add(svcCardId)
    touched.tenants.add(partner.id)
    for (const account of [`card:${svcCardId}`, `card_settlement:${partner.id}`])
      touched.accounts.add(account)
  }

  /** An encrypted order; now and then more than the account has, or the same encrypted request under another key. */
  async create(): Promise<Call[]> {
    const { chance } = this.#world
    const partner = chance.pick(this.#partners)
    const n = this.#made++
    const rupees = chance.happens(0.1) ? chance.whole(5_000, 10_000) : chance.whole(100, 900)
    const order = {
      companyId: partner.companyId,
      cardAccountId: partner.cardAccountId,
      ...(chance.happens(0.5)
        ? { userId: chance.pick(partner.users) }
        : { mobile: `91${String(chance.whole(0, 40)).padStart(8, '0')}` }),
      firstName: `Asha ${n}`,
      loadAmount: String(rupees),
    }
    const encrypted = await encrypt(Buffer.from(JSON.stringify(order)), partner.sharedKey)
    const keyed = chance.happens(0.5)
    const base = {
      who: partner,
      method: 'POST' as const,
      path: '/api/v0/partner/svcCard',
      body: JSON.stringify(encrypted),
    }
    const loadPaise = BigInt(rupees) * 100n
    let made: string | undefined
    const call: Call = {
      ...base,
      name: 'createGiftCard',
      ...(keyed && { headers: { 'idempotency-key': `card-${n}` } }),
      repeats: 'bytes',
      sure: ({ status, json, text }) => {
        this.#touched().accounts.add(`card_funding:${partner.cardAccountId}`)
        if (made === undefined) partner.funds.settle(call)
        if (status === 422)
          return ensure(json.payload.includes('insufficient_funds'), () => `an order was refused: ${text}`)
        ensure(status === 200, () => `an order was refused: ${status} ${text}`)
        const { svcCardId, otbBalance } = json.payload
        ensure(
          made === undefined || made === svcCardId,
          () => `one order made two cards: ${made} and ${svcCardId}`,
        )
        if (made !== undefined) return
        made = svcCardId as string
        ensure(otbBalance === rupees, () => `a card of ${rupees} rupees has ${text}`)
        partner.funds.add(-loadPaise)
        const card = newCard(json.payload, partner, loadPaise)
        this.all.push(card)
        this.touch(card)
      },
      unsure: () => {
        if (made === undefined) partner.funds.maybe(call, -loadPaise)
        this.#touched().accounts.add(`card_funding:${partner.cardAccountId}`)
      },
    }
    if (!chance.happens(0.05)) return [call]
    // A captured encrypted request, sent by somebody who makes up a key: worth nothing, whichever comes first.
    const replay: Call = {
      ...call,
      headers: { 'idempotency-key': `captured-${n}` },
      name: 'createGiftCard replayed',
      repeats: 'once',
      sure: (response) => {
        if (response.status === 409) return undefined
        return call.sure(response)
      },
    }
    // Of these two one gets the card, whichever was first, and the other is refused.
    const original: Call = {
      ...call,
      repeats: 'once',
      sure: (response) => {
        if (response.status === 409) return undefined
        return call.sure(response)
      },
    }
    return [original, replay]
  }

  spend(card = this.card(), mostPaise = 300_00): Call | undefined {
    const { chance } = this.#world
    if (chance.happens(0.3)) return this.#network.authorize(card)
    return card && this.#use(card, 'spend', chance.whole(1, mostPaise))
  }

  refund(card = this.card()): Call | undefined {
    const { chance } = this.#world
    const settled = chance.happens(0.7) ? this.#network.settle() : undefined
    return settled ?? (card && this.#use(card, 'refund', chance.whole(1, 100_00)))
  }

  #use(card: Card, use: 'spend' | 'refund', amountPaise: number): Call {
    const { chance } = this.#world
    const keyed = card.balance.uncertain > 4 || chance.happens(0.7)
    const delta = BigInt(use === 'spend' ? -amountPaise : amountPaise)
    const n = this.#made++
    let done = false
    const call: Call = {
      name: `${use} card`,
      method: 'POST',
      path: `/sandbox/cards/${card.svcCardId}/${use}`,
      ...(keyed && { headers: { 'idempotency-key': `${use}-${n}` } }),
      body: JSON.stringify({ amount: amountPaise / 100, channel: 'pos' }),
      repeats: keyed ? 'bytes' : 'no',
      sure: ({ status, json, text }) => {
        this.touch(card)
        if (!done) {
          card.balance.settle(call)
          card.open.delete(call)
        }
        if (status === 422 || status === 409) return undefined
        ensure(status === 200, () => `${use} was refused: ${status} ${text}`)
        if (done) return undefined
        done = true
        const locked = !card.statuses.has('UL') && card.changeSentIn < call.sentIn!
        const blocked = card.blockedIn !== undefined && card.blockedIn < call.sentIn!
        ensure(
          use === 'refund' || !(locked || blocked),
          () => `${card.svcCardId} is ${[...card.statuses].join()} and was spent from`,
        )
        ensure(json.payload.otbBalance >= 0, () => `${card.svcCardId} is overspent: ${text}`)
        return card.balance.add(delta)
      },
      unsure: () => {
        this.touch(card)
        if (done) return
        card.balance.maybe(call, delta)
        if (keyed) card.open.add(call)
      },
    }
    return call
  }

  status(card = this.card()): Call | undefined {
    if (!card) return undefined
    const { chance } = this.#world
    const status = chance.weighted({ L: 45, UL: 50, BL: 5 }) as Status
    const n = this.#made++
    const call: Call = {
      name: 'changeCardStatus',
      who: card.partner,
      method: 'PATCH',
      path: `/api/v0/partner/svcCard/${card.svcCardId}/status`,
      ...(chance.happens(0.5) && { headers: { 'idempotency-key': `status-${n}` } }),
      body: JSON.stringify({ status, reason: 'simulated' }),
      repeats: 'no',
      sure: ({ status: code, json, text }) => {
        this.touch(card)
        if (code === 409)
          return ensure(
            card.statuses.has('BL') || card.blockedIn !== undefined,
            () => `${status} was refused: ${text}`,
          )
        ensure(
          code === 200 && json.payload.cardStatus.name === status,
          () => `a change to ${status} was answered ${text}`,
        )
        ensure(
          card.blockedIn === undefined || card.blockedIn >= call.sentIn! || status === 'BL',
          () => `${card.svcCardId} was blocked for good and is ${status}`,
        )
        this.#mayBe(card, status)
        if (status === 'BL') card.blockedIn ??= this.#round()
        return undefined
      },
      unsure: () => {
        this.touch(card)
        card.statuses.add(status)
        card.statusSentIn = this.#round()
      },
    }
    return call
  }

  #mayBe(card: Card, status: Status): void {
    if (card.statusSentIn === this.#round()) card.statuses.add(status)
    else card.statuses = new Set([status])
    card.statusSentIn = this.#round()
  }

  /** By its id, by search of one, or by search of all cards of the account. */
  read(): Call | undefined {
    const card = this.card()
    if (!card) return undefined
    const { chance } = this.#world
    const { partner, svcCardId } = card
    const fits = (otbBalance: number, wholeRupees: boolean) => {
      if (card.balance.uncertain > 0 || this.#usedIn(card) || this.#network.holds(card)) return
      const fits = wholeRupees
        ? Array.from({ length: 100 }, (_, i) => BigInt(otbBalance * 100 + i)).some((paise) =>
            card.balance.allows(paise),
          )
        : card.balance.allows(BigInt(Math.round(otbBalance * 100)))
      ensure(fits, () => `${svcCardId} shows ${otbBalance} rupees, and has ${card.balance} paise`)
    }
    const whole = chance.happens(0.5)
    if (whole)
      return {
        name: 'getCard',
        who: partner,
        method: 'GET',
        path: `/api/v0/partner/svcCard/${svcCardId}`,
        repeats: 'no',
        sure: ({ status, json, text }) => {
          ensure(status === 200, () => `${svcCardId} was acknowledged and is not there: ${text}`)
          fits(json.payload.otbBalance, true)
        },
      }
    const all = partner.product === 'employee_rewards' && chance.happens(0.3)
    const known = this.all.filter((one) => one.partner === partner).map((one) => one.svcCardId)
    return {
      name: all ? 'searchCards all' : 'searchCards one',
      who: partner,
      method: 'POST',
      path: '/api/v0/partner/svcCard/search',
      body: JSON.stringify({
        companyId: partner.companyId,
        cardAccountId: partner.cardAccountId,
        ...(all ? {} : { svcCardId }),
      }),
      repeats: 'no',
      sure: ({ status, json, text }) => {
        if (status === 429) return
        ensure(status === 200 && json, () => `search: ${status} ${text.slice(0, 500)}`)
        const { data, recordsCount } = json.payload
        ensure(recordsCount === data.length, () => `search counts ${recordsCount} of ${data.length}`)
        if (!all) {
          ensure(data.length === 1, () => `${svcCardId} is not found: ${text}`)
          fits(data[0].otbBalance, partner.product === 'incentive')
          return
        }
        // oxlint-disable-next-line typescript/no-explicit-any -- records on the wire
        const found = new Set(data.map((one: any) => one.svcCardId))
        ensure(found.size === data.length, () => 'a search answers a card twice')
        for (const id of known) ensure(found.has(id), () => `${id} was acknowledged and is not found`)
      },
    }
  }

  readonly #uses = new Map<string, number>()

  /** To be told of what is sent in the next round. */
  using(calls: readonly Call[], round: number): void {
    for (const { path } of calls) {
      const id = /card_[0-9a-z]{26}/.exec(path)?.[0]
      if (!id) continue
      if (path.startsWith('/sandbox/')) this.#uses.set(id, round)
      const card = path.endsWith('/status') && this.all.find(({ svcCardId }) => svcCardId === id)
      if (card) card.changeSentIn = round
    }
  }

  #usedIn({ svcCardId }: Card): boolean {
    return this.#uses.get(svcCardId) === this.#round()
  }
}
