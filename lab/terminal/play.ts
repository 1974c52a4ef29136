import { createHash } from 'node:crypto'
import { bodyOf, isOfPartner, type Message, moveBodyOf, ODDITIES, oddBodyOf } from './message.ts'
import { type Card, type Expected, reckon } from './reckoning.ts'
import type { Script, Sending } from './script.ts'

/** Sends a signed body to an operation of the rail until it gets a definite response. */
export type Send = (path: string, body: string) => Promise<{ readonly status: number; readonly text: string }>

/** A card in use: what it is to be sent, and what it must have after what it got. */
export interface PlayedCard {
  readonly svcCardId: string
  readonly token: string
  readonly script: Script
  card: Card
}

/** A message with a response: a repeat must get the same bytes. */
interface Acknowledged {
  readonly played: PlayedCard
  readonly message: Message
  readonly digest: string
  readonly messageId: string
}

/** One message in fifty. */
const ODD_EVERY = 50

const digest = (text: string): string => createHash('sha256').update(text).digest('base64')

/** Plays the scripts of cards; keeps what the terminal received, outside of the service. */
export class Play {
  readonly #send: Send
  readonly #sendAsPartner: Send
  readonly #overCapturePercent: number
  readonly acknowledged = new Map<Message, Acknowledged>()
  /** What is not as it must be, in words. */
  readonly broken: string[] = []
  readonly #isBroken = new Set<PlayedCard>()
  sent = 0
  /** Messages that cannot be read or say that they did not happen. */
  odd = 0
  #steps = 0
  repeats = 0
  /** Loads and unloads that were made, by the digest of their response. */
  readonly moves = new Map<Message, { readonly digest: string; readonly loadId: string }>()
  /** Those that were refused, for want of money. */
  refusedMoves = 0
  /** Steps in which several messages arrived at once. */
  atOnce = 0
  readonly byStatus = new Map<string, number>()

  constructor(send: Send, sendAsPartner: Send, overCapturePercent: number) {
    this.#send = send
    this.#sendAsPartner = sendAsPartner
    this.#overCapturePercent = overCapturePercent
  }

  /** Sends all messages: those of one card in the order of its script, cards by so many callers. */
  play(cards: readonly PlayedCard[], callers: number): Promise<void> {
    return each(cards, callers, async (played) => {
      for (const step of played.script) await this.#step(played, step)
    })
  }

  /** Sends every acknowledged message once more. */
  repeatAll(callers: number): Promise<void> {
    return each([...this.acknowledged.values()], callers, async ({ played, message }) => {
      this.repeats++
      const { text } = await this.#deliver(played, message, 'Repeat')
      this.#compare(played, message, text)
    })
  }

