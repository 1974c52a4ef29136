import { type Api, pageQuery, payloadOf, type Schemas } from './api.ts'
import { Paged } from './pages.ts'
import type { operations } from './schema.ts'
import type { CallOptions, WriteOptions } from './transport.ts'

/** What cards may be used for, and how much of it; amounts in rupees. */
export type SpendRule = Schemas['SpendRule']
/** What other rules would have changed. */
export type SpendBacktest = Schemas['SpendBacktest']
type Body<O extends 'backtestSpendRules' | 'createSpendRule'> = NonNullable<
  operations[O]['requestBody']
>['content']['application/json']
type Filter = NonNullable<operations['listSpendRules']['parameters']['query']>

/** A partner's spend rules. */
export class SpendRules {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** @throws SvcError `card_not_found`, `card_account_not_found`, `spend_rule_not_found`, `too_many_spend_rules` */
  async create(rule: Body<'createSpendRule'>, options?: WriteOptions): Promise<SpendRule> {
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.POST('/api/v0/partner/spend-rules', { body: rule, ...call }))
  }

  /** @throws SvcError `spend_rule_not_found` */
  async get(spendRuleId: string, options?: CallOptions): Promise<SpendRule> {
    const request = { params: { path: { spendRuleId } }, ...this.#api.call(options) }
    return payloadOf(await this.#api.http.GET('/api/v0/partner/spend-rules/{spendRuleId}', request))
  }

  /** Newest first, removed ones too. */
  list({ limit, ...filter }: Filter = {}, options?: CallOptions): Paged<SpendRule> {
    return new Paged(async (after) => {
      const params = { query: { ...filter, ...pageQuery(after, limit) } }
      const call = this.#api.call(options)
      return payloadOf(await this.#api.http.GET('/api/v0/partner/spend-rules', { params, ...call }))
    })
  }

  /** A repeat returns the same. @throws SvcError `spend_rule_not_found` */
  async remove(spendRuleId: string, options?: WriteOptions): Promise<SpendRule> {
    const request = { params: { path: { spendRuleId } }, ...this.#api.call(options) }
    return payloadOf(await this.#api.http.DELETE('/api/v0/partner/spend-rules/{spendRuleId}', request))
  }

  /** What the proposal would have changed of the last 90 days; changes nothing. @throws SvcError `backtest_too_large` */
  async backtest(proposal: Body<'backtestSpendRules'> = {}, options?: CallOptions): Promise<SpendBacktest> {
    const call = this.#api.call(options)
    const path = '/api/v0/partner/spend-rules/backtest'
    return payloadOf(await this.#api.http.POST(path, { body: proposal, ...call }))
  }
}
