import type { Paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { type MessageOutcome, messageToWire, type RepeatedMessage } from '../rail/card-message.ts'
import { openToBuy } from '../rail/open-to-buy.ts'
import { type DeclineReason, PARTLY_APPROVED } from '../rail/response-codes.ts'
import type { AuthorizationBasis } from './authorization-basis.ts'
import { type Judgement, judge } from './decide-authorization.ts'
import {
  counterOf,
  isCounting,
  isRuleAbout,
  limitsOf,
  type RuleInForce,
  type SpendTerms,
} from './spend-rule.ts'

/** What was decided of an authorisation, as its response says. */
export interface Recorded {
  readonly status: 'approved' | 'declined' | 'recorded'
  readonly responseCode: string
  readonly reason?: DeclineReason | undefined
  readonly spendRuleId?: string | undefined
  readonly approvedAmount?: number | undefined
  readonly response: string
}

/** An authorisation, or a stand-in of the network, as it is recorded. */
export interface Asked extends RepeatedMessage {
  readonly partnerId: string
  readonly messageId: string
  readonly svcCardId: string
  readonly cardAccountId: string
  readonly createdAt: Date
  /** Absent of those that are not decided, or were before it was stored. */
  readonly basis: AuthorizationBasis | undefined
  readonly recorded: Recorded
  readonly raises: boolean
  readonly authorizationId: string | null
  readonly counters: readonly string[] | null
  readonly countedOn: string | null
  readonly expiredAt: Date | null
}

/** What a later message did to a hold, or its expiry, which releases all that is held. */
export interface Change {
  readonly authorizationId: string
  readonly at: Date
  readonly capturedPaise: bigint
  readonly releasedPaise: bigint | 'all'
}

/** An authorisation that is decided again. */
export interface Replayed {
  readonly asked: Asked
  readonly recorded: Recorded
  readonly decided: Judgement
  /** The payload of its response. */
  readonly response: string
  readonly isChanged: boolean
}

interface Tally {
  paise: bigint
  count: number
}

/** A hold, and what it adds to as it changes: with the sign -1 where it would not have been placed. */
interface Hold {
  heldPaise: bigint
  capturedPaise: bigint
  readonly day: string
  readonly keys: readonly string[]
  readonly sign: 1 | -1
}

interface Proposal {
  readonly create: readonly SpendTerms[]
  readonly remove: readonly string[]
}

/**
 * Decides recorded authorisations again by the same pure decision, on what it depended on then: corrected by what the proposed
 * rules would have changed before. What they would have approved counts as spent in full.
 */
export class Replay {
  readonly #create: readonly SpendTerms[]
  readonly #remove: ReadonlySet<string>
  readonly #timeZone: string
  /** By counter, or card, and day: what proposed rules have counted, and by what else differs from history. */
  readonly #tallies = new Map<string, Map<string, Tally>>()
  readonly #holds = new Map<string, Hold>()
  readonly #gone = new Set<string>()
  #later: Change[] = []

  constructor({ create, remove }: Proposal, timeZone: string) {
    this.#create = create
    this.#remove = new Set(remove)
    this.#timeZone = timeZone
  }

  /** In their order; `undefined` for one that cannot be decided again. `later`: what became of their holds. */
  *decide(asked: readonly Asked[], later: readonly Change[]): Generator<Replayed | undefined> {
    this.#later = [...this.#later, ...later].sort((a, b) => a.at.getTime() - b.at.getTime())
    let passed = 0
    for (const each of asked) {
      for (; passed < this.#later.length && this.#later[passed]!.at <= each.createdAt; passed++)
        this.#change(this.#later[passed]!)
      if (each.type === 'authorization') yield this.#again(each)
      else this.#place(each, undefined, true)
    }
    this.#later = this.#later.slice(passed)
  }

  #again(asked: Asked): Replayed | undefined {
    const { basis, recorded } = asked
    if (!basis) {
      this.#place(asked, undefined, recorded.status === 'approved')
      return undefined
    }
    const corrected = this.#corrected(asked, basis)
    const decided = judge(corrected, asked)
    this.#place(asked, corrected, decided.status === 'approved', decided)
    const wire: Partial<Recorded> = responseTo(asked, corrected, decided, this.#timeZone)
    const isChanged = (['status', 'reason', 'spendRuleId', 'approvedAmount'] as const).some(
      (name) => wire[name] !== recorded[name],
    )
    return { asked, recorded, decided, response: JSON.stringify(wire), isChanged }
  }

  /** The basis as it would have been. */
  #corrected(asked: Asked, basis: AuthorizationBasis): AuthorizationBasis {
    const ofCard = this.#used(asked.svcCardId, calendarDay(asked.createdAt, this.#timeZone))
    const isGone = basis.raises && this.#gone.has(basis.raises.authorizationId)
    return {
      ...basis,
      ...(isGone && { refusal: 'authorization_not_open' as const }),
      heldPaise: basis.heldPaise + ofCard.paise,
      dayPaise: basis.dayPaise + ofCard.day.paise,
      monthPaise: basis.monthPaise + ofCard.month.paise,
      rules: [
        ...basis.rules
          .filter(({ spendRuleId }) => !this.#remove.has(spendRuleId))
          .map((rule) => ({ ...rule, use: this.#useOf(rule.counter, rule.use) })),
        ...this.#proposed(asked),
      ],
    }
  }

  /** The proposed rules that are about it, by their place: `create[0]`. */
  #proposed(asked: Asked): RuleInForce[] {
    const day = calendarDay(asked.createdAt, this.#timeZone)
    return this.#create.flatMap((terms, i) => {
      const { svcCardId, cardAccountId } = terms
      if (svcCardId !== null && svcCardId !== asked.svcCardId) return []
      if (cardAccountId !== null && cardAccountId !== asked.cardAccountId) return []
      if (!isRuleAbout(terms, asked)) return []
      const spendRuleId = `create[${i}]`
      const counter = counterOf({ ...terms, counter: spendRuleId }, asked.svcCardId)
      const unused = { day, dayPaise: 0n, monthPaise: 0n, dayCount: 0, monthCount: 0 }
      return [{ spendRuleId, counter, ...limitsOf(terms), use: this.#useOf(counter, unused) }]
    })
  }

  #useOf(counter: string, use: RuleInForce['use']): RuleInForce['use'] {
    const { day, month } = this.#used(counter, use.day)
    return {
      day: use.day,
      dayPaise: use.dayPaise + day.paise,
      monthPaise: use.monthPaise + month.paise,
      dayCount: use.dayCount + day.count,
      monthCount: use.monthCount + month.count,
    }
  }

  #used(key: string, day: string): { paise: bigint; day: Tally; month: Tally } {
    const sum = { paise: 0n, day: { paise: 0n, count: 0 }, month: { paise: 0n, count: 0 } }
    for (const [on, { paise, count }] of this.#tallies.get(key) ?? []) {
      sum.paise += paise
      for (const [into, isIn] of [
        [sum.day, on === day],
        [sum.month, on.slice(0, 7) === day.slice(0, 7)],
      ] as const)
        if (isIn) {
          into.paise += paise
          into.count += count
        }
    }
    return sum
  }

  /** Adds what it holds to what it counts for, in history, as decided now, or in both. */
  #place(
    asked: Asked,
    basis: AuthorizationBasis | undefined,
    isApproved: boolean,
    decided?: Judgement,
  ): void {
    const { authorizationId, recorded, svcCardId } = asked
    const wasHeld = authorizationId !== null && recorded.status !== 'declined'
    const day = asked.countedOn ?? calendarDay(asked.createdAt, this.#timeZone)
    const proposed = this.#proposed(asked)
      .filter(isCounting)
      .map(({ counter }) => counter)
    const heldPaise = basis?.leftPaise ?? asked.amountPaise ?? 0n
    if (asked.raises && wasHeld) return this.#raise(authorizationId, heldPaise, isApproved)
    if (wasHeld && isApproved) this.#hold(authorizationId, { day, keys: proposed, sign: 1 }, heldPaise)
    else if (wasHeld) {
      this.#gone.add(authorizationId)
      this.#hold(authorizationId, { day, keys: [...(asked.counters ?? []), svcCardId], sign: -1 }, heldPaise)
    } else if (isApproved && recorded.status === 'declined' && decided?.status === 'approved') {
      const counted = basis?.rules.filter(isCounting).map(({ counter }) => counter) ?? []
      const keys = [...new Set([...counted, svcCardId])]
      this.#hold(asked.messageId, { day, keys, sign: 1 }, decided.amountPaise)
    }
  }

  #raise(authorizationId: string, paise: bigint, isApproved: boolean): void {
    const hold = this.#holds.get(authorizationId)
    // A raise that would be declined leaves its hold as it is.
    if (hold && (isApproved || hold.sign < 0)) this.#set(hold, hold.heldPaise + paise, hold.capturedPaise)
  }

  #hold(id: string, { day, keys, sign }: Pick<Hold, 'day' | 'keys' | 'sign'>, heldPaise: bigint): void {
    const hold: Hold = { heldPaise: 0n, capturedPaise: 0n, day, keys, sign }
    this.#holds.set(id, hold)
    this.#set(hold, heldPaise, 0n)
  }

  #change({ authorizationId, capturedPaise, releasedPaise }: Change): void {
    const hold = this.#holds.get(authorizationId)
    if (!hold) return
    const left = releasedPaise === 'all' ? 0n : hold.heldPaise - releasedPaise
    this.#set(hold, left > 0n ? left : 0n, hold.capturedPaise + capturedPaise)
  }

  #set(hold: Hold, heldPaise: bigint, capturedPaise: bigint): void {
    const [before, after] = [hold.heldPaise + hold.capturedPaise, heldPaise + capturedPaise]
    hold.heldPaise = heldPaise
    hold.capturedPaise = capturedPaise
    for (const key of hold.keys) {
      const days = this.#tallies.get(key) ?? new Map<string, Tally>()
      this.#tallies.set(key, days)
      const tally = days.get(hold.day) ?? { paise: 0n, count: 0 }
      days.set(hold.day, {
        paise: tally.paise + BigInt(hold.sign) * (after - before),
        count: tally.count + hold.sign * (Number(after > 0n) - Number(before > 0n)),
      })
    }
  }
}

/** The response to an authorisation that is decided on this basis. */
function responseTo(asked: Asked, basis: AuthorizationBasis, decided: Judgement, timeZone: string) {
  const amount: Paise | undefined = decided.status === 'approved' ? decided.amountPaise : undefined
  const approval = decided.status === 'approved' ? decided.approval : undefined
  const outcome: MessageOutcome = {
    messageId: asked.messageId,
    svcCardId: asked.svcCardId,
    status: decided.status,
    ...(decided.status === 'declined' && { reason: decided.reason, spendRuleId: decided.spendRuleId }),
    approval,
    approvedPaise: approval === PARTLY_APPROVED ? amount : undefined,
    authorizationId: amount ? basis.authorizationId : undefined,
    authorizationCode: amount === undefined ? undefined : basis.authorizationCode,
    debitedPaise: 0n,
    creditedPaise: 0n,
    releasedPaise: 0n,
    exceptionPaise: 0n,
    balances:
      amount === undefined
        ? undefined
        : {
            otbPaise: openToBuy({ balancePaise: basis.balancePaise, heldPaise: basis.heldPaise + amount }),
            accountPaise: basis.balancePaise,
          },
  }
  return messageToWire(asked, outcome, asked.createdAt, timeZone)
}
