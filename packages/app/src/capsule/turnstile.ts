interface Waiting {
  readonly request: number
  readonly queue: string
  readonly go: () => void
}

/**
 * Requests that are carried out together enter their transactions in the order in which they arrived: the first waits
 * until each of the others has come as far as its own command or has ended. Those of one kind then enter together.
 */
export class Turnstile {
  readonly #live: Set<number>
  #waiting: Waiting[] = []

  constructor(requests: Iterable<number>) {
    this.#live = new Set(requests)
  }

  /** Resolves when a command of the request may enter its queue. */
  pass(request: number, queue: string): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ request, queue, go })
      this.#release()
    })
  }

  ended(request: number): void {
    this.#live.delete(request)
    this.#release()
  }

  #release(): void {
    const waiting = new Set(this.#waiting.map(({ request }) => request))
    for (const request of this.#live) if (!waiting.has(request)) return
    const inOrder = this.#waiting.sort((a, b) => a.request - b.request)
    const first = inOrder[0]
    if (!first) return
    this.#waiting = inOrder.filter(({ queue }) => queue !== first.queue)
    for (const { queue, go } of inOrder) if (queue === first.queue) go()
  }
}
