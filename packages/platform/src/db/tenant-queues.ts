import { groupBy } from '@svc/kernel/group-by'
import type { Entry, PreparedCommand } from './command-spec.ts'

interface TenantQueue<C extends PreparedCommand> {
  entries: Entry<C>[]
  /** While later than now (`performance.now()`), the tenant's commands wait. */
  heldUntilMs: number
  /** Rows of the tenant were held by others when its commands were last tried. */
  held: boolean
}

/**
 * Commands that wait, one queue a tenant, served round-robin: a tenant that sends much slows only itself. The order
 * of one tenant's commands is kept, also for those that had to be put back.
 */
export class TenantQueues<C extends PreparedCommand> {
  readonly #queues = new Map<string, TenantQueue<C>>()
  readonly #perTenantMax: number
  #size = 0

  constructor(perTenantMax: number) {
    this.#perTenantMax = perTenantMax
  }

  /** Commands that wait. */
  get size(): number {
    return this.#size
  }

  /** Commands that wait for rows which others hold: they take nothing but memory. */
  get held(): number {
    let held = 0
    for (const queue of this.#queues.values()) if (queue.held) held += queue.entries.length
    return held
  }

  /** False when the tenant has its share of waiting commands already. */
  add(entry: Entry<C>): boolean {
    const queue = this.#queue(entry.tenantId)
    if (queue.entries.length >= this.#perTenantMax) return false
    queue.entries.push(entry)
    this.#size++
    return true
  }

  /** Up to `most` commands, one from each tenant in turn; tenants on hold are passed over. */
  take(most: number, nowMs: number): Entry<C>[] {
    const ready: [string, TenantQueue<C>][] = []
    for (const [tenantId, queue] of this.#queues) {
      if (queue.entries.length > 0 && queue.heldUntilMs <= nowMs) ready.push([tenantId, queue])
    }
    if (ready.length === 0) return []
    const taken: Entry<C>[] = []
    const counts = fairShares(
      ready.map(([, queue]) => queue.entries.length),
      most,
    )
    ready.forEach(([tenantId, queue], i) => {
      taken.push(...queue.entries.splice(0, counts[i]))
      // To the end of the line; a tenant with nothing more to say is forgotten.
      this.#queues.delete(tenantId)
      if (queue.entries.length > 0 || queue.held) this.#queues.set(tenantId, queue)
    })
    this.#size -= taken.length
    return taken
  }

  /** Takes out commands whose callers have a response. */
  dropSettled(): void {
    for (const [tenantId, queue] of this.#queues) {
      const waiting = queue.entries.filter(({ isSettled }) => !isSettled)
      this.#size -= queue.entries.length - waiting.length
      queue.entries = waiting
      if (waiting.length === 0 && !queue.held) this.#queues.delete(tenantId)
    }
  }

  isHeld(tenantId: string): boolean {
    return this.#queues.get(tenantId)?.held ?? false
  }

  /** Puts commands back in front, to be tried again after a moment. */
  hold(entries: readonly Entry<C>[], untilMs: number): void {
    for (const [tenantId, back] of groupBy(entries, (entry) => entry.tenantId)) {
      const queue = this.#queue(tenantId)
      queue.entries.unshift(...back)
      queue.held = true
      queue.heldUntilMs = untilMs
      this.#size += back.length
    }
  }

  /** The tenant's rows are free again. */
  release(tenantId: string): void {
    const queue = this.#queues.get(tenantId)
    if (!queue?.held) return
    queue.held = false
    if (queue.entries.length === 0) this.#queues.delete(tenantId)
  }

  #queue(tenantId: string): TenantQueue<C> {
    let queue = this.#queues.get(tenantId)
    if (!queue) {
      queue = { entries: [], heldUntilMs: 0, held: false }
      this.#queues.set(tenantId, queue)
    }
    return queue
  }
}

/** How many of each queue go, when `most` may go and each gets the same unless it has less. */
export function fairShares(lengths: readonly number[], most: number): number[] {
  const shares = lengths.map(() => 0)
  let left = most
  let open = lengths.map((_, i) => i)
  while (left > 0 && open.length > 0) {
    const share = Math.max(1, Math.floor(left / open.length))
    for (const i of open) {
      const extra = Math.min(share, lengths[i]! - shares[i]!, left)
      shares[i]! += extra
      left -= extra
    }
    open = open.filter((i) => shares[i]! < lengths[i]!)
  }
  return shares
}
