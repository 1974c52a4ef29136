import type { Bank } from './bank.ts'
import type { Call, Callers, Tenant } from './callers.ts'
import type { Cards } from './cards.ts'
import type { Coins } from './coins.ts'
import type { Merchant } from './merchants.ts'
import { ensure, type World } from './world.ts'

/** More than the clocks of the process and of the database are ever apart, without a jump. */
const APART_MS = 10_000
/** How much is kept, and how many of each kind are read at a time. */
const KEPT_MAX = 200
const EACH = 4

/** Something that callers can read, and the way to it. */
interface Readable {
  readonly who: Tenant
  readonly path: string
}

interface Kept extends Readable {
  readonly at: string
  readonly text: string
}

/** What was read while nothing happened, to be read again as of then: the past does not change. */
export class Past {
  readonly #world: World
  readonly #callers: Callers
  #kept: Kept[] = []

  constructor(world: World, callers: Callers) {
    this.#world = world
    this.#callers = callers
  }

  /** Reads some of everything, and keeps what it is now. To be called when all outcomes are known. */
  async keep(merchants: readonly Merchant[], bank: Bank, cards: Cards, coins: Coins): Promise<void> {
    const { chance, latestMs, process } = this.#world
    // What happened before a clock was set back is of the future, until the clock has caught up.
    if (process.wallMs() < latestMs) return
    const things = [codesOf(merchants), paymentsOf(bank), cardsOf(cards), usersOf(coins)]
    const some = things.flatMap((of) =>
      of.length === 0 ? [] : Array.from({ length: EACH }, () => chance.pick(of)),
    )
    // What happened before, and what happens next, is of other instants by both clocks.
    await this.#world.pass(APART_MS)
    const at = new Date(process.wallMs()).toISOString()
    const found: Kept[] = []
    await this.#exchange(
      some.map((thing) => this.#read(thing, '', (text) => void found.push({ ...thing, at, text }))),
    )
    await this.#world.pass(APART_MS)
    await this.compare(found)
    this.#kept = [...this.#kept, ...found].slice(-KEPT_MAX)
  }

  /** Reads everything that is kept as of its instant. */
  async compare(kept: readonly Kept[] = this.#kept): Promise<void> {
    const read = ({ at, text, ...thing }: Kept) =>
      this.#read(thing, `?asOf=${at}`, (then) =>
        ensure(then === text, () => `at ${at} ${thing.path} was ${text}, and is shown as ${then}`),
      )
    for (let from = 0; from < kept.length; from += 20)
      await this.#exchange(kept.slice(from, from + 20).map(read))
  }

  /** Once a clock is set back, what happens next is before what was read. */
  forget(): void {
    this.#kept = []
  }

  #exchange(calls: readonly Call[]): Promise<void> {
    return this.#callers.exchange(calls, [], false)
  }

  #read({ who, path }: Readable, query: string, got: (text: string) => void): Call {
    return {
      name: query === '' ? 'readNow' : 'readAsOf',
      who,
      method: 'GET',
      path: `${path}${query}`,
      repeats: 'no',
      sure: ({ status, json, text }) => {
        ensure(status === 200, () => `${path}${query}: ${text}`)
        got(JSON.stringify(json.payload))
      },
    }
  }
}

const codesOf = (merchants: readonly Merchant[]): Readable[] =>
  merchants.flatMap((who) => who.codes.map(({ qrCodeId }) => ({ who, path: `/api/v0/qr-code/${qrCodeId}` })))

const paymentsOf = (bank: Bank): Readable[] =>
  bank
    .recorded()
    .flatMap(({ code, payment }) =>
      code ? [{ who: code.merchant, path: `/api/v0/payments/${payment.paymentId}` }] : [],
    )

const cardsOf = ({ all }: Cards): Readable[] =>
  all.flatMap(({ partner: who, svcCardId }) => [
    { who, path: `/api/v0/partner/svcCard/${svcCardId}` },
    { who, path: `/api/v0/partner/card-accounts/${who.cardAccountId}` },
  ])

const usersOf = ({ users }: Coins): Readable[] =>
  users.map(({ partner: who, userId }) => ({ who, path: `/api/v0/svc-coins/users/${userId}/balance` }))
