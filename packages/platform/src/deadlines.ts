interface Due {
  readonly deadlineMs: number
}

/** Notices what is still under way at its deadline (`performance.now()` time). One timer serves all, so that each costs little. */
export class Deadlines<T extends Due> {
  readonly #open = new Set<T>()
  readonly #onLate: (late: readonly T[]) => void
  #timer: NodeJS.Timeout | undefined
  #timerMs = Number.POSITIVE_INFINITY

  constructor(onLate: (late: readonly T[]) => void) {
    this.#onLate = onLate
  }

  add(due: T): void {
    this.#open.add(due)
    if (due.deadlineMs < this.#timerMs) this.#setTimer(due.deadlineMs)
  }

  delete(due: T): void {
    this.#open.delete(due)
  }

  #setTimer(atMs: number): void {
    clearTimeout(this.#timer)
    this.#timerMs = atMs
    // Waits for nothing of its own: what is under way keeps the process alive.
    this.#timer = setTimeout(this.#look, Math.max(1, Math.ceil(atMs - performance.now()))).unref()
  }

  readonly #look = (): void => {
    this.#timerMs = Number.POSITIVE_INFINITY
    const nowMs = performance.now()
    const late: T[] = []
    let nextMs = Number.POSITIVE_INFINITY
    for (const due of this.#open)
      if (due.deadlineMs <= nowMs) late.push(due)
      else nextMs = Math.min(nextMs, due.deadlineMs)
    for (const due of late) this.#open.delete(due)
    if (nextMs < Number.POSITIVE_INFINITY) this.#setTimer(nextMs)
    if (late.length > 0) this.#onLate(late)
  }
}

interface Wait extends Due {
  readonly expire: () => void
}

/** Lets callers wait for work until a deadline, whatever becomes of the work. */
export class BoundedWaits {
  readonly #waits = new Deadlines<Wait>((late) => {
    for (const { expire } of late) expire()
  })

  /** Settles as `work` does, or rejects at the deadline with what `late` returns. */
  within<T>(deadlineMs: number, work: Promise<T>, late: () => Error): Promise<T>
  within<T>(deadlineMs: number, work: Promise<T> | T, late: () => Error): Promise<T> | T
  within<T>(deadlineMs: number, work: Promise<T> | T, late: () => Error): Promise<T> | T {
    if (!(work instanceof Promise)) return work
    return new Promise((resolve, reject) => {
      const wait = { deadlineMs, expire: () => reject(late()) }
      this.#waits.add(wait)
      work.then(
        (result) => {
          this.#waits.delete(wait)
          resolve(result)
        },
        (error: unknown) => {
          this.#waits.delete(wait)
          reject(error)
        },
      )
    })
  }
}

const REQUEST_MS_MIN = 1_000

/** Half of the time that a caller waits: so a transaction whose connection fell silent is tried again on another. */
export const requestLimitMs = (commandTimeoutMs: number): number =>
  Math.max(REQUEST_MS_MIN, commandTimeoutMs / 2)
