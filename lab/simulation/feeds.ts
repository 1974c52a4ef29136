import type { Call, Callers, Tenant } from './callers.ts'
import { ensure, type World } from './world.ts'

/** Readers of the feeds, who see that nothing is missing and nothing comes twice. */
export class Feeds {
  readonly #world: World
  readonly #tenants: readonly Tenant[]
  readonly #read = new Map<Tenant, { last: number; ids: Set<string>; more: boolean }>()

  constructor(world: World, tenants: readonly Tenant[]) {
    this.#world = world
    this.#tenants = tenants
  }

  /** Endpoints for webhooks, so that what is numbered is queued too. */
  endpoints(): Call[] {
    return this.#tenants.map((who) => ({
      name: 'createWebhookEndpoint',
      who,
      method: 'POST',
      path: '/api/v0/webhook-endpoints',
      headers: { 'idempotency-key': 'endpoint' },
      body: JSON.stringify({ url: 'https://receiver.example/hook' }),
      repeats: 'bytes',
      sure: ({ status, text }) => ensure(status === 200, () => `an endpoint was refused: ${text}`),
    }))
  }

  read(who = this.#world.chance.pick(this.#tenants)): Call {
    const state = this.#read.get(who) ?? { last: 0, ids: new Set<string>(), more: true }
    this.#read.set(who, state)
    const after = state.last
    return {
      name: 'listEvents',
      who,
      method: 'GET',
      path: `/api/v0/events?after=${after}&limit=500`,
      repeats: 'no',
      sure: ({ status, json, text }) => {
        ensure(status === 200, () => `the feed: ${text}`)
        // Two readers at once: the slower one has nothing new to tell.
        if (state.last !== after) return
        for (const { id, sequence } of json.payload.data) {
          ensure(
            sequence === state.last + 1,
            () => `the feed of ${who.id} goes from ${state.last} to ${sequence}`,
          )
          ensure(!state.ids.has(id), () => `${id} is in the feed of ${who.id} twice`)
          state.ids.add(id)
          state.last = sequence
        }
        state.more = json.payload.more
      },
    }
  }

  async readAll(callers: Callers): Promise<void> {
    for (const tenant of this.#tenants)
      for (let more = true; more; more = this.#read.get(tenant)!.more) {
        await callers.exchange([this.read(tenant)], [], false)
        await callers.settleAll()
      }
  }
}
