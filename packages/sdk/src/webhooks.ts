import { type Api, pageQuery, payloadOf, type Schemas } from './api.ts'
import { SvcError } from './errors.ts'
import { Paged } from './pages.ts'
import type { operations } from './schema.ts'
import type { CallOptions, WriteOptions } from './transport.ts'

/** Where events are sent to. */
export type WebhookEndpoint = Schemas['WebhookEndpoint']
/** The same with the secret that verifies deliveries, which is returned once. */
export type WebhookEndpointWithSecret = Schemas['WebhookEndpointWithSecret']
/** One delivery and its response. */
export type WebhookAttempt = Schemas['WebhookAttempt']
type NewEndpoint = operations['createWebhookEndpoint']['requestBody']['content']['application/json']

/** A tenant's webhook endpoints. `verifyWebhook` checks what arrives there. */
export class Webhooks {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** Makes an endpoint. Keep its `secret`: it is not returned again. */
  async create(endpoint: NewEndpoint, options?: WriteOptions): Promise<WebhookEndpointWithSecret> {
    return payloadOf(
      await this.#api.http.POST('/api/v0/webhook-endpoints', { body: endpoint, ...this.#api.call(options) }),
    )
  }

  async list(options?: CallOptions): Promise<WebhookEndpoint[]> {
    return payloadOf(await this.#api.http.GET('/api/v0/webhook-endpoints', this.#api.call(options))).data
  }

  /** @throws SvcError `webhook_endpoint_not_found` */
  async get(endpointId: string, options?: CallOptions): Promise<WebhookEndpoint> {
    const params = { path: { endpointId } }
    const call = this.#api.call(options)
    return payloadOf(await this.#api.http.GET('/api/v0/webhook-endpoints/{endpointId}', { params, ...call }))
  }

  async update(
    endpointId: string,
    changes: Partial<NewEndpoint>,
    options?: WriteOptions,
  ): Promise<WebhookEndpoint> {
    const params = { path: { endpointId } }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.PATCH('/api/v0/webhook-endpoints/{endpointId}', {
        params,
        body: changes,
        ...call,
      }),
    )
  }

  /** Removes an endpoint. That it is gone after a response was lost is no failure. */
  async delete(endpointId: string, options?: WriteOptions): Promise<void> {
    const params = { path: { endpointId } }
    const call = this.#api.call(options)
    try {
      payloadOf(await this.#api.http.DELETE('/api/v0/webhook-endpoints/{endpointId}', { params, ...call }))
    } catch (error) {
      if (!(SvcError.is(error) && error.status === 404 && error.attempts > 1)) throw error
    }
  }

  /** Gives a new secret; the previous ones go on signing for `graceSeconds`, a day by default. */
  async rotateSecret(
    endpointId: string,
    { graceSeconds, ...options }: WriteOptions & { readonly graceSeconds?: number } = {},
  ): Promise<WebhookEndpointWithSecret> {
    const params = { path: { endpointId } }
    const body = { ...(graceSeconds !== undefined && { graceSeconds }) }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.POST('/api/v0/webhook-endpoints/{endpointId}/rotate-secret', {
        params,
        body,
        ...call,
      }),
    )
  }

  /** Deliveries of an endpoint, newest first; of one event when given. */
  attempts(
    endpointId: string,
    { eventId, limit, ...options }: CallOptions & { readonly eventId?: string; readonly limit?: number } = {},
  ): Paged<WebhookAttempt> {
    return new Paged(async (after) => {
      const query = { ...pageQuery(after, limit), ...(eventId !== undefined && { eventId }) }
      const call = this.#api.call(options)
      return payloadOf(
        await this.#api.http.GET('/api/v0/webhook-endpoints/{endpointId}/attempts', {
          params: { path: { endpointId }, query },
          ...call,
        }),
      )
    })
  }

  /** Sends one event again. */
  async resend(endpointId: string, eventId: string, options?: WriteOptions): Promise<{ queued: number }> {
    const params = { path: { endpointId } }
    const call = this.#api.call(options)
    return payloadOf(
      await this.#api.http.POST('/api/v0/webhook-endpoints/{endpointId}/resend', {
        params,
        body: { eventId },
        ...call,
      }),
    )
  }

  /**
   * Sends everything again that happened from one instant until before another (RFC 3339), or only what was sent and never
   * taken; returns how many.
   */
  async replay(
    endpointId: string,
    range: { from: string; to: string; failedOnly?: boolean },
    options?: CallOptions,
  ): Promise<number> {
    const params = { path: { endpointId } }
    let queued = 0
    for (let after: number | undefined; ; ) {
      const body = { ...range, ...(after !== undefined && { after }) }
      const call = this.#api.call(options)
      const part = payloadOf(
        await this.#api.http.POST('/api/v0/webhook-endpoints/{endpointId}/replay', { params, body, ...call }),
      )
      queued += part.queued
      if (!part.more) return queued
      after = part.next
    }
  }
}
