import type { Clock } from '@svc/kernel/time'
import type { Database } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'

/**
 * Old enough that a token of a key revoked before has expired: the longest life of a token, and a day by which the clock
 * of the database may have been wrong. Looked back from the earlier of its clock and ours.
 */
const CHANGES = statement<{ subject: string; revision: number | null; moves: boolean }>(
  'directory_credential_changes',
  `select subject, revision, false as moves from directory_credential_changes(least($1, now()) - interval '49 hours')
   union all select tenant_id, null, true from directory_moves()`,
)

/** From this age on the list is read again in the background. */
const REFRESH_AFTER_MS = 400
/** From this age on no token is accepted before it is read again: the promise is one second (decision A4). */
const STALE_AFTER_MS = 900

/**
 * Which credentials and tenants must not be let in any more although their tokens have not expired, and which have other
 * limits than when their tokens were issued. Read on demand, never by a timer, so that an idle process costs the
 * database nothing.
 */
export class Revocations {
  readonly #database: Database
  readonly #clock: Clock
  #revoked: ReadonlySet<string> = new Set()
  #revisions: ReadonlyMap<string, number> = new Map()
  #moving: ReadonlySet<string> = new Set()
  /** When the read that gave the list began, in `performance.now()` time. */
  #readAtMs = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  /** Whether any of these subjects is revoked, as of less than a second ago; a yes is as of this call. */
  async includes(...subjects: string[]): Promise<boolean> {
    const age = performance.now() - this.#readAtMs
    if (age > REFRESH_AFTER_MS) {
      const reading = (this.#reading ??= this.#read())
      if (age > STALE_AFTER_MS) await reading
      else reading.catch(() => undefined)
    }
    // A read that took long began too early to be trusted: read again, this time awaited.
    if (performance.now() - this.#readAtMs > STALE_AFTER_MS) await (this.#reading ??= this.#read())
    if (!this.lists(...subjects)) return false
    // A tenant that was enabled again got its token after a newer read, and must not be refused because of an older one.
    await this.readAgain()
    return this.lists(...subjects)
  }

  /** Whether the list that this process has names any of these subjects, without a read. */
  lists(...subjects: string[]): boolean {
    return subjects.some((subject) => this.#revoked.has(subject))
  }

  /** Whether a tenant is on its way to another cell, or lives there, as of the last `includes`. */
  moves(tenantId: string): boolean {
    return this.#moving.has(tenantId)
  }

  /** The revision of a credential's limits that the list has, as of the last `includes`. */
  revisionOf(credentialId: string): number {
    return this.#revisions.get(credentialId) ?? 0
  }

  /** As of this call. A caller waits for the read after the one that may be under way; all waiting callers share it. */
  async readAgain(): Promise<void> {
    await this.#reading?.catch(() => undefined)
    await (this.#reading ??= this.#read())
  }

  async #read(): Promise<void> {
    const beganAtMs = performance.now()
    try {
      const rows = await this.#database.directory(CHANGES, [new Date(this.#clock.now())])
      this.#moving = new Set(rows.filter(({ moves }) => moves).map(({ subject }) => subject))
      this.#revoked = new Set(
        rows.filter(({ moves, revision }) => !moves && revision === null).map(({ subject }) => subject),
      )
      this.#revisions = new Map(
        rows.flatMap(({ subject, revision }) => (revision === null ? [] : [[subject, revision] as const])),
      )
      this.#readAtMs = beganAtMs
    } finally {
      this.#reading = undefined
    }
  }
}
