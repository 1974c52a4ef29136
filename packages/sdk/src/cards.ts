import { type Api, pageQuery, pastQuery, payloadOf, type Schemas } from './api.ts'
import type { Encrypter, ResponseDecrypter } from './encryption.ts'
import { isFailure, SvcError } from './errors.ts'
import { Paged } from './pages.ts'
import { recordsOf } from './record-stream.ts'
import type { operations } from './schema.ts'
import type { CallOptions, ReadOptions, WriteOptions } from './transport.ts'

/** A card, as `issue` and `get` return it. */
export type Card = Schemas['Card']
/** The record that incentive partners find. */
export type IncentiveCard = Schemas['IncentiveCard']
/** The twelve fields that employee-rewards partners find. */
export type RewardsCard = Schemas['RewardsCard']
/** An order for a gift card. `loadAmount` is in whole rupees. */
export type GiftCardOrder = Schemas['GiftCardOrder']
/** One change in a card's life. */
export type CardChange = Schemas['CardChange']
/** An authorisation with what became of it, or a movement of a card's money; amounts in rupees. */
export type CardTransaction = Schemas['CardTransaction']
/** What moved the money of a card in a period, between two balances of the ledger. */
export type CardStatement = Schemas['CardStatement']
/** The end of a card, and its link to the card that it replaced or that has replaced it. */
export type CardEnd = Schemas['CardEnd']
/** The remaining balance of a blocked or expired card, on its way back to its card account. */
export type CardReturn = Schemas['CardReturn']
/** A load of a card after its first one, or an unload. */
export type CardLoad = Schemas['CardLoad']
/** What to load, or to take back; `amount` is in rupees. */
export type CardLoadRequest = NonNullable<
  operations['loadCard']['requestBody']
>['content']['application/json']
/** One load of many; `amount` is in rupees. */
export interface BulkLoad extends CardLoadRequest {
  readonly svcCardId: string
}
/** An upload of many orders or loads, and how far it is. */
export type BulkJob = Schemas['BulkJob']
/** What became of one order or load of an upload. */
export type BulkResult = Schemas['BulkResult']
/** A company and one of its card accounts. */
export interface CardAccountRef {
  readonly companyId: string
  readonly cardAccountId: string
}
type TransactionFilter = NonNullable<operations['findCardTransactions']['parameters']['query']>
type StatementPeriod = NonNullable<operations['getCardStatement']['parameters']['query']>
type CardStatus = NonNullable<operations['changeCardStatus']['requestBody']>['content']['application/json']
type CardFlags = NonNullable<operations['setCardFlags']['requestBody']>['content']['application/json']

/** How often a search of a whole account is taken up again where it broke off, without a record in between. */
const RESUMES_MAX = 3
/** What encryption waits for. */
const PUBLISHED_KEYS = 'GET /.well-known/jwks.json'

/** A partner's cards. */
export class Cards {
  readonly #api: Api
  readonly #encrypter: Encrypter
  readonly #decrypter: ResponseDecrypter | undefined

  constructor(api: Api, encrypter: Encrypter, decrypter: ResponseDecrypter | undefined) {
    this.#api = api
    this.#encrypter = encrypter
    this.#decrypter = decrypter
  }

