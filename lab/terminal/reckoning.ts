import { keyOf, type Message } from './message.ts'

/** Written from docs/guides/card-rail.md and decision R1, without the service's code. Amounts in paise. */
interface Hold {
  readonly amount: number
  readonly captured: number
  readonly voided: number
  readonly held: number
  readonly state: 'open' | 'captured' | 'voided'
  /** Whether it counts for the rule that permits so many in a month. */
  readonly isCounted: boolean
}

/** The spend rules in force, of the partner, in their order. */
export const RULES = [
  { name: 'No bets', mccs: ['7995'] },
  { name: 'Abroad', countries: ['US'], transactionAmount: 20 },
  { name: 'Restaurants', mccs: ['5812'], perCard: true, monthCount: 3 },
] as const
const [BETS, ABROAD, RESTAURANTS] = RULES

/** What moved the money of a card, as its statement has it. */
export interface Movement {
  readonly kind: 'capture' | 'refund' | 'load' | 'unload'
  /** Negative: it left the card. */
  readonly paise: number
}

/** What a capture or a forced post took from its card, and what of it was given back. */
interface Taken {
  readonly debited: number
  readonly refunded: number
}

/** A card as it must be after the messages so far. */
export interface Card {
  readonly balance: number
  readonly holds: ReadonlyMap<string, Hold>
  readonly taken: ReadonlyMap<string, Taken>
  /** Authorisations whose void arrived before them. */
  readonly voidedBefore: ReadonlySet<string>
  /** What was captured of authorisations before they arrived; without an end after a final capture. */
  readonly capturedBefore: ReadonlyMap<string, number>
  /** What the account of exceptions has because of this card: credits less debits. */
  readonly exceptions: number
  /** What came from the card account less what went back to it. */
  readonly loaded: number
  /** Loads and unloads that were made, with the balance after them. */
  readonly made: ReadonlyMap<string, number>
  /** All of its money, the first load included. */
  readonly movements: readonly Movement[]
}

/** What the response to a message must have. */
export interface Expected {
  readonly status: 'approved' | 'declined' | 'recorded' | 'moved' | 'refused'
  readonly responseCode: '00' | '05' | '10' | '51' | '57' | '61' | '65'
  /** Where only a part is approved. */
  readonly approved: number
  readonly debited: number
  readonly credited: number
  readonly released: number
  readonly exception: number
  /** After the message; absent when it is declined. */
  readonly balances?: { readonly otb: number; readonly account: number }
}

export const newCard = (load: number): Card => ({
  balance: load,
  holds: new Map(),
  taken: new Map(),
  voidedBefore: new Set(),
  capturedBefore: new Map(),
  exceptions: 0,
  loaded: load,
  made: new Map(),
  movements: [{ kind: 'load', paise: load }],
})

export const heldOn = ({ holds }: Card): number =>
  [...holds.values()].reduce((sum, { held }) => sum + held, 0)
export const otbOf = (card: Card): number => Math.max(0, card.balance - heldOn(card))

type Moves = Partial<Pick<Expected, 'debited' | 'credited' | 'released' | 'exception'>>
interface Step {
  readonly card: Card
  readonly expected: Expected
}

const recorded = (card: Card, moves: Moves = {}): Step => ({
  card,
  expected: {
    status: 'recorded',
    responseCode: '00',
    approved: 0,
    debited: 0,
    credited: 0,
    released: 0,
    exception: 0,
    ...moves,
    balances: { otb: otbOf(card), account: card.balance },
  },
})
const approved = (card: Card, part = 0): Step => {
  const { expected } = recorded(card)
  const responseCode = part > 0 ? '10' : '00'
  return { card, expected: { ...expected, status: 'approved', responseCode, approved: part } }
}
const declined = (card: Card, responseCode: Expected['responseCode']): Step => {
  const { balances: _, ...expected } = recorded(card).expected
  return { card, expected: { ...expected, status: 'declined', responseCode } }
}

const withEntry = <T>(entries: ReadonlyMap<string, T>, key: string, entry: T): ReadonlyMap<string, T> =>
  new Map(entries).set(key, entry)

/** Pure. The card after a message that arrives for the first time, and what its response must have. */
export function reckon(card: Card, message: Message, overCapturePercent: number): Step {
  switch (message.kind) {
    case 'balance-inquiries':
      return approved(card)
    case 'authorizations':
      return authorize(card, message)
    case 'captures':
      return take(card, message, overCapturePercent)
    case 'advices':
      if (message.advice === 'forced_post') return take(card, message, overCapturePercent)
      return recorded(card.voidedBefore.has(keyOf(message.reference)) ? card : withHold(card, message))
    case 'voids':
      return release(card, message)
    case 'refunds':
      return giveBack(card, message)
    case 'loads':
    case 'unloads':
      return move(card, message)
  }
}

function authorize(card: Card, message: Message): Step {
  if (card.voidedBefore.has(keyOf(message.reference))) return declined(card, '05')
  const { amountPaise = 0, isPartialAllowed = false } = message
  const left = leftToHold(card, message)
  const free = card.balance - heldOn(card)
  const isPart = isPartialAllowed && free > 0 && free < left
  if (free < left && !isPart) return declined(card, '51')
  const added = isPart ? free : left
  const refusal = refusalByRules(card, message, amountPaise - (left - added), added)
  if (refusal) return declined(card, refusal)
  return approved(withHold(card, message, added), isPart ? added : 0)
}

