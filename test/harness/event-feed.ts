import { type Client, type Json, payloadOf } from './client.ts'

/** One page of a tenant's event feed, with a query such as `?limit=500`. */
export const feed = async (tenant: Client, query = ''): Promise<Json> =>
  payloadOf(await tenant.get(`/api/v0/events${query}`))

/** Repeats a request until its response fulfils the condition, where the relay works in between. */
export async function eventually<T>(request: () => Promise<T>, holds: (response: T) => boolean): Promise<T> {
  for (;;) {
    const response = await request()
    if (holds(response)) return response
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The feed's first page, once it has at least `count` events. */
export const feedOf = (tenant: Client, count: number): Promise<Json> =>
  eventually(
    () => feed(tenant, '?limit=500'),
    (page) => page.recordsCount >= count,
  )
