import { type Api, payloadOf, type Schemas } from './api.ts'
import { Deadline } from './deadline.ts'
import { ConnectionError, isFailure, SvcError, UnexpectedResponseError } from './errors.ts'
import { type Message, messagesOf } from './event-stream.ts'
import { Paged } from './pages.ts'
import { requireNumber } from './required.ts'
import { retryAfterOf } from './retries.ts'
import type { CallOptions } from './transport.ts'
import { type FeedVerification, FeedVerifier, type VerifyOptions } from './verify-feed.ts'

/** What each type of event brings along. */
export interface EventData {
  'qr_code.created': Schemas['QrCode']
  'qr_code.credited': Schemas['PaymentRecord'] & { readonly qrCodeId: string }
  'qr_code.cancelled': Schemas['ClosedQrCode']
  'qr_code.expired': Schemas['QrCode']
  'payment.refund_pending': Schemas['PaymentRecord'] | Schemas['PaymentWithRefund']
  'payment.refunded': Schemas['PaymentRecord'] | Schemas['PaymentWithRefund']
  'payment.refund_failed': Schemas['PaymentWithRefund']
  'payment.suspended': Schemas['PaymentRecord']
  'payment.settled': Schemas['SettledPayment']
  'payment.settlement_reversed': Schemas['SettledPayment']
  'payment.adjusted': Schemas['PaymentWithAdjustment']
  'payment.assigned': Schemas['PaymentRecord']
  'payment.unassigned': Schemas['PaymentRecord']
  'payment.disputed': Schemas['Dispute']
  'dispute.evidence_sent': Schemas['Dispute']
  'dispute.evidence_requested': Schemas['Dispute']
  'dispute.won': Schemas['Dispute']
  'dispute.lost': Schemas['Dispute']
  'payout.paid': Schemas['Payout']
  'payout.failed': Schemas['Payout']
  'card.created': Schemas['Card']
  'card.status_changed': Schemas['Card']
  'card.spent': Schemas['CardReceipt']
  'card.refunded': Schemas['CardReceipt'] | Schemas['CardMessage']
  'card.authorized': Schemas['CardMessage']
  'card.declined': Schemas['CardMessage']
  'card.captured': Schemas['CardMessage']
  'card.voided': Schemas['CardMessage']
  'card.hold_expired': Schemas['CardHold']
  'card.expiring': Schemas['CardNotice']
  'card.expired': Schemas['CardNotice']
  'card.replaced': Schemas['CardReplacement']
  'card.unclaimed_soon': Schemas['CardNotice']
  'card.return_waiting': Schemas['CardReturn']
  'card.loaded': Schemas['CardLoad']
  'card.unloaded': Schemas['CardLoad']
  'card.returned': Schemas['CardReturn']
  'card.return_reversed': Schemas['CardReturn']
  'card_account.funded': Schemas['FundedCardAccount']
  'card_account.withdrawn': Schemas['FundedCardAccount']
  'card_account.funding_reversed': Schemas['FundedCardAccount']
  'card_account.withdrawal_reversed': Schemas['FundedCardAccount']
  'card_account.low': Schemas['LowCardAccount']
  'spend_rule.created': Schemas['SpendRule']
  'spend_rule.removed': Schemas['SpendRule']
  'user.erased': Schemas['ErasedUser']
  'coins.allocated': Schemas['CoinAllocation']
  'coins.pending': Schemas['CoinAllocation']
  'coins.activated': Schemas['CoinActivation']
  'coins.voided': Schemas['CoinVoid']
  'coins.redeemed': Schemas['CoinRedemption']
  'coins.expiring': {
    readonly userId: string
    readonly amount: number
    readonly allocations: readonly {
      readonly allocationId: string
      readonly amount: number
      readonly expiresOn: string
    }[]
    readonly balance: number
  }
  'coins.expired': {
    readonly userId: string
    readonly amount: number
    readonly allocations: readonly { readonly allocationId: string; readonly amount: number }[]
    readonly balance: number
  }
  'coin_config.changed': Schemas['CoinConfig']
  'tax_document.issued': Schemas['TaxDocument']
  'merchant.updated': Schemas['MerchantChange']
  'credential.issued': Schemas['CredentialChange']
  'credential.revoked': Schemas['CredentialChange']
  'member.invited': Schemas['MemberChange']
  'member.factor_reset': Schemas['MemberChange']
  'api_key.revoked': {
    readonly apiKeyId: string
    readonly name: string
    readonly prefix: string
    readonly createdOn: string
    readonly revokedOn: string
  }
}

export type EventType = keyof EventData
/** An event of one type. `sequence` counts 1, 2, 3 … for each tenant, without gaps. */
export type EventOf<T extends EventType> = Omit<Schemas['Event'], 'type' | 'data'> & {
  readonly type: T
  readonly data: EventData[T]
}
/** An event; `type` determines what `data` is. */
export type Event = { [T in EventType]: EventOf<T> }[EventType]

interface Since<T extends EventType> extends CallOptions {
  /**
   * Begin after this sequence, such as that of the last event that you have processed. By default begin with the oldest
   * event that is kept; 0 requires the very first one.
   */
  readonly after?: number
  /** Only events of this type. */
  readonly type?: T
}