  /**
   * Issues a gift card. The order is encrypted once and repeated as it is, so that a lost response never makes a second
   * card; it is encrypted again only when the service has changed its key meanwhile, under the same key of the intent.
   *
   * @throws SvcError `insufficient_funds`, `company_not_found`, `card_account_not_found`, `user_not_found`, `user_erased`,
   *   `load_over_limit`, `order_reference_in_use`
   */
  async create(order: GiftCardOrder, options: WriteOptions = {}): Promise<Card> {
    const deadline = this.#api.deadline(options)
    const { idempotencyKey = crypto.randomUUID() } = options
    const call = this.#api.call({ ...options, idempotencyKey }, this.#decrypter, deadline)
    const post = async (body: string) =>
      payloadOf(await this.#api.http.POST('/api/v0/partner/svcCard', { body, ...call }))
    const inTime = <T>(encryption: Promise<T>) => deadline.wait(encryption, PUBLISHED_KEYS)
    const { jwe, kid } = await inTime(this.#encrypter.encrypt(order))
    try {
      return await post(jwe)
    } catch (error) {
      if (!SvcError.is(error, 'decryption_failed') || !(await inTime(this.#encrypter.replaced(kid))))
        throw error
      return post((await inTime(this.#encrypter.encrypt(order))).jwe)
    }
  }

  /**
   * Encrypts orders for `createMany`: a compact JWE for each, in their order. Keep them until their job is done, also over
   * a restart; nothing in them is readable. Each is carried out once, however often it is uploaded. An order that is
   * encrypted again is another order.
   *
   * @throws ConnectionError, UnexpectedResponseError when the published keys cannot be read
   */
  async encryptMany(orders: Iterable<GiftCardOrder>, options: CallOptions = {}): Promise<string[]> {
    const deadline = this.#api.deadline(options)
    const jwes: string[] = []
    for (const order of orders)
      jwes.push((await deadline.wait(this.#encrypter.encrypt(order), PUBLISHED_KEYS)).jwe)
    return jwes
  }

  /**
   * Uploads orders that `encryptMany` encrypted, at most 16 MiB at once; `bulkJob` and `bulkResults` return what became of
   * them. After a ConnectionError upload the same ones again: the default `idempotencyKey` is their hash, so a repeat
   * returns the first job.
   *
   * @throws SvcError `overloaded` when too many orders wait already; TypeError when an order is not encrypted
   */
  async createMany(
    encryptedOrders: readonly string[],
    options: WriteOptions = {},
  ): Promise<{ jobId: string; rows: number }> {
    const deadline = this.#api.deadline(options)
    if (encryptedOrders.some((jwe) => typeof jwe !== 'string'))
      throw new TypeError('createMany uploads encrypted orders: give it what encryptMany returned')
    return this.#upload('/api/v0/partner/svcCard/bulk', encryptedOrders, options, deadline)
  }

  /**
   * Loads many cards, at most 16 MiB at once; `bulkJob` and `bulkResults` return what became of each. A `referenceNumber`
   * names one load, however often it is uploaded. After a ConnectionError upload the same ones again: the default
   * `idempotencyKey` is their hash, so a repeat returns the first job. To try failed rows once more, give another key.
   *
   * @throws SvcError `overloaded` when too many rows wait already
   */
  async loadMany(
    loads: readonly BulkLoad[],
    options: WriteOptions = {},
  ): Promise<{ jobId: string; rows: number }> {
    const lines = loads.map((load) => JSON.stringify(load))
    return this.#upload('/api/v0/partner/svcCard/bulk/loads', lines, options, this.#api.deadline(options))
  }

  async #upload(
    path: '/api/v0/partner/svcCard/bulk' | '/api/v0/partner/svcCard/bulk/loads',
    lines: readonly string[],
    options: WriteOptions,
    deadline: ReturnType<Api['deadline']>,
  ): Promise<{ jobId: string; rows: number }> {
    const body = lines.join('\n')
    const { idempotencyKey = await sha256(body) } = options
    const call = this.#api.call({ ...options, idempotencyKey }, undefined, deadline)
    const headers = { ...call.headers, 'Content-Type': 'application/x-ndjson' }
    const bodySerializer = () => body
    return payloadOf(await this.#api.http.POST(path, { body, bodySerializer, ...call, headers }))
  }

  /** @throws SvcError `bulk_job_not_found` */
  async bulkJob(jobId: string, options?: CallOptions): Promise<BulkJob> {
    const params = { path: { jobId } }
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.GET('/api/v0/partner/svcCard/bulk/{jobId}', { params, ...call }))
  }

  /** What became of each row of an upload, in its order. */
  bulkResults(
    jobId: string,
    { limit, ...options }: CallOptions & { readonly limit?: number } = {},
  ): Paged<BulkResult> {
    return new Paged(async (after) => {
      const params = { path: { jobId }, query: pageQuery(after, limit) }
      const call = this.#api.call(options)
      return payloadOf(
        await this.#api.http.GET('/api/v0/partner/svcCard/bulk/{jobId}/results', { params, ...call }),
      )
    })
  }

  /** @throws SvcError `card_not_found` */
  async get(svcCardId: string, options?: ReadOptions): Promise<Card> {
    const params = { path: { svcCardId }, query: pastQuery(options) }
    const call = this.#api.call(options, this.#decrypter)
    return payloadOf(await this.#api.http.GET('/api/v0/partner/svcCard/{svcCardId}', { params, ...call }))
  }

  /**
   * One card by the search: the full record for incentive partners, twelve fields for employee-rewards partners;
   * `undefined` when the account has no such card.
   *
   * @throws SvcError `company_not_found`, `card_account_not_found`
   */
  async find(
    { companyId, cardAccountId, svcCardId }: CardAccountRef & { readonly svcCardId: string },
    options?: CallOptions,
  ): Promise<IncentiveCard | RewardsCard | undefined> {
    const call = this.#api.call(options, this.#decrypter)
    const response = await this.#api.http.POST('/api/v0/partner/svcCard/search', {
      body: { companyId, cardAccountId, svcCardId },
      ...call,
    })
    return payloadOf(response).data[0]
  }

  /**
   * All cards of an account, of employee-rewards partners: one streamed response, read as you read, in constant memory.
   * One that breaks off is taken up again after the last card that came.
   *
   * @throws SvcError `company_not_found`, `card_account_not_found`, `too_many_streams`
   */
  async *all(
    { companyId, cardAccountId }: CardAccountRef,
    options?: CallOptions,
  ): AsyncGenerator<RewardsCard, void, undefined> {
    let after: string | undefined
    for (let resumes = 0; ; resumes++) {
      const body = { companyId, cardAccountId, ...(after !== undefined && { after }) }
      const stream = this.#api.stream('application/json', options)
      const { response } = await this.#api.http.POST('/api/v0/partner/svcCard/search', { body, ...stream })
      try {
        for await (const card of recordsOf<RewardsCard>(response)) {
          after = card.svcCardId
          resumes = 0
          yield card
        }
        return
      } catch (error) {
        if (resumes >= RESUMES_MAX || !isFailure(error)) throw error
      }
    }
  }

  /** Locks (`L`), unlocks (`UL`) or blocks (`BL`, for good, with a reason) a card. */
  async setStatus(svcCardId: string, change: CardStatus, options?: WriteOptions): Promise<Card> {
    const params = { path: { svcCardId } }
    const call = this.#api.call(options, this.#decrypter)
    return payloadOf(
      await this.#api.http.PATCH('/api/v0/partner/svcCard/{svcCardId}/status', {
        params,
        body: change,
        ...call,
      }),
    )
  }

  /** Activates a physical card once it has arrived. */
  async activate(svcCardId: string, options?: WriteOptions): Promise<Card> {
    const params = { path: { svcCardId } }
    const call = this.#api.call(options, this.#decrypter)
    return payloadOf(
      await this.#api.http.POST('/api/v0/partner/svcCard/{svcCardId}/activate', {
        params,
        body: {},
        ...call,
      }),
    )
  }

  /**
   * Replaces a card: a new one with a new number gets its balance, the old one is blocked for good. Returns the new card;
   * again for a card that was replaced before.
   *
   * @throws SvcError `card_not_found`, `nothing_left`, `return_waiting`
   */
  async replace(svcCardId: string, reason: string, options?: WriteOptions): Promise<Card> {
    const params = { path: { svcCardId } }
    const call = this.#api.call(options, this.#decrypter)
    return payloadOf(
      await this.#api.http.POST('/api/v0/partner/svcCard/{svcCardId}/replace', {
        params,
        body: { reason },
        ...call,
      }),
    )
  }

  /**
   * Sends what is left on a blocked or expired card back to its card account. `consentReference` names your record of the
   * holder's consent; a repeat with it returns the first return.
   *
   * @throws SvcError `card_not_found`, `card_not_ended`, `nothing_left`, `return_waiting`
   */
  async returnBalance(
    svcCardId: string,
    consentReference: string,
    options?: WriteOptions,
  ): Promise<CardReturn> {
    const params = { path: { svcCardId } }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.POST('/api/v0/partner/svcCard/{svcCardId}/return', {
        params,
        body: { consentReference },
        ...call,
      }),
    )
  }

  /**
   * Loads a card again, from its card account. `referenceNumber` names the load: a repeat returns the first response.
   *
   * @throws SvcError `card_not_found`, `card_not_reloadable`, `card_ended`, `load_over_limit`, `insufficient_funds`,
   *   `load_reference_in_use`
   */
  async load(svcCardId: string, load: CardLoadRequest, options?: WriteOptions): Promise<CardLoad> {
    const params = { path: { svcCardId } }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.POST('/api/v0/partner/svcCard/{svcCardId}/loads', { params, body: load, ...call }),
    )
  }

  /**
   * Takes money of a card that is neither spent nor held back to its card account, where that allows it. A repeat of the
   * `referenceNumber` returns the first response.
   *
   * @throws SvcError `card_not_found`, `unload_not_allowed`, `card_ended`, `card_balance_too_low`, `load_reference_in_use`
   */
  async unload(svcCardId: string, unload: CardLoadRequest, options?: WriteOptions): Promise<CardLoad> {
    const params = { path: { svcCardId } }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.POST('/api/v0/partner/svcCard/{svcCardId}/unloads', {
        params,
        body: unload,
        ...call,
      }),
    )
  }

