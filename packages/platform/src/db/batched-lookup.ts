import { ByTenant } from '@svc/kernel/by-tenant'

/** What is looked up: an object's id, and the tenant that requests it. */
export interface PointKey {
  readonly tenantId: string
  readonly id: string
}

const KEYS_MAX = 500

interface Waiting<V> {
  readonly key: PointKey
  readonly settle: ((found: Promise<V | undefined>) => void)[]
}

const waitingByTenant = <V>() => new ByTenant(() => new Map<string, Waiting<V>>())

/**
 * Lookups by id that arrive while one is under way go together into the next: always fresh, nothing to invalidate,
 * and one round trip serves all who wait.
 */
export class BatchedLookup<V> {
  readonly #load: (keys: readonly PointKey[]) => Promise<readonly V[]>
  readonly #keyOf: (value: V) => PointKey
  readonly #waiting: Waiting<V>[] = []
  #known = waitingByTenant<V>()
  #running = false

  /** `load` returns what exists, in any order; `keyOf` returns its tenant and id: no tenant gets another's. */
  constructor(load: (keys: readonly PointKey[]) => Promise<readonly V[]>, keyOf: (value: V) => PointKey) {
    this.#load = load
    this.#keyOf = keyOf
  }

  get(tenantId: string, id: string): Promise<V | undefined> {
    return new Promise((resolve) => {
      const ofTenant = this.#known.of(tenantId)
      const known = ofTenant.get(id)
      if (known) known.settle.push(resolve)
      else {
        const waiting = { key: { tenantId, id }, settle: [resolve] }
        ofTenant.set(id, waiting)
        this.#waiting.push(waiting)
      }
      void this.#pump()
    })
  }

  async #pump(): Promise<void> {
    if (this.#running) return
    this.#running = true
    while (this.#waiting.length > 0) {
      const taken = this.#waiting.splice(0, KEYS_MAX)
      if (this.#waiting.length === 0) this.#known = waitingByTenant()
      else for (const { key } of taken) this.#known.of(key.tenantId).delete(key.id)
      const loaded = this.#load(taken.map(({ key }) => key)).then((values) => this.#byKey(values))
      for (const { key, settle } of taken) {
        const found = loaded.then((values) => values.of(key.tenantId).get(key.id))
        for (const resolve of settle) resolve(found)
      }
      await loaded.catch(() => undefined)
    }
    this.#running = false
  }

  #byKey(values: readonly V[]): ByTenant<Map<string, V>> {
    const found = new ByTenant(() => new Map<string, V>())
    for (const value of values) {
      const { tenantId, id } = this.#keyOf(value)
      found.of(tenantId).set(id, value)
    }
    return found
  }
}
