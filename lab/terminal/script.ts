import type { Chance } from '../simulation/chance.ts'
import type { Message, Reference } from './message.ts'

/** What happens to messages on their way; each has one fate at most. */
const FATES = { plain: 94, doubled: 2, reordered: 2, lost: 2 } as const

/** One sending of a message. */
export interface Sending {
  readonly message: Message
  readonly isRepeat: boolean
  /** The terminal does not get the response, and repeats the message later. */
  readonly isResponseLost: boolean
}

/** What a card gets, one after the other; what is in one step is sent at once. */
export type Script = readonly (readonly Sending[])[]

/** How a purchase goes, and how often. */
const PURCHASES = {
  inquiry: 14,
  captured: 24,
  inParts: 14,
  less: 10,
  voided: 8,
  partlyVoided: 5,
  refunded: 10,
  tooMuchCaptured: 4,
  standIn: 4,
  forcedPost: 3,
  abandoned: 1,
  overRequested: 3,
  partlyApproved: 5,
  replaced: 6,
  ruled: 10,
  loaded: 6,
  unloaded: 5,
} as const

/** What authorisations state for spend rules. */
const STATED = [
  { mcc: '7995' },
  { mcc: '5812' },
  { mcc: '5812', merchantCountry: 'IN' },
  { mcc: '5411', merchantCountry: 'US' },
  { merchantCountry: 'US' },
] as const

/** A message arrives after at most so many that were sent later. */
const OVERTAKEN_MAX = 4
/** Messages of one purchase are at most so far apart. */
const PURCHASE_GAP_MAX = 5
const STEP_MS = 37

type Draft = Omit<Message, 'reference' | 'original'> & {
  /** Position in the purchase of the message that it is about. */
  readonly of?: number
}

/** References that no two messages of a run share. */
export class References {
  readonly #startMs: number
  #drawn = 0

  constructor(startMs: number) {
    this.#startMs = startMs
  }