  /** When a card expires or ended, what has replaced it, and what was returned to its card account. */
  async end(svcCardId: string, options?: CallOptions): Promise<CardEnd> {
    const params = { path: { svcCardId } }
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.GET('/api/v0/partner/svcCard/{svcCardId}/end', { params, ...call }))
  }

  /** Sets where the holder may use the card. */
  async setFlags(svcCardId: string, flags: CardFlags, options?: WriteOptions): Promise<Card> {
    const params = { path: { svcCardId } }
    const call = this.#api.call(options, this.#decrypter)
    return payloadOf(
      await this.#api.http.PATCH('/api/v0/partner/svcCard/{svcCardId}/flags', {
        params,
        body: flags,
        ...call,
      }),
    )
  }

  /** Authorisations and movements of money of all cards, newest first. */
  listTransactions(
    { limit, ...filter }: TransactionFilter = {},
    options?: CallOptions,
  ): Paged<CardTransaction> {
    return new Paged(async (after) => {
      const params = { query: { ...filter, ...pageQuery(after, limit) } }
      const call = this.#api.call(options)
      return payloadOf(await this.#api.http.GET('/api/v0/partner/card-transactions', { params, ...call }))
    })
  }

  /** Authorisations and movements of money of a card, newest first. */
  transactions(
    svcCardId: string,
    { limit, ...options }: CallOptions & { readonly limit?: number } = {},
  ): Paged<CardTransaction> {
    return new Paged(async (after) => {
      const params = { path: { svcCardId }, query: pageQuery(after, limit) }
      const call = this.#api.call(options)
      return payloadOf(
        await this.#api.http.GET('/api/v0/partner/svcCard/{svcCardId}/transactions', { params, ...call }),
      )
    })
  }

  /** What moved the money of a card in whole days; by default this month until today. */
  async statement(
    svcCardId: string,
    period: StatementPeriod = {},
    options?: CallOptions,
  ): Promise<CardStatement> {
    const params = { path: { svcCardId }, query: period }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.GET('/api/v0/partner/svcCard/{svcCardId}/statement', { params, ...call }),
    )
  }

  /** What happened to a card, by whom and why. */
  history(
    svcCardId: string,
    { limit, ...options }: CallOptions & { readonly limit?: number } = {},
  ): Paged<CardChange> {
    return new Paged(async (after) => {
      const params = { path: { svcCardId }, query: pageQuery(after, limit) }
      const call = this.#api.call(options)
      return payloadOf(
        await this.#api.http.GET('/api/v0/partner/svcCard/{svcCardId}/history', { params, ...call }),
      )
    })
  }
}

async function sha256(text: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
