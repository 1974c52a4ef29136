import { type Api, pageQuery, pastQuery, payloadOf, type Schemas } from './api.ts'
import { Paged } from './pages.ts'
import type { operations } from './schema.ts'
import type { CallOptions, ReadOptions, WriteOptions } from './transport.ts'

/** What an event earns: a coin configuration. */
export type CoinConfig = Schemas['CoinConfig']
/** Coins that an event earned a user, or why it earned none. */
export type CoinAllocation = Schemas['CoinAllocation']
export type CoinRedemption = Schemas['CoinRedemption']
export type CoinBalance = Schemas['CoinBalance']
/** What became of an allocation. */
export type CoinAllocationState = Schemas['CoinAllocationState']
/** Pending coins that became active. */
export type CoinActivation = Schemas['CoinActivation']
/** An allocation that was taken back. */
export type CoinVoid = Schemas['CoinVoid']
/** Coins that all users of a partner hold. */
export type CoinLiability = Schemas['CoinLiability']
export type CoinHistoryEntry = Schemas['CoinHistoryEntry']
type Body<O extends keyof operations> = operations[O] extends {
  requestBody?: { content: { 'application/json': infer B } }
}
  ? B
  : never
type WithLimit = CallOptions & { readonly limit?: number }

/** A partner's coins: configurations of what an event earns, and users' coins. */
export class Coins {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** @throws SvcError `coin_config_not_found` */
  async getConfig(coinConfigId: string, options?: CallOptions): Promise<CoinConfig> {
    const params = { path: { coinConfigId } }
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.GET('/api/v0/svc-coins/{coinConfigId}', { params, ...call }))
  }

  async createConfig(config: Body<'createCoinConfig'>, options?: WriteOptions): Promise<CoinConfig> {
    return payloadOf(
      await this.#api.http.POST('/api/v0/svc-coins', { body: config, ...this.#api.call(options) }),
    )
  }

  /**
   * Changes a configuration that you have read: if it was changed meanwhile, nothing happens.
   *
   * @throws SvcError `revision_mismatch`
   */
  async updateConfig(
    { coinConfigId, revision }: Pick<CoinConfig, 'coinConfigId' | 'revision'>,
    changes: NonNullable<Body<'updateCoinConfig'>>,
    options?: WriteOptions,
  ): Promise<CoinConfig> {
    const params = { path: { coinConfigId }, header: { 'If-Match': `"${revision}"` } }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.PATCH('/api/v0/svc-coins/{coinConfigId}', { params, body: changes, ...call }),
    )
  }

  async deactivateConfig(coinConfigId: string, options?: WriteOptions): Promise<CoinConfig> {
    const params = { path: { coinConfigId } }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.POST('/api/v0/svc-coins/{coinConfigId}/deactivate', { params, body: {}, ...call }),
    )
  }

  /** Configurations, newest first. */
  configs(
    filter: Omit<NonNullable<Body<'searchCoinConfigs'>>, 'after'> = {},
    options?: CallOptions,
  ): Paged<CoinConfig> {
    return new Paged(async (after) => {
      const body = { ...filter, ...(after !== undefined && { after }) }
      return payloadOf(
        await this.#api.http.POST('/api/v0/svc-coins/search', { body, ...this.#api.call(options) }),
      )
    })
  }

  /** What a configuration said before, newest first. */
  revisions(coinConfigId: string, { limit, ...options }: WithLimit = {}): Paged<CoinConfig> {
    return new Paged(async (after) => {
      const params = { path: { coinConfigId }, query: pageQuery(after, limit) }
      const call = this.#api.call(options)
      return payloadOf(
        await this.#api.http.GET('/api/v0/svc-coins/{coinConfigId}/revisions', { params, ...call }),
      )
    })
  }

  /** Gives a user the coins of an event, exactly once for each `requestId`; with `dryRun` returns what would happen. */
  async allocate(event: Body<'allocateCoins'>, options?: WriteOptions): Promise<CoinAllocation> {
    return payloadOf(
      await this.#api.http.POST('/api/v0/svc-coins/allocate', { body: event, ...this.#api.call(options) }),
    )
  }

  /** What became of an allocation. */
  async allocation(allocationId: string, options?: CallOptions): Promise<CoinAllocationState> {
    const params = { path: { allocationId } }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.GET('/api/v0/svc-coins/allocations/{allocationId}', { params, ...call }),
    )
  }

  /** Makes a pending allocation active that waits for confirmation; confirming again returns the first response. */
  async confirm(allocationId: string, options?: WriteOptions): Promise<CoinActivation> {
    const params = { path: { allocationId } }
    const call = this.#api.call(options)
    const path = '/api/v0/svc-coins/allocations/{allocationId}/confirm'
    return payloadOf(await this.#api.http.POST(path, { params, body: {}, ...call }))
  }

  /**
   * Takes an allocation back, exactly once for each `requestId`.
   *
   * @throws SvcError `coin_allocation_voided`
   */
  async void(
    allocationId: string,
    request: Body<'voidCoinAllocation'>,
    options?: WriteOptions,
  ): Promise<CoinVoid> {
    const params = { path: { allocationId } }
    const call = this.#api.call(options)
    const path = '/api/v0/svc-coins/allocations/{allocationId}/void'
    return payloadOf(await this.#api.http.POST(path, { params, body: request, ...call }))
  }

  /** Takes coins from a user, those that expire soonest first, exactly once for each `requestId`. */
  async redeem(redemption: Body<'redeemCoins'>, options?: WriteOptions): Promise<CoinRedemption> {
    return payloadOf(
      await this.#api.http.POST('/api/v0/svc-coins/redeem', { body: redemption, ...this.#api.call(options) }),
    )
  }

  async balance(userId: string, options?: ReadOptions): Promise<CoinBalance> {
    const params = { path: { userId }, query: pastQuery(options) }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.GET('/api/v0/svc-coins/users/{userId}/balance', { params, ...call }),
    )
  }

  /** What a user earned, spent and lost, newest first. */
  history(userId: string, { limit, ...options }: WithLimit = {}): Paged<CoinHistoryEntry> {
    return new Paged(async (after) => {
      const params = { path: { userId }, query: pageQuery(after, limit) }
      const call = this.#api.call(options)
      return payloadOf(
        await this.#api.http.GET('/api/v0/svc-coins/users/{userId}/history', { params, ...call }),
      )
    })
  }

  /** Coins that all your users hold now; with `rupeesPerCoin`, such as `'0.25'`, also what they are worth. */
  async liability({
    rupeesPerCoin,
    ...options
  }: CallOptions & { readonly rupeesPerCoin?: string } = {}): Promise<CoinLiability> {
    const params = { query: { ...(rupeesPerCoin !== undefined && { rupeesPerCoin }) } }
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.GET('/api/v0/svc-coins/reports/liability', { params, ...call }))
  }
}
