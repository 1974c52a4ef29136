/** So many pieces of work at a time; the others wait in their order, until their signal aborts. */
export class Slots {
  readonly #max: number
  #taken = 0
  readonly #waiting = new Set<() => void>()

  constructor(max: number) {
    this.#max = max
  }

  get idle(): boolean {
    return this.#taken === 0
  }

  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#take(signal)
    try {
      return await work()
    } finally {
      this.#give()
    }
  }

  #take(signal: AbortSignal): Promise<void> | undefined {
    signal.throwIfAborted()
    if (this.#taken < this.#max) {
      this.#taken++
      return undefined
    }
    return new Promise((resolve, reject) => {
      const given = () => {
        signal.removeEventListener('abort', gone)
        resolve()
      }
      const gone = () => {
        this.#waiting.delete(given)
        reject(signal.reason as Error)
      }
      this.#waiting.add(given)
      signal.addEventListener('abort', gone, { once: true })
    })
  }

  /** Hands the slot to the one who has waited longest. */
  #give(): void {
    const [next] = this.#waiting
    if (!next) this.#taken--
    else {
      this.#waiting.delete(next)
      next()
    }
  }
}
