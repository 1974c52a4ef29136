/** What is looked up: a thing's id, and the tenant who asks. */
export interface PointKey {
  readonly tenantId: string
  readonly id: string
}

const KEYS_MAX = 500
const nameOf = ({ tenantId, id }: PointKey): string => `${tenantId} ${id}`

interface Waiting<V> {
  readonly key: PointKey
  readonly settle: ((found: Promise<V | undefined>) => void)[]
}

/**
 * Look-ups by id that arrive while one is under way go together into the next: always fresh, nothing to invalidate,
 * and one round trip serves all who wait.
 */
export class PointRead<V> {
  readonly #load: (keys: readonly PointKey[]) => Promise<readonly V[]>
  readonly #keyOf: (value: V) => PointKey
  readonly #waiting = new Map<string, Waiting<V>>()
  #running = false

  /** `load` answers what exists, in any order; `keyOf` tells whose and which it is: nobody gets another's. */
  constructor(load: (keys: readonly PointKey[]) => Promise<readonly V[]>, keyOf: (value: V) => PointKey) {
    this.#load = load
    this.#keyOf = keyOf
  }

  get(tenantId: string, id: string): Promise<V | undefined> {
    return new Promise((resolve) => {
      const key = { tenantId, id }
      const waiting = this.#waiting.get(nameOf(key))
      if (waiting) waiting.settle.push(resolve)
      else this.#waiting.set(nameOf(key), { key, settle: [resolve] })
      void this.#pump()
    })
  }

  async #pump(): Promise<void> {
    if (this.#running) return
    this.#running = true
    while (this.#waiting.size > 0) {
      const taken = [...this.#waiting].slice(0, KEYS_MAX)
      for (const [name] of taken) this.#waiting.delete(name)
      const loaded = this.#load(taken.map(([, { key }]) => key)).then(
        (values) => new Map(values.map((value) => [nameOf(this.#keyOf(value)), value])),
      )
      for (const [name, { settle }] of taken) {
        const found = loaded.then((values) => values.get(name))
        for (const resolve of settle) resolve(found)
      }
      await loaded.catch(() => undefined)
    }
    this.#running = false
  }
}