  #deliver({ svcCardId, token }: PlayedCard, message: Message, merchantName: string) {
    if (isOfPartner(message)) {
      const path = `/api/v0/partner/svcCard/${svcCardId}/${message.kind}`
      return this.#sendAsPartner(path, moveBodyOf(message))
    }
    return this.#send(`/rails/cards/${message.kind}`, bodyOf(message, token, merchantName))
  }

  /** Sends a message that must be declined or kept for an operator, and moves nothing: the reckoning passes it over. */
  async #sendOdd(played: PlayedCard, message: Message): Promise<void> {
    const oddity = ODDITIES[this.odd++ % ODDITIES.length] ?? {}
    const body = oddBodyOf(message, played.token, oddity)
    const { status, text } = await this.#send(`/rails/cards/${message.kind}`, body)
    const { payload } = JSON.parse(text) as { payload: Record<string, unknown> }
    const refused = status === 202 ? payload['status'] === 'quarantined' : payload['status'] === 'declined'
    if (!refused || payload['detail'] === undefined) this.#fail(played, `${body} got ${status} ${text}`)
  }

  async #step(played: PlayedCard, step: readonly Sending[]): Promise<void> {
    const [first] = step
    if (first && !isOfPartner(first.message) && this.#steps++ % ODD_EVERY === 0)
      await this.#sendOdd(played, first.message)
    const responses = await Promise.all(
      step.map(async ({ message, isRepeat }) => {
        this.sent++
        // Texts for people may differ in a repeat.
        const { status, text } = await this.#deliver(played, message, isRepeat ? 'Corner' : 'Corner Shop')
        // An unload of more than the card has is refused; a repeat of it is asked again.
        const isDecided = status === 200 || (status === 422 && isOfPartner(message))
        if (!isDecided) this.#fail(played, `${message.kind} got ${status} ${text}`)
        return { message, isRepeat: isRepeat && !isOfPartner(message), text }
      }),
    )
    if (responses.length > 1) this.atOnce++
    if (this.#isBroken.has(played)) return
    const fresh = responses.filter(({ isRepeat }) => !isRepeat)
    const card = this.#explain(played.card, fresh)
    if (!card) return this.#fail(played, `no order explains ${JSON.stringify(fresh)}`)
    played.card = card
    for (const { message, text } of fresh)
      if (isOfPartner(message)) this.#noteMove(played, message, text)
      else this.#acknowledge(played, message, text)
    for (const { message, isRepeat, text } of responses)
      if (isRepeat) {
        this.repeats++
        this.#compare(played, message, text)
      }
  }

  /** The card after messages that arrived at once, in the order that their responses fit. */
  #explain(card: Card, got: readonly { message: Message; text: string }[]): Card | undefined {
    if (got.length === 0) return card
    for (const one of got) {
      const { card: after, expected } = reckon(card, one.message, this.#overCapturePercent)
      if (!fits(JSON.parse(one.text).payload, expected)) continue
      const last = this.#explain(
        after,
        got.filter((other) => other !== one),
      )
      if (last) return last
    }
    return undefined
  }

  /** A repeat of a load or an unload that was made gets the same bytes. */
  #noteMove(played: PlayedCard, message: Message, text: string): void {
    const { payload } = JSON.parse(text) as { payload: { loadId?: string } | string }
    if (typeof payload === 'string' || payload.loadId === undefined) return void this.refusedMoves++
    const move = { digest: digest(text), loadId: payload.loadId }
    const first = this.moves.get(message)
    if (!first) return void this.moves.set(message, move)
    this.repeats++
    if (first.digest !== move.digest)
      this.#fail(played, `a repeat of ${message.kind} got another response: ${text}`)
  }

  #acknowledge(played: PlayedCard, message: Message, text: string): void {
    const { messageId, status } = JSON.parse(text).payload as { messageId: string; status: string }
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1)
    this.acknowledged.set(message, { played, message, digest: digest(text), messageId })
  }

  #compare(played: PlayedCard, message: Message, text: string): void {
    if (this.acknowledged.get(message)?.digest !== digest(text))
      this.#fail(played, `a repeat of ${message.kind} got another response: ${text}`)
  }

  /** Later messages of a card that went wrong prove nothing more. */
  #fail(played: PlayedCard, what: string): void {
    if (!this.#isBroken.has(played)) this.broken.push(`${played.svcCardId}: ${what}`)
    this.#isBroken.add(played)
  }
}

const paise = (rupees: number | undefined): number => Math.round((rupees ?? 0) * 100)

/** Whether a response says what it must. */
function fits(payload: Record<string, never> | string, expected: Expected): boolean {
  const { status, responseCode, approved, debited, credited, released, exception, balances } = expected
  if (typeof payload === 'string')
    return status === 'refused' && JSON.parse(payload).error === 'card_balance_too_low'
  if (status === 'moved')
    return payload['loadId'] !== undefined && paise(payload['balance']) === balances?.account
  return (
    payload['status'] === status &&
    payload['responseCode'] === responseCode &&
    paise(payload['approvedAmount']) === approved &&
    paise(payload['debitedAmount']) === debited &&
    paise(payload['creditedAmount']) === credited &&
    paise(payload['releasedAmount']) === released &&
    paise(payload['exceptionAmount']) === exception &&
    (balances
      ? paise(payload['otbBalance']) === balances.otb && paise(payload['accountBalance']) === balances.account
      : payload['accountBalance'] === undefined)
  )
}

/** Does the same with each, by so many callers at a time. */
export async function each<T>(
  all: readonly T[],
  callers: number,
  work: (one: T) => Promise<unknown>,
): Promise<void> {
  const rest = all.values()
  const caller = async () => {
    for (const one of rest) await work(one)
  }
  await Promise.all(Array.from({ length: callers }, caller))
}