interface Following<T extends EventType> extends Omit<Since<T>, 'maxRetries'> {
  /** How often in a row a connection may fail before this throws; 30 by default, `Infinity` to go on for ever. */
  readonly maxReconnects?: number
  /** Is given why there is no connection, before each wait for the next one. */
  readonly onReconnect?: (cause: unknown) => void
}

const RECONNECT_MS = 1_000
const MAX_RECONNECTS = 30
/** The longest wait that a response may ask for. */
const RECONNECT_MS_MAX = 60_000

/** A tenant's events: what happened so far, and what happens next. */
export class Events {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /**
   * The events so far, oldest first.
   *
   * @throws SvcError `events_forgotten`, `events_ahead`, as of `follow`
   */
  list<T extends EventType = EventType>({
    after: first,
    type,
    limit,
    ...options
  }: Since<T> & { readonly limit?: number } = {}): Paged<Extract<Event, { type: T }>> {
    return new Paged(async (after) => {
      const place = after === undefined ? first : Number(after)
      const query = {
        ...(place !== undefined && { after: place }),
        ...(limit !== undefined && { limit }),
        ...(type && { type }),
      }
      const call = this.#api.call(options)
      const page = payloadOf(await this.#api.http.GET('/api/v0/events', { params: { query }, ...call }))
      return {
        data: page.data as unknown as Extract<Event, { type: T }>[],
        ...(page.more && { next: String(page.next) }),
      }
    })
  }

  /** The sequence of the newest event, 0 before the first one: `follow({ after: await events.latest() })` begins now. */
  async latest(options?: CallOptions): Promise<number> {
    const params = { query: { after: 'latest' as const } }
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.GET('/api/v0/events', { params, ...call })).next
  }

  /**
   * Verifies that no event was changed, removed, added or moved since the head that you remember, and that the balances of
   * your accounts are what their entries add up to. Keep `head` of the result for the next time; the guide says how heads
   * are compared with those of others.
   *
   * @throws Error when the head is not signed by a published key; SvcError and others as all calls
   */
  verify(options: VerifyOptions = {}): Promise<FeedVerification> {
    return new FeedVerifier(this.#api, options).verify()
  }

  /**
   * The events that are kept and then each as it happens, for as long as you read: `for await (const event of events.follow())`.
   * A connection that is lost, or on which nothing arrives for 45 seconds, is made again after the last event, so that
   * nothing is missed or delivered twice. End it with `break` or a signal. A tenant may have five streams at a time in each
   * process of the service.
   *
   * @throws SvcError when the service refuses: `events_forgotten` when events after `after` are no longer kept,
   * `events_ahead` when the feed ends before it, because the service was restored from a backup; UnexpectedResponseError
   * when an event is not in the service's form. When more than `maxReconnects` connections in a row have failed, one a
   * second and each tried once, why the last one failed: SvcError, such as `too_many_event_streams`,
   * UnexpectedResponseError of a proxy, or ConnectionError when there was no response
   */
  async *follow<T extends EventType = EventType>({
    after,
    type,
    maxReconnects = MAX_RECONNECTS,
    onReconnect,
    ...options
  }: Following<T> = {}): AsyncGenerator<Extract<Event, { type: T }>, void, undefined> {
    requireNumber('maxReconnects', maxReconnects)
    let last = after
    for (let failures = 0; ; ) {
      let waitMs = RECONNECT_MS
      let response: Response | undefined
      try {
        response = await this.#openStream(last, type, options)
        // Proxies cut long responses, with or without an event in them.
        failures = 0
        for await (const message of messagesOf(response)) {
          const event = eventOf(message, response)
          last = event.sequence
          yield event as Extract<Event, { type: T }>
        }
      } catch (error) {
        if (!mayReconnect(error, response)) throw error
        if (++failures > maxReconnects)
          throw error instanceof ConnectionError
            ? new ConnectionError('The stream of events', failures, error)
            : error
        onReconnect?.(error)
        waitMs = Math.max(waitMs, Math.min(RECONNECT_MS_MAX, retryAfterOf(error) ?? 0))
      }
      const pause = new Deadline(Number.POSITIVE_INFINITY, options.signal)
      await pause.pause(waitMs, 'The stream of events', failures)
    }
  }

  /** One connection. Following makes the next one, so the transport does not. */
  async #openStream(
    after: number | undefined,
    type: EventType | undefined,
    options: CallOptions,
  ): Promise<Response> {
    const query = { ...(after !== undefined && { after }), ...(type && { type }) }
    const stream = this.#api.stream('text/event-stream', { ...options, maxRetries: 0 })
    const { response } = await this.#api.http.GET('/api/v0/events/stream', { params: { query }, ...stream })
    return response
  }
}

/** @throws UnexpectedResponseError when it is no event with its sequence. */
function eventOf({ id, data }: Message, response: Response): Event {
  try {
    const event = JSON.parse(data) as Event
    if (id === String(event.sequence)) return event
  } catch {
    // Not JSON either.
  }
  throw new UnexpectedResponseError(response, 'The stream of events has a message that is no event', {
    body: data,
  })
}

/** Whether another connection may help: not where the service refuses, and not after an event that cannot be read. */
function mayReconnect(error: unknown, begun: Response | undefined): error is Error {
  if (error instanceof SvcError) return error.status >= 500 || error.status === 408 || error.status === 429
  return isFailure(error) && !(begun && error instanceof UnexpectedResponseError)
}
