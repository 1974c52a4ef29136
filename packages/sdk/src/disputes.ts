import { type Api, pageQuery, payloadOf, type Schemas } from './api.ts'
import { Paged } from './pages.ts'
import type { CallOptions, WriteOptions } from './transport.ts'

/** A payment, or a part of it, that its payer disputes; `amount` is in rupees. */
export type Dispute = Schemas['Dispute']

export interface DisputeFilter {
  readonly status?: Dispute['status']
  /** Size of a page, 50 by default. */
  readonly limit?: number
}

/** Payments that payers dispute. */
export class Disputes {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** @throws SvcError `dispute_not_found` */
  async get(disputeId: string, options?: CallOptions): Promise<Dispute> {
    const params = { path: { disputeId } }
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.GET('/api/v0/disputes/{disputeId}', { params, ...call }))
  }

  /** Disputes, newest first. */
  list({ limit, ...filter }: DisputeFilter = {}, options?: CallOptions): Paged<Dispute> {
    return new Paged(async (after) => {
      const params = { query: { ...filter, ...pageQuery(after, limit) } }
      const call = this.#api.call(options)
      return payloadOf(await this.#api.http.GET('/api/v0/disputes', { params, ...call }))
    })
  }

  /**
   * Contests a dispute, once and before its `evidenceDueOn`.
   *
   * @throws SvcError `dispute_not_found`, `dispute_closed`
   */
  async submitEvidence(disputeId: string, evidence: string, options?: WriteOptions): Promise<Dispute> {
    const params = { path: { disputeId } }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.POST('/api/v0/disputes/{disputeId}/evidence', {
        params,
        body: { evidence },
        ...call,
      }),
    )
  }

  /**
   * Leaves the disputed amount with the payer, for good.
   *
   * @throws SvcError `dispute_not_found`, `dispute_closed`
   */
  async accept(disputeId: string, options?: WriteOptions): Promise<Dispute> {
    const params = { path: { disputeId } }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.POST('/api/v0/disputes/{disputeId}/accept', { params, body: {}, ...call }),
    )
  }
}
