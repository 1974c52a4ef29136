import { statement } from '@svc/platform/db/statement'
import type { CoreServices } from '@svc/platform/services'

const COUNTERS = statement<{ tenant_id: string; last_sequence: bigint }>(
  'directory_event_counters',
  'select * from directory_event_counters($1)',
)
const POLL_MS = 150

/** What a wait found: events after the position, none, or a feed that ends before it. */
type Waited = 'grown' | 'same' | 'ends before'

interface Waiter {
  readonly tenantId: string
  readonly after: bigint
  readonly wake: (found: Waited) => void
}

/** Wakes the streams of this process when their feeds grow. Queries the database only while a stream waits. */
export class EventTail {
  readonly #services: Pick<CoreServices, 'database' | 'log'>
  readonly #waiting = new Set<Waiter>()
  #polling = false

  constructor(services: Pick<CoreServices, 'database' | 'log'>) {
    this.#services = services
  }

  /** Resolves when the feed has moved from `after`, at the end of the time, or when the signal aborts. */
  async wait(tenantId: string, after: bigint, withinMs: number, signal: AbortSignal): Promise<Waited> {
    if (signal.aborted) return 'same'
    let waiter: Waiter | undefined
    const woken = new Promise<Waited>((wake) => {
      waiter = { tenantId, after, wake }
      this.#waiting.add(waiter)
    })
    const giveUp = () => waiter!.wake('same')
    const late = setTimeout(giveUp, withinMs)
    signal.addEventListener('abort', giveUp)
    this.#poll()
    const found = await woken
    clearTimeout(late)
    signal.removeEventListener('abort', giveUp)
    this.#waiting.delete(waiter!)
    return found
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
    // Only those that wait by now: a later one may already have read more than this query finds.
    const waiting = [...this.#waiting]
    const tenants = [...new Set(waiting.map(({ tenantId }) => tenantId))]
    if (tenants.length === 0) return
    try {
      const rows = await this.#services.database.directory(COUNTERS, [tenants])
      const last = new Map(rows.map((row) => [row.tenant_id, row.last_sequence]))
      for (const { tenantId, after, wake } of waiting) {
        const end = last.get(tenantId)
        if (end !== undefined && end !== after) wake(end > after ? 'grown' : 'ends before')
      }
    } catch (error) {
      this.#services.log.warn({ err: error }, 'the feeds of open streams were not read; the next look will')
    }
  }
}
