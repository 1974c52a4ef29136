import { signNotice } from '@svc/server/http/notice-signature'
import type { Call } from './callers.ts'
import type { Card } from './card.ts'
import type { Cards } from './cards.ts'
import { CARD_RAIL_KEY, ensure, type World } from './world.ts'

/** An approved authorisation that the network may still capture or void. */
interface Hold {
  readonly card: Card
  readonly authorizationId: string
  readonly amountPaise: bigint
}

/** The card network: signed messages, each with an identity of its own under which repeats are one message. */
export class CardNetwork {
  readonly #world: World
  readonly #cards: Cards
  readonly #holds: Hold[] = []
  readonly #held = new Set<Card>()
  #sent = 0

  constructor(world: World, cards: Cards) {
    this.#world = world
    this.#cards = cards
  }

  /** Whether a part of what a card has may be held: then it shows less than it has. */
  holds(card: Card): boolean {
    return this.#held.has(card)
  }

  /** Requests an amount; what is approved is held. */
  authorize(card = this.#cards.card()): Call | undefined {
    if (!card) return undefined
    const amountPaise = BigInt(this.#world.chance.whole(1, 300_00))
    this.#held.add(card)
    let isKnown = false
    return {
      ...this.#message('authorizations', card, { amount: Number(amountPaise) / 100, channel: 'pos' }),
      name: 'authorizeCard',
      sure: ({ status, json, text }) => {
        this.#cards.touch(card)
        ensure(status === 200, () => `an authorisation got ${status} ${text}`)
        if (isKnown) return
        isKnown = true
        const { status: decision, authorizationId, otbBalance } = json.payload
        if (decision !== 'approved') return
        ensure(otbBalance >= 0, () => `${card.svcCardId} is held beyond its balance: ${text}`)
        this.#holds.push({ card, authorizationId, amountPaise })
      },
      unsure: () => this.#cards.touch(card),
    }
  }

  /** Settles a hold in full or releases it; each hold gets one of them, repeated as often as it takes. */
  settle(): Call | undefined {
    const { chance } = this.#world
    if (this.#holds.length === 0) return undefined
    const hold = chance.pick(this.#holds)
    this.#holds.splice(this.#holds.indexOf(hold), 1)
    const { card, authorizationId, amountPaise } = hold
    const isVoid = chance.happens(0.4)
    let isKnown = false
    const fields = isVoid ? { authorizationId } : { authorizationId, amount: Number(amountPaise) / 100 }
    const call: Call = {
      ...this.#message(isVoid ? 'voids' : 'captures', card, fields),
      name: isVoid ? 'voidCard' : 'captureCard',
      sure: ({ status, json, text }) => {
        this.#cards.touch(card)
        const moved = isVoid ? json?.payload.releasedAmount : json?.payload.debitedAmount
        ensure(
          status === 200 && BigInt(Math.round(moved * 100)) === amountPaise,
          () => `a hold of ${amountPaise} paise was settled with ${status} ${text}`,
        )
        if (isKnown || isVoid) return
        isKnown = true
        card.balance.settle(call)
        card.open.delete(call)
        card.balance.add(-amountPaise)
      },
      unsure: () => {
        this.#cards.touch(card)
        if (isKnown || isVoid) return
        card.balance.maybe(call, -amountPaise)
        card.open.add(call)
      },
    }
    return call
  }

  #message(path: string, { token }: Card, fields: object) {
    const { process } = this.#world
    const n = ++this.#sent
    const body = JSON.stringify({
      token,
      acquirerId: '400123',
      stan: String(n % 1_000_000).padStart(6, '0'),
      transmissionTime: new Date(process.wallMs()).toISOString(),
      ...fields,
    })
    const signed = () => ({
      'x-rail-signature': signNotice(Buffer.from(body), CARD_RAIL_KEY, process.wallMs()),
    })
    return {
      method: 'POST' as const,
      path: `/rails/cards/${path}`,
      headers: signed,
      body,
      repeats: 'bytes' as const,
    }
  }
}
