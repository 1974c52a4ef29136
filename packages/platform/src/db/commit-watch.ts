import { randomBytes } from 'node:crypto'
import { WATCH_CONNECTIONS } from './connection-counts.ts'
import { type ConnectionPool, DatabaseUnavailable } from './connection-pool.ts'
import { sqlState } from './unavailable.ts'

/** A commit that was confirmed so long ago shows nothing any more. Promise N11 allows two seconds. */
const FRESH_MS = 1_500
/** Attempts at a commit begin this far apart, however many ask. */
const EVERY_MS = 300
/** Without a commit for so long, those that ask wait no longer. */
const LATE_MS = 900
/** Longest time for one attempt, with its connection. */
const ATTEMPT_MS = 3_000
/** While nothing can be committed, attempts go on for so long after the last question. */
const WATCHED_MS = 30_000

const DISK_FULL = '53100'

/**
 * Changes no row, and commits as a batch does: its record in the write-ahead log waits for the disk and the standbys.
 * Where an earlier one of this process still waits for a standby, it has the lock, and no further one joins it there.
 */
const emptyCommit = (key: number): string =>
  `begin; select case when pg_try_advisory_xact_lock(hashtext('svc commit watch'), ${key})
   then pg_logical_emit_message(true, 'svc', '')::text end as position; commit`

export interface CommitWatchTools {
  /** Connections for the attempts alone: requests that use up theirs do not stand in the way. */
  readonly pool: () => ConnectionPool
  /** Called once in each time in which nothing can be committed. */
  readonly onLate: () => void
}

/**
 * Whether the database commits, judged by commits that were confirmed: those of batches, and where there are none an empty
 * one. That one is attempted only when someone asks, every 300 ms at most, however many ask; nothing is attempted
 * where a batch has just committed. What is known is returned at once; a first question waits for the first commit.
 */
export class CommitWatch {
  readonly #tools: CommitWatchTools
  readonly #key = randomBytes(4).readInt32BE()
  #confirmedMs = Number.NEGATIVE_INFINITY
  #askedMs = Number.NEGATIVE_INFINITY
  /** Set while a commit is wanted: from the first attempt until one is confirmed. */
  #pursuit: Pursuit | undefined
  #underWay = 0
  /** A write found no room, and none has been seen since. */
  #full = false

  constructor(tools: CommitWatchTools) {
    this.#tools = tools
  }

  /** To be called when the database has confirmed a commit that wrote. */
  saw(): void {
    this.#confirmedMs = performance.now()
    if (!this.#full) this.#end()
  }

  /** To be called for every write that failed. */
  noteFailure(error: unknown): void {
    if (sqlState(error) === DISK_FULL) this.#full = true
  }

  /** Resolves if a commit was confirmed just now; throws what stands in the way. */
  async check(): Promise<void> {
    const nowMs = performance.now()
    this.#askedMs = nowMs
    const ageMs = this.#full ? Number.POSITIVE_INFINITY : nowMs - this.#confirmedMs
    if (ageMs > EVERY_MS) this.#pursue()
    if (ageMs > FRESH_MS) await this.#pursuit?.verdict()
  }

  #pursue(): void {
    if (this.#pursuit) return
    const pursuit = new Pursuit()
    this.#pursuit = pursuit
    const round = (): void => {
      if (this.#pursuit !== pursuit) return
      const nowMs = performance.now()
      if (nowMs - this.#askedMs > WATCHED_MS) return this.#end()
      if (pursuit.failures > 1 || nowMs - pursuit.sinceMs >= LATE_MS) this.#giveUp(pursuit)
      if (this.#underWay < WATCH_CONNECTIONS) void this.#attempt(pursuit)
      // Behind the responses that have arrived: a process that stood still is no database that does.
      pursuit.timer = setTimeout(() => setImmediate(round), EVERY_MS).unref()
    }
    round()
  }

  async #attempt(pursuit: Pursuit): Promise<void> {
    this.#underWay++
    try {
      if (await this.#commit()) this.saw()
    } catch (error) {
      this.noteFailure(error)
      pursuit.failures++
      pursuit.cause = error
    } finally {
      this.#underWay--
    }
  }

  /** Whether it committed; false where an earlier attempt still waits for its commit. */
  async #commit(): Promise<boolean> {
    const { client, release } = await this.#tools.pool().lease(ATTEMPT_MS)
    let broken: Error | undefined
    try {
      if (this.#full) await client.query('select require_room()')
      // Of several statements `pg` returns an array.
      const results = (await client.query(emptyCommit(this.#key))) as unknown as Selected[]
      this.#full = false
      return results[1]!.rows[0]!.position !== null
    } catch (error) {
      broken = error as Error
      throw error
    } finally {
      release(broken)
    }
  }

  #giveUp(pursuit: Pursuit): void {
    if (pursuit.isLost) return
    pursuit.lose()
    this.#tools.onLate()
  }

  #end(): void {
    this.#pursuit?.end()
    this.#pursuit = undefined
  }
}

type Selected = { readonly rows: readonly { readonly position: string | null }[] }

/** Attempts, one after the other, at one commit. */
class Pursuit {
  readonly sinceMs = performance.now()
  timer: NodeJS.Timeout | undefined
  failures = 0
  /** What the last attempt failed with. */
  cause: unknown
  isLost = false
  readonly #decided: Promise<void>
  #decide!: () => void

  constructor() {
    this.#decided = new Promise((resolve) => (this.#decide = resolve))
  }

  /** Resolves with a commit; throws once none is to be expected. */
  async verdict(): Promise<void> {
    await this.#decided
    if (this.isLost) throw this.cause ?? new DatabaseUnavailable(`nothing was committed within ${LATE_MS} ms`)
  }

  lose(): void {
    this.isLost = true
    this.#decide()
  }

  end(): void {
    clearTimeout(this.timer)
    this.#decide()
  }
}
