import { type Api, payloadOf, type Schemas } from './api.ts'
import { Deadline } from './deadline.ts'
import { ConnectionError, SvcError } from './errors.ts'
import { messagesOf } from './event-stream.ts'
import { Paged } from './pages.ts'
import type { CallOptions } from './transport.ts'

/** What each type of event brings along. */
export interface EventData {
  'qr_code.created': Schemas['QrCode']
  'qr_code.credited': Schemas['PaymentRecord'] & { readonly qrCodeId: string }
  'qr_code.payment_refunded': Schemas['PaymentRecord'] & { readonly qrCodeId: string }
  'qr_code.cancelled': Schemas['ClosedQrCode']
  'qr_code.expired': Schemas['QrCode']
  'payment.refund_pending': Schemas['PaymentRecord'] | Schemas['PaymentWithRefund']
  'payment.refunded': Schemas['PaymentRecord'] | Schemas['PaymentWithRefund']
  'payment.refund_failed': Schemas['PaymentWithRefund']
  'payment.suspended': Schemas['PaymentRecord']
  'payment.settled': Schemas['PaymentRecord']
  'payment.adjusted': Schemas['PaymentWithAdjustment']
  'payment.assigned': Schemas['PaymentRecord']
  'payment.disputed': Schemas['Dispute']
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
  'card.returned': Schemas['CardReturn']
  'card.return_reversed': Schemas['CardReturn']
  'card_account.funded': Schemas['FundedCardAccount']
  'card_account.withdrawn': Schemas['FundedCardAccount']
  'card_account.low': Schemas['LowCardAccount']
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
  /** Begin after this sequence; 0, the default, begins with the first event. */
  readonly after?: number
  /** Only events of this type. */
  readonly type?: T
}

interface Following<T extends EventType> extends Since<T> {
  /** How often in a row a connection may fail before this throws; 30 by default, `Infinity` to go on for ever. */
  readonly reconnectsMax?: number
  /** Is given why there is no connection, before each wait for the next one. */
  readonly onReconnect?: (cause: unknown) => void
}

const RECONNECT_MS = 1_000
const RECONNECTS_MAX = 30

/** A tenant's events: what happened so far, and what happens next. */
export class Events {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** The events so far, oldest first. */
  list<T extends EventType = EventType>({
    after: first = 0,
    type,
    limit,
    ...options
  }: Since<T> & { readonly limit?: number } = {}): Paged<Extract<Event, { type: T }>> {
    return new Paged(async (after) => {
      const place = after === undefined ? first : Number(after)
      const query = { after: place, ...(limit !== undefined && { limit }), ...(type && { type }) }
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
   * The events so far and then each as it happens, for as long as you read: `for await (const event of events.follow())`.
   * A connection that is lost is made again after the last event, so that nothing is missed or delivered twice. End
   * it with `break` or a signal.
   *
   * @throws SvcError when the service refuses: `events_forgotten` when events after `after` are no longer kept,
   * `events_ahead` when the feed ends before it, because the service was restored from a backup; ConnectionError when the
   * service stays away for half a minute
   */
  async *follow<T extends EventType = EventType>({
    after = 0,
    type,
    reconnectsMax = RECONNECTS_MAX,
    onReconnect,
    ...options
  }: Following<T> = {}): AsyncGenerator<Extract<Event, { type: T }>, void, undefined> {
    let last = after
    for (let failures = 0; ; ) {
      try {
        const query = { after: last, ...(type && { type }) }
        const stream = this.#api.stream(options)
        const { response } = await this.#api.http.GET('/api/v0/events/stream', {
          params: { query },
          ...stream,
        })
        // Proxies cut long responses, with or without an event in them.
        if (response.ok) failures = 0
        for await (const { id, data } of messagesOf(response)) {
          last = Number(id)
          yield JSON.parse(data) as Extract<Event, { type: T }>
        }
      } catch (error) {
        options.signal?.throwIfAborted()
        if (error instanceof SvcError && error.status < 500 && error.status !== 429) throw error
        if (++failures > reconnectsMax) throw new ConnectionError('The stream of events', failures, error)
        onReconnect?.(error)
      }
      await new Deadline(2 * RECONNECT_MS, options.signal).pause(
        RECONNECT_MS,
        'The stream of events',
        failures,
      )
    }
  }
}
