import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** A failing run is retried after this time, or after the loop's interval if that is longer. */
const PAUSE_AFTER_FAILURE_MS = 1_000
/** While every run fails, a failure is logged this often. */
const LOG_EVERY_MS = 60_000

export interface LoopOptions {
  /** Names the loop in the log and in the metrics. */
  readonly name: string
  /** Time from the end of one run to the start of the next. */
  readonly everyMs: number
  /** One run. Returns true if there is more to do: then the next run starts at once. */
  readonly work: () => Promise<boolean | void>
  /** Whether the first run is at the start, not after `everyMs`. */
  readonly atStart?: true
  /** Whether `stop` runs the work once more, for what arrived since the last run. */
  readonly atStop?: true
}

export interface LoopTools {
  readonly log: Pick<Log, 'warn'>
  readonly metrics: Pick<Metrics, 'loopLastSuccess' | 'loopFailures' | 'loopInterval'>
}

/** Background work of a process, one run at a time. A loop that was stopped does not start again. */
export class Loop {
  readonly #options: LoopOptions
  readonly #tools: LoopTools
  readonly #stop = new AbortController()
  #state: 'new' | 'started' | 'stopped' = 'new'
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #woken = false
  #failing = false
  #failuresInARow = 0
  #loggedAtMs = Number.NEGATIVE_INFINITY
  /** By the caller of `runIfDue`. */
  #ranAtMs = Number.NEGATIVE_INFINITY

  constructor(options: LoopOptions, tools: LoopTools) {
    this.#options = options
    this.#tools = tools
    // So that the series exists before the first failure.
    tools.metrics.loopFailures.inc({ loop: options.name }, 0)
    // What is late for one loop is early for another: alerts measure each by its own interval.
    tools.metrics.loopInterval.set({ loop: options.name }, options.everyMs / 1_000)
  }

  /** Aborted by `stop`: a long run ends early. */
  get stopping(): AbortSignal {
    return this.#stop.signal
  }

  start(): void {
    if (this.#state !== 'new') return
    this.#state = 'started'
    if (this.#options.atStart) this.#begin()
    else this.#wait(this.#options.everyMs)
  }

  /** Runs now, or again after the run in progress. The pause after a failure is not cut short. */
  wake(): void {
    if (this.#state !== 'started') return
    if (this.#running) this.#woken = true
    else if (!this.#failing) this.#begin()
  }

  /** Runs, where nothing starts it, if its interval has passed by that clock; returns when there is no more to do. */
  async runIfDue(nowMs: number): Promise<void> {
    if (nowMs - this.#ranAtMs < this.#options.everyMs) return
    this.#ranAtMs = nowMs
    while (await this.#run());
  }

  /** Resolves when the run in progress has ended. */
  async idle(): Promise<void> {
    await this.#running
  }

  /** Resolves when the run in progress has ended; no other one starts. */
  async stop(): Promise<void> {
    const wasStarted = this.#state === 'started'
    this.#state = 'stopped'
    this.#stop.abort()
    clearTimeout(this.#timer)
    if (wasStarted && this.#options.atStop) this.#running = this.#finish(this.#running)
    await this.#running
  }

  async #finish(running: Promise<void> | undefined): Promise<void> {
    await running
    await this.#run()
  }

  #wait(ms: number): void {
    // A process does not live on for its background work.
    this.#timer = setTimeout(() => this.#begin(), ms).unref()
  }

  #begin(): void {
    clearTimeout(this.#timer)
    this.#running = this.#runAll()
  }

  async #runAll(): Promise<void> {
    let hasMore: boolean
    do {
      this.#woken = false
      hasMore = await this.#run()
    } while (this.#state === 'started' && !this.#failing && (hasMore || this.#woken))
    if (this.#state !== 'started') return
    this.#running = undefined
    const { everyMs } = this.#options
    this.#wait(this.#failing ? Math.max(everyMs, PAUSE_AFTER_FAILURE_MS) : everyMs)
  }

  /** Returns whether there is more to do. */
  async #run(): Promise<boolean> {
    const { name, work } = this.#options
    try {
      const hasMore = await work()
      this.#failing = false
      this.#failuresInARow = 0
      this.#loggedAtMs = Number.NEGATIVE_INFINITY
      this.#tools.metrics.loopLastSuccess.setToCurrentTime({ loop: name })
      return hasMore === true
    } catch (error) {
      this.#failing = true
      this.#failuresInARow++
      this.#tools.metrics.loopFailures.inc({ loop: name })
      this.#logFailure(error)
      return false
    }
  }

  /** Not every failure: while the database is down, each loop fails about once a second. */
  #logFailure(error: unknown): void {
    const nowMs = performance.now()
    if (nowMs - this.#loggedAtMs < LOG_EVERY_MS) return
    this.#loggedAtMs = nowMs
    const { name } = this.#options
    this.#tools.log.warn(
      { err: error, loop: name, failuresInARow: this.#failuresInARow },
      'background work failed; it is retried',
    )
  }
}
