import type { Chance } from '../simulation/chance.ts'

/** A merchant with a code at its till. */
export interface Till {
  readonly merchantId: string
  readonly tr: string
  readonly vpa: string
}

/** What goes wrong between the bank and us; each credit has one fate at most. */
export type Fate =
  | 'plain'
  /** Its notice never comes. */
  | 'lost'
  | 'doubled'
  /** Its notice is written in another way, and can be read. */
  | 'mangled'
  /** Its notice states something that cannot be read. */
  | 'unreadable'
  /** A second notice has another amount. */
  | 'contradicted'
  /** Its first notice is signed with a wrong key. */
  | 'missigned'
  /** It names no code and no merchant. */
  | 'stray'
  /** The settlement file has another amount. */
  | 'misbooked'
  /** The settlement file lacks it. */
  | 'unsettled'

const WEIGHTS: Readonly<Record<Fate, number>> = {
  plain: 90.5,
  lost: 1,
  doubled: 1,
  mangled: 3,
  unreadable: 1,
  contradicted: 0.5,
  missigned: 0.5,
  stray: 0.5,
  misbooked: 1,
  unsettled: 1,
}

/** What of a notice cannot be read, though money came. */
const UNREADABLE: readonly object[] = [
  { amount: 'two hundred' },
  { amount: '249,50' },
  { amount: { value: 5 } },
  { currency: 'gold' },
  { status: 'perhaps' },
  { transactionTime: 'yesterday at ten' },
]

/** What says that no money of ours came, or lacks a reference by which it could be found. */
const NO_CREDIT: readonly object[] = [
  { status: 'FAILED' },
  { status: 'PENDING' },
  { status: 'REVERSED' },
  { status: 'TIMEOUT' },
  { currency: 'USD' },
  { amount: 0 },
  { utr: 'NONREF' },
  { utr: '4.32199E+11' },
  { utr: null },
]
/** Notices of no credit, for each credit. */
const NO_CREDIT_SHARE = 0.02

/** Money that a payer's bank has sent. */
export interface Credit {
  readonly utr: string
  readonly till: Till
  readonly amountPaise: number
  readonly fate: Fate
}

export interface Notice {
  readonly body: Readonly<Record<string, unknown>>
  readonly isWellSigned: boolean
  /** Whether it is to be kept in quarantine: 202. */
  readonly isKept: boolean
}

const rupees = (amountPaise: number): number => amountPaise / 100

/** Notices overtake one another by at most so many. */
const OVERTAKEN_MAX = 200

/** A bank that knows what it has received, and reports it badly. */
export class Bank {
  readonly #chance: Chance
  readonly credits: readonly Credit[]

  constructor(chance: Chance, tills: readonly Till[], payments: number) {
    this.#chance = chance
    this.credits = Array.from({ length: payments }, (_, i) => ({
      utr: `BANK${String(i).padStart(12, '0')}`,
      till: chance.pick(tills),
      amountPaise: chance.whole(100, 500_000),
      fate: chance.weighted(WEIGHTS),
    }))
  }

  of(...fates: readonly Fate[]): Credit[] {
    return this.credits.filter(({ fate }) => fates.includes(fate))
  }

  /** The day's notices, in the order in which they arrive. */
  notices(): Notice[] {
    const sent = this.credits.flatMap((credit) => this.#noticesOf(credit))
    const places = new Map(sent.map((notice, i) => [notice, i + this.#chance.whole(0, OVERTAKEN_MAX)]))
    const ofNoCredit = this.#noticesOfNoCredit()
    for (const notice of ofNoCredit) places.set(notice, this.#chance.whole(0, sent.length))
    return [...sent, ...ofNoCredit].sort((a, b) => places.get(a)! - places.get(b)!)
  }

  #noticesOf(credit: Credit): Notice[] {
    const { utr, till, amountPaise, fate } = credit
    const body = { utr, tr: till.tr, amount: rupees(amountPaise), payerVpa: 'payer@bank' }
    const notice = { body, isWellSigned: true, isKept: false }
    switch (fate) {
      case 'lost':
        return []
      case 'doubled':
        return [notice, notice]
      case 'mangled':
        return [{ ...notice, body: this.#mangled(body, till) }]
      case 'unreadable':
        return [{ ...notice, body: { ...body, ...this.#chance.pick(UNREADABLE) }, isKept: true }]
      case 'missigned':
        return [{ ...notice, isWellSigned: false }, notice]
      case 'stray':
        return [{ ...notice, body: { ...body, tr: `STRAY${utr}` } }]
      default:
        return [notice]
    }
  }

  #noticesOfNoCredit(): Notice[] {
    return Array.from({ length: Math.ceil(this.credits.length * NO_CREDIT_SHARE) }, (_, i) => {
      const { tr } = this.#chance.pick(this.credits).till
      const fields = { utr: `NONE${String(i).padStart(12, '0')}`, tr, amount: 249.5, payerVpa: 'payer@bank' }
      return { body: { ...fields, ...NO_CREDIT[i % NO_CREDIT.length] }, isWellSigned: true, isKept: true }
    })
  }

  #mangled(body: { utr: string; tr: string; amount: number }, { vpa }: Till): Record<string, unknown> {
    const { tr, ...rest } = body
    return this.#chance.pick<() => Record<string, unknown>>([
      () => ({ ...body, rrn: '000012345678', remarks: 'चाय ☕', batch: { number: 7 } }),
      () => ({ ...body, amount: body.amount.toFixed(2) }),
      () => ({ ...body, utr: this.#spelt(body.utr) }),
      () => ({ ...body, payerVpa: 'p***r@bank' }),
      () => ({ utr: body.utr, tr, amount: body.amount }),
      () => ({ ...rest, tr, payeeVpa: vpa.toUpperCase() }),
    ])()
  }

  /** A reference in one of the ways in which banks write it. */
  #spelt(utr: string): string {
    return this.#chance.pick([utr, utr.toLowerCase(), `${utr.slice(0, 4)}-${utr.slice(4)}`, ` ${utr} `])
  }

  /** The second notices, which come when the first was read, and contradict it. */
  contradictions(): Notice[] {
    return this.of('contradicted').map((credit) => {
      const { utr, till, amountPaise } = credit
      const body = { utr, tr: till.tr, amount: rupees(amountPaise + 100) }
      return { body, isWellSigned: true, isKept: true }
    })
  }

  /** The notices that were lost, once they were requested. */
  found(): Notice[] {
    return this.of('lost').map((credit) => {
      const { utr, till, amountPaise } = credit
      const body = { utr, tr: till.tr, amount: rupees(amountPaise) }
      return { body, isWellSigned: true, isKept: false }
    })
  }

  /** The settlement file: in no order, some lines twice. */
  *settlementFile(day: string): Generator<string> {
    yield 'utr,amount,date\n'
    for (const { utr, amountPaise, fate } of this.credits) {
      if (fate === 'unsettled') continue
      const amount = rupees(fate === 'misbooked' ? amountPaise + 1 : amountPaise).toFixed(2)
      const line = `${this.#spelt(utr)},${amount},${day}\n`
      yield line
      if (this.#chance.happens(0.005)) yield line
    }
  }

  /** The next day's file: what was not settled, and the lines of a wrong amount corrected. */
  *correctingFile(day: string): Generator<string> {
    yield 'utr,amount,date\n'
    for (const { utr, amountPaise } of this.of('unsettled', 'misbooked'))
      yield `${utr},${rupees(amountPaise).toFixed(2)},${day}\n`
  }
}
