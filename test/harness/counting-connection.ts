import pg from 'pg'
import type { ConnectionClass } from '../../src/platform/db/database.ts'

/** What has gone to the database so far, over all connections of a service. */
export interface Traffic {
  statements: number
  /** Times that a statement was sent while none was under way on its connection: each waits for the network once. */
  roundTrips: number
}

/** A connection that counts what it sends. */
export function countingConnection(): { readonly traffic: Traffic; readonly Client: ConnectionClass } {
  const traffic: Traffic = { statements: 0, roundTrips: 0 }
  class CountingClient extends pg.Client {
    #underWay = 0

    // The driver's own overloads are all served by passing on what came.
    // oxlint-disable-next-line typescript/no-explicit-any
    override query(...args: any[]): any {
      traffic.statements++
      if (this.#underWay++ === 0) traffic.roundTrips++
      const ended = () => void this.#underWay--
      const last = args.at(-1)
      if (typeof last === 'function') {
        const [callback] = args.splice(-1, 1)
        return super.query(...(args as [string]), (...answer: unknown[]) => (ended(), callback(...answer)))
      }
      const result = super.query(...(args as [string])) as unknown as Promise<unknown>
      void result.catch(() => undefined).then(ended)
      return result
    }
  }
  return { traffic, Client: CountingClient as unknown as ConnectionClass }
}
