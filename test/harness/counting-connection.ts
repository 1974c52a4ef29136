import type { ConnectionClass } from '@svc/platform/db/database'
import pg from 'pg'

/** What went to the database under one name, over all connections of a service. */
interface Sent {
  times: number
  /**
   * Of these, after a result of the round trip before: each waits for the network once more. What else is under way on
   * the connection then does not count, as it depends on the load.
   */
  roundTrips: number
}

/** By the statement's name; of those without one by the first word, such as `commit`. */
export type Traffic = Map<string, Sent>

const nameOf = (query: string | { name?: string; text?: string }): string =>
  typeof query === 'string' ? query.split(/\W/, 1)[0]! : (query.name ?? query.text ?? '')

/** A connection that counts what it sends. */
export function countingConnection(): { readonly traffic: Traffic; readonly Client: ConnectionClass } {
  const traffic: Traffic = new Map()
  class CountingClient extends pg.Client {
    #round = 0
    #isOver = true
    #reads = false

    // The driver's own overloads are all served by passing on what came.
    // oxlint-disable-next-line typescript/no-explicit-any
    override query(...args: any[]): any {
      const name = nameOf(args[0])
      const sent = traffic.get(name) ?? { times: 0, roundTrips: 0 }
      traffic.set(name, sent)
      sent.times++
      // Nobody waits for the end of a reader's transaction.
      if (name === 'commit' && this.#reads) return super.query(...(args as [string]))
      if (name === 'begin') this.#reads = String(args[0]).startsWith('begin read only')
      if (this.#isOver) {
        this.#round++
        this.#isOver = false
        sent.roundTrips++
      }
      const round = this.#round
      const callback = typeof args.at(-1) === 'function' ? args.pop() : undefined
      // Told before whoever waits for the answer: what they send next is a round trip of its own, whatever the load.
      return new Promise((resolve, reject) => {
        super.query(...(args as [string]), (error: Error | null, result: unknown) => {
          if (round === this.#round) this.#isOver = true
          if (callback) callback(error, result)
          else if (error) reject(error)
          else resolve(result)
        })
      })
    }
  }
  return { traffic, Client: CountingClient as unknown as ConnectionClass }
}
