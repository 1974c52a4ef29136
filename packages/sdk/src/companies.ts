import { type Api, pageQuery, pastQuery, payloadOf, type Schemas } from './api.ts'
import { Paged } from './pages.ts'
import type { operations } from './schema.ts'
import type { CallOptions, ReadOptions, WriteOptions } from './transport.ts'

/** A customer of a partner, whose employees hold cards and coins. */
export type Company = Schemas['PartnerCompany']
/** An employee of a company. What is not known is absent. */
export type User = Schemas['PartnerUser']
/** What the cards of a company are loaded from; amounts in rupees. */
export type CardAccount = Schemas['PartnerCardAccount']
/** Where to transfer money for a card account. */
export type FundingInstructions = Schemas['FundingInstructions']
/** What the records of cards say, as the partner sets it. */
export type RecordSettings = Schemas['RecordSettings']
/** What a partner may set on a card account. */
export type CardAccountSettings = Schemas['CardAccountSettings']
type Body<O extends keyof operations> = operations[O] extends {
  requestBody: { content: { 'application/json': infer B } }
}
  ? B
  : never
type Listing = CallOptions & { readonly limit?: number }

/** A partner's companies. */
export class Companies {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  async create(company: Body<'createCompany'>, options?: WriteOptions): Promise<Company> {
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.POST('/api/v0/partner/companies', { body: company, ...call }))
  }

  /** @throws SvcError `company_not_found` */
  async get(companyId: string, options?: CallOptions): Promise<Company> {
    const call = this.#api.call(options)
    const params = { path: { companyId } }
    return payloadOf(await this.#api.http.GET('/api/v0/partner/companies/{companyId}', { params, ...call }))
  }

  /** Newest first. */
  list({ limit, ...options }: Listing = {}): Paged<Company> {
    return new Paged(async (after) => {
      const params = { query: pageQuery(after, limit) }
      const call = this.#api.call(options)
      return payloadOf(await this.#api.http.GET('/api/v0/partner/companies', { params, ...call }))
    })
  }

  /** @throws SvcError `company_not_found` */
  async update(companyId: string, changes: Body<'updateCompany'>, options?: WriteOptions): Promise<Company> {
    const params = { path: { companyId } }
    const call = this.#api.call(options)
    const request = { params, body: changes, ...call }
    return payloadOf(await this.#api.http.PATCH('/api/v0/partner/companies/{companyId}', request))
  }
}

/** The users of a partner's companies. */
export class Users {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** @throws SvcError `company_not_found`, `already_exists` */
  async create(user: Body<'createUser'>, options?: WriteOptions): Promise<User> {
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.POST('/api/v0/partner/users', { body: user, ...call }))
  }

  /** @throws SvcError `user_not_found` */
  async get(userId: string, options?: CallOptions): Promise<User> {
    const params = { path: { userId } }
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.GET('/api/v0/partner/users/{userId}', { params, ...call }))
  }

  /** Of a company, or of all, newest first. */
  list(companyId?: string, { limit, ...options }: Listing = {}): Paged<User> {
    return new Paged(async (after) => {
      const params = { query: { ...(companyId !== undefined && { companyId }), ...pageQuery(after, limit) } }
      const call = this.#api.call(options)
      return payloadOf(await this.#api.http.GET('/api/v0/partner/users', { params, ...call }))
    })
  }

  /** `null` removes a field. @throws SvcError `user_not_found`, `already_exists` */
  async update(userId: string, changes: Body<'updateUser'>, options?: WriteOptions): Promise<User> {
    const params = { path: { userId } }
    const call = this.#api.call(options)
    const request = { params, body: changes, ...call }
    return payloadOf(await this.#api.http.PATCH('/api/v0/partner/users/{userId}', request))
  }

  /** Erases the personal data of a user for good. @throws SvcError `user_not_found`, `user_in_use` */
  async erase(userId: string, options?: WriteOptions): Promise<User> {
    const params = { path: { userId } }
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.POST('/api/v0/partner/users/{userId}/erase', { params, ...call }))
  }
}

/** A partner's card accounts. */
export class CardAccounts {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** Opens an empty account. @throws SvcError `company_not_found`, `load_over_limit` */
  async create(account: Body<'createCardAccount'>, options?: WriteOptions): Promise<CardAccount> {
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.POST('/api/v0/partner/card-accounts', { body: account, ...call }))
  }

  /** With `asOf`, its balance of then. @throws SvcError `card_account_not_found` */
  async get(cardAccountId: string, options?: ReadOptions): Promise<CardAccount> {
    const params = { path: { cardAccountId }, query: pastQuery(options) }
    const request = { params, ...this.#api.call(options) }
    return payloadOf(await this.#api.http.GET('/api/v0/partner/card-accounts/{cardAccountId}', request))
  }

  /** Where to transfer money for it. @throws SvcError `card_account_not_found`, `funding_not_set_up` */
  async fundingInstructions(cardAccountId: string, options?: CallOptions): Promise<FundingInstructions> {
    const params = { path: { cardAccountId } }
    const request = { params, ...this.#api.call(options) }
    const path = '/api/v0/partner/card-accounts/{cardAccountId}/funding-instructions'
    return payloadOf(await this.#api.http.GET(path, request))
  }

  /** Newest first; all, or those of a company. */
  list({ limit, companyId, ...options }: Listing & { readonly companyId?: string } = {}): Paged<CardAccount> {
    return new Paged(async (after) => {
      const query = { ...pageQuery(after, limit), ...(companyId !== undefined && { companyId }) }
      const call = this.#api.call(options)
      const params = { query }
      return payloadOf(await this.#api.http.GET('/api/v0/partner/card-accounts', { params, ...call }))
    })
  }

  /** @throws SvcError `card_account_not_found`, `load_over_limit` */
  async update(
    cardAccountId: string,
    changes: Body<'updateCardAccount'>,
    options?: WriteOptions,
  ): Promise<CardAccountSettings> {
    const params = { path: { cardAccountId } }
    const request = { params, body: changes, ...this.#api.call(options) }
    return payloadOf(await this.#api.http.PATCH('/api/v0/partner/card-accounts/{cardAccountId}', request))
  }

  /** What the records of all cards say where their card account states nothing of its own. */
  async recordSettings(options?: CallOptions): Promise<RecordSettings> {
    return payloadOf(await this.#api.http.GET('/api/v0/partner/record-settings', this.#api.call(options)))
  }

  /** `null` unsets a field. */
  async updateRecordSettings(
    changes: Body<'updateRecordSettings'>,
    options?: WriteOptions,
  ): Promise<RecordSettings> {
    const request = { body: changes, ...this.#api.call(options) }
    return payloadOf(await this.#api.http.PATCH('/api/v0/partner/record-settings', request))
  }
}