  next(): Reference {
    const n = ++this.#drawn
    return {
      stan: String(n % 1_000_000).padStart(6, '0'),
      transmissionTime: new Date(this.#startMs + n * STEP_MS).toISOString(),
    }
  }
}

/** So many messages for a card of this load, with what goes wrong on their way. Amounts in paise. */
export function scriptOf(chance: Chance, references: References, count: number, loadPaise: number): Script {
  return onTheWay(chance, messagesOf(chance, references, count, loadPaise))
}

/** Purchases that overlap, in the order in which the terminal sends their messages. */
function messagesOf(chance: Chance, references: References, count: number, loadPaise: number): Message[] {
  const placed: { message: Message; place: number }[] = []
  for (let begin = 0; placed.length < count; begin += 2) {
    const drafts = purchase(chance, loadPaise)
    const own = drafts.map(() => references.next())
    let place = begin
    drafts.forEach(({ of, ...draft }, n) => {
      const original = of === undefined ? undefined : own[of]
      placed.push({ message: { ...draft, reference: own[n]!, ...(original && { original }) }, place })
      place += chance.whole(1, PURCHASE_GAP_MAX)
    })
  }
  return placed
    .sort((a, b) => a.place - b.place)
    .slice(0, count)
    .map(({ message }) => message)
}

function purchase(chance: Chance, loadPaise: number): Draft[] {
  const amountPaise = chance.whole(1, Math.ceil(loadPaise * 0.1))
  const part = chance.whole(1, Math.max(1, amountPaise - 1))
  const authorization: Draft = { kind: 'authorizations', amountPaise }
  const capture = (amount: number, isFinal = false): Draft => ({
    kind: 'captures',
    of: 0,
    amountPaise: amount,
    isFinal,
  })
  switch (chance.weighted(PURCHASES)) {
    case 'inquiry':
      return [{ kind: 'balance-inquiries' }]
    case 'captured':
      return [authorization, capture(amountPaise)]
    case 'inParts':
      return [authorization, capture(Math.ceil(part / 2)), capture(part), capture(1, true)]
    case 'less':
      return [authorization, capture(part, true)]
    case 'voided':
      return [authorization, { kind: 'voids', of: 0 }]
    case 'partlyVoided':
      return [authorization, { kind: 'voids', of: 0, amountPaise: part }, capture(amountPaise - part + 1)]
    case 'refunded':
      return [authorization, capture(amountPaise), ...refunds(chance, amountPaise, part)]
    case 'tooMuchCaptured':
      return [authorization, capture(amountPaise + Math.ceil(amountPaise * chance.pick([0.1, 0.2, 0.7])))]
    case 'standIn':
      return [{ kind: 'advices', advice: 'stand_in', amountPaise }, capture(amountPaise)]
    case 'forcedPost':
      return [
        { kind: 'advices', advice: 'forced_post', amountPaise },
        { kind: 'refunds', of: 0, amountPaise: part },
      ]
    case 'abandoned':
      return [authorization]
    case 'partlyApproved': {
      const asked = Math.ceil(loadPaise * chance.pick([0.4, 0.8, 1.5]))
      return [{ ...authorization, amountPaise: asked, isPartialAllowed: true }, capture(part)]
    }
    case 'replaced':
      return replaced(chance, authorization, part)
    case 'ruled':
      return [
        { ...authorization, ...chance.pick(STATED), isPartialAllowed: chance.happens(0.2) },
        capture(amountPaise),
      ]
    case 'loaded':
      return [{ kind: 'loads', amountPaise }]
    case 'unloaded':
      return [{ kind: 'unloads', amountPaise: amountPaise * chance.pick([1, 4]) }]
    case 'overRequested':
      return [{ ...authorization, amountPaise: loadPaise + amountPaise }, capture(amountPaise)]
  }
}

/** A void that says what is left: a part, all of it, or none; stated again with the amount of the authorisation. */
function replaced(chance: Chance, authorization: Draft, part: number): Draft[] {
  const { amountPaise = 0 } = authorization
  const replacementPaise = chance.pick([part, amountPaise, 0])
  const voiding: Draft = { kind: 'voids', of: 0, replacementPaise }
  const capture: Draft = { kind: 'captures', of: 0, amountPaise: Math.max(1, replacementPaise) }
  return [
    authorization,
    chance.happens(0.5) ? voiding : { ...voiding, amountPaise },
    ...(chance.happens(0.7) ? [capture] : []),
  ]
}

/** Of a capture that is the second message: in full, in two parts, or more than was taken. */
const refunds = (chance: Chance, amountPaise: number, part: number): Draft[] =>
  chance
    .pick([[amountPaise], [part, amountPaise], [amountPaise + part]])
    .map((amount) => ({ kind: 'refunds', of: 1, amountPaise: amount }))

/** Doubles, delays, loses and mixes up messages. */
function onTheWay(chance: Chance, messages: readonly Message[]): Script {
  const placed: { sending: Sending; place: number; isAtOnce: boolean }[] = []
  messages.forEach((message, n) => {
    const later = n + chance.whole(1, OVERTAKEN_MAX) + 0.5
    const isAtOnce = chance.happens(0.5)
    const sending = { message, isRepeat: false, isResponseLost: false }
    const repeat = { ...sending, isRepeat: true }
    switch (chance.weighted(FATES)) {
      case 'plain':
        placed.push({ sending, place: n, isAtOnce: false })
        break
      case 'doubled':
        placed.push({ sending, place: n, isAtOnce: false })
        placed.push({ sending: repeat, place: isAtOnce ? n : later, isAtOnce })
        break
      case 'reordered':
        placed.push({ sending, place: isAtOnce ? n : later, isAtOnce })
        break
      case 'lost':
        // Half of them reach the service, and the response is lost; of the others only the repeat arrives.
        if (isAtOnce)
          placed.push({ sending: { ...sending, isResponseLost: true }, place: n, isAtOnce: false })
        placed.push({ sending: isAtOnce ? repeat : sending, place: later, isAtOnce: false })
        break
    }
  })
  const script: Sending[][] = []
  for (const { sending, isAtOnce } of placed.sort((a, b) => a.place - b.place)) {
    const last = script.at(-1)
    if (isAtOnce && last && last.length < 3) last.push(sending)
    else script.push([sending])
  }
  return script
}
