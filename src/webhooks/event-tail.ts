import { statement } from '../platform/db/statement.ts'
import type { Services } from '../platform/http/operation.ts'

const COUNTERS = statement<{ tenant_id: string; last_sequence: bigint }>(
  'directory_event_counters',
  'select * from directory_event_counters($1)',
)
const POLL_MS = 150

interface Waiter {
  readonly tenantId: string
  readonly after: bigint
  /** Says whether the feed has grown. */
  readonly wake: (grown: boolean) => void
}

/** Wakes the streams of this process when their feeds grow. Asks the database only while somebody waits. */
export class EventTail {
  readonly #services: Services
  readonly #waiting = new Set<Waiter>()
  #polling = false

  constructor(services: Services) {
    this.#services = services
  }

  /** Resolves to true when the feed has gone past `after`; to false at the end of the time, or when the signal says so. */
  async wait(tenantId: string, after: bigint, withinMs: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    let waiter: Waiter | undefined
    const woken = new Promise<boolean>((wake) => {
      waiter = { tenantId, after, wake }
      this.#waiting.add(waiter)
    })
    const giveUp = () => waiter!.wake(false)
    const late = setTimeout(giveUp, withinMs)
    signal.addEventListener('abort', giveUp)
    this.#poll()
    const grown = await woken
    clearTimeout(late)
    signal.removeEventListener('abort', giveUp)
    this.#waiting.delete(waiter!)
    return grown
  }

  #poll(): void {
    if (this.#polling || this.#waiting.size === 0) return
    this.#polling = true
    setTimeout(() => {
      void this.#look().finally(() => {
        this.#polling = false
        this.#poll()
      })
    }, POLL_MS)
  }

  async #look(): Promise<void> {
    const tenants = [...new Set([...this.#waiting].map(({ tenantId }) => tenantId))]
    if (tenants.length === 0) return
    try {
      const rows = await this.#services.database.directory(COUNTERS, [tenants])
      const last = new Map(rows.map((row) => [row.tenant_id, row.last_sequence]))
      for (const { tenantId, after, wake } of this.#waiting)
        if ((last.get(tenantId) ?? 0n) > after) wake(true)
    } catch (error) {
      this.#services.log.warn({ err: error }, 'the feeds of open streams were not read; the next look will')
    }
  }
}