/** The response code of the first rule that declines it. */
function refusalByRules(
  { holds }: Card,
  { mcc, merchantCountry }: Message,
  total: number,
  added: number,
): Expected['responseCode'] | undefined {
  const isIn = (list: readonly string[], code: string | undefined) =>
    code !== undefined && list.includes(code)
  if (isIn(BETS.mccs, mcc)) return '57'
  if (isIn(ABROAD.countries, merchantCountry) && total > ABROAD.transactionAmount * 100) return '61'
  const counted = [...holds.values()].filter((hold) => hold.isCounted && hold.captured + hold.held > 0)
  if (isIn(RESTAURANTS.mccs, mcc) && added > 0 && counted.length + 1 > RESTAURANTS.monthCount) return '65'
  return undefined
}

/** Money that comes from the card account, or goes back to it: once under its reference. */
function move(card: Card, { kind, reference, amountPaise = 0 }: Message): Step {
  const key = `${kind} ${keyOf(reference)}`
  const before = card.made.get(key)
  const moved = (after: Card, balance: number): Step => ({
    card: after,
    expected: {
      ...recorded(after).expected,
      status: 'moved',
      balances: { otb: 0, account: balance },
    },
  })
  if (before !== undefined) return moved(card, before)
  if (kind === 'unloads' && otbOf(card) < amountPaise)
    return { card, expected: { ...recorded(card).expected, status: 'refused' } }
  const paise = kind === 'loads' ? amountPaise : -amountPaise
  const after = moving({ ...card, loaded: card.loaded + paise }, kind === 'loads' ? 'load' : 'unload', paise)
  return moved({ ...after, made: withEntry(card.made, key, after.balance) }, after.balance)
}

/** The card after money moved. */
const moving = (card: Card, kind: Movement['kind'], paise: number): Card =>
  paise === 0
    ? card
    : { ...card, balance: card.balance + paise, movements: [...card.movements, { kind, paise }] }

/** An authorisation that arrives after its captures holds what they have left. */
const leftToHold = ({ capturedBefore }: Card, { reference, amountPaise = 0 }: Message): number =>
  Math.max(0, amountPaise - (capturedBefore.get(keyOf(reference)) ?? 0))

function withHold(card: Card, message: Message, amount = leftToHold(card, message)): Card {
  const { reference, mcc } = message
  if (amount === 0) return card
  const isCounted = RESTAURANTS.mccs.some((code) => code === mcc)
  const hold: Hold = { amount, captured: 0, voided: 0, held: amount, state: 'open', isCounted }
  return { ...card, holds: withEntry(card.holds, keyOf(reference), hold) }
}

/** A capture or forced post takes what the authorisation and the balance allow; the network gets the rest from exceptions. */
function take(card: Card, message: Message, overCapturePercent: number): Step {
  const amount = message.amountPaise ?? 0
  const key = message.original ? keyOf(message.original) : ''
  const hold = card.holds.get(key)
  const free = Math.max(0, card.balance - heldOn(card) + (hold?.held ?? 0))
  const room =
    hold && hold.state !== 'voided'
      ? Math.max(
          0,
          Math.floor((hold.amount * (100 + overCapturePercent)) / 100) - hold.captured - hold.voided,
        )
      : amount
  const debited = Math.min(amount, room, free)
  const after = hold && captured(hold, amount, message.isFinal ?? false)
  const before = (card.capturedBefore.get(key) ?? 0) + (message.isFinal ? Number.POSITIVE_INFINITY : amount)
  const moves = {
    debited,
    released: (hold?.held ?? 0) - (after?.held ?? 0),
    exception: amount - debited,
  }
  return recorded(
    {
      ...moving(card, 'capture', -debited),
      holds: after ? withEntry(card.holds, key, after) : card.holds,
      capturedBefore: after ? card.capturedBefore : withEntry(card.capturedBefore, key, before),
      taken: withEntry(card.taken, keyOf(message.reference), { debited, refunded: 0 }),
      exceptions: card.exceptions - moves.exception,
    },
    moves,
  )
}

function captured(hold: Hold, amount: number, isFinal: boolean): Hold {
  const all = hold.captured + amount
  if (hold.state !== 'open') return { ...hold, captured: all }
  const left = hold.amount - hold.voided - all
  return isFinal || left <= 0
    ? { ...hold, captured: all, held: 0, state: 'captured' }
    : { ...hold, captured: all, held: left }
}

function release(card: Card, { original, amountPaise, replacementPaise }: Message): Step {
  const key = original ? keyOf(original) : ''
  const hold = card.holds.get(key)
  if (!hold) return recorded({ ...card, voidedBefore: new Set(card.voidedBefore).add(key) })
  if (hold.state !== 'open') return recorded(card)
  const resolved =
    replacementPaise === undefined ? amountPaise : Math.max(0, hold.amount - hold.voided - replacementPaise)
  const released = Math.min(hold.held, resolved ?? hold.held)
  const held = hold.held - released
  const closed = hold.captured > 0 ? 'captured' : 'voided'
  const after: Hold = { ...hold, held, voided: hold.voided + released, state: held > 0 ? 'open' : closed }
  return recorded({ ...card, holds: withEntry(card.holds, key, after) }, { released })
}

/** Gives back at most what the capture took; the rest stays in the account of exceptions. */
function giveBack(card: Card, { original, amountPaise: amount = 0 }: Message): Step {
  const key = original ? keyOf(original) : ''
  const capture = card.taken.get(key)
  const credited = capture ? Math.min(amount, capture.debited - capture.refunded) : 0
  const exception = amount - credited
  const taken = capture
    ? withEntry(card.taken, key, { ...capture, refunded: capture.refunded + credited })
    : card.taken
  const after = { ...moving(card, 'refund', credited), taken, exceptions: card.exceptions + exception }
  return recorded(after, { credited, exception })
}
