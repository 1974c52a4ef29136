import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '@svc/contract/errors'
import {
  type BulkKind,
  type BulkOutcome,
  type DueJob,
  leaseLines,
  OPEN_JOBS,
  type OpenJob,
  saveOutcomes,
} from '@svc/core/cards/bulk/bulk-job'
import { abortWith } from '@svc/platform/abort'
import { isUnavailable } from '@svc/platform/db/database'
import { Loop } from '@svc/platform/loop'
import type { Services } from '../http/operation.ts'
import type { BulkWork, LeasedLine } from './bulk-lines.ts'
import { bulkLoads } from './bulk-loads.ts'
import { bulkOrders } from './bulk-orders.ts'

const POLL_MS = 250
/** Partners of which one query returns the open jobs. */
const PARTNERS_MAX = 100
/** After single requests came, a chunk waits until none has come for so long. */
const CALM_MS = 20
/** So long a chunk waits for that. Then it goes all the same: last, but not never. */
const PATIENCE_MS = 1_000
/** While others send commands, a chunk is followed by a rest this many times as long as it took. */
const RESTS = 4
/** A row that meets an internal error this often is given up. */
const ATTEMPTS_MAX = 5

/** Of one kind: what was submitted for its jobs, so that the rest is known to be single requests. */
interface Pace {
  ownSubmitted: number
  /** Single requests that had come when the last chunk began. */
  singlesSeen: number
  quiet: Promise<void> | undefined
}
const newPace = (): Pace => ({ ownSubmitted: 0, singlesSeen: 0, quiet: undefined })

/**
 * Carries out bulk jobs a few rows at a time, behind single requests, in their commit queue. All processes share the
 * work by leases on rows; a lease only spares double work. After a crash a row is submitted again and gets the first
 * response.
 */
export class BulkWorker {
  readonly #services: Services
  readonly #work: Readonly<Record<BulkKind, BulkWork>>
  readonly #paces: Readonly<Record<BulkKind, Pace>> = { issue: newPace(), load: newPace() }
  readonly loop: Loop

  constructor(services: Services) {
    this.#services = services
    this.#work = { issue: bulkOrders(services), load: bulkLoads(services) }
    const work = () => this.#round()
    this.loop = new Loop({ name: 'bulk_jobs', everyMs: POLL_MS, work, atStart: true }, services)
  }

  /** One chunk for every partner that has a job: partners take turns. False when there was nothing to do. */
  async #round(): Promise<boolean> {
    const { database } = this.#services
    let worked = false
    for (const job of await database.directory(OPEN_JOBS, [PARTNERS_MAX])) {
      await this.#waitForQuiet(job.kind)
      if (this.loop.stopping.aborted) break
      const others = this.#others()
      const begunMs = performance.now()
      worked = (await this.#chunk(job)) || worked
      if (this.#others() > others) await this.#rest((performance.now() - begunMs) * RESTS)
    }
    return worked
  }

  /** Commands of all kinds that others submitted so far. */
  #others(): number {
    const { issue, load } = this.#paces
    return this.#services.commands.submitted() - issue.ownSubmitted - load.ownSubmitted
  }

  async #rest(forMs: number): Promise<void> {
    await sleep(Math.min(forMs, PATIENCE_MS), undefined, { signal: this.loop.stopping }).catch(
      () => undefined,
    )
  }

  async #waitForQuiet(kind: BulkKind): Promise<void> {
    const [{ command }, pace] = [this.#work[kind], this.#paces[kind]]
    const singles = command.submitted() - pace.ownSubmitted
    pace.quiet ??= command
      .quiet(singles === pace.singlesSeen ? 0 : CALM_MS)
      .then(() => (pace.quiet = undefined))
    pace.singlesSeen = singles
    const patience = new AbortController()
    abortWith(patience, this.loop.stopping)
    const { signal } = patience
    await Promise.race([pace.quiet, sleep(PATIENCE_MS, undefined, { signal }).catch(() => undefined)])
    patience.abort()
  }

  async #chunk(job: DueJob): Promise<boolean> {
    const { clock, config, database } = this.#services
    const { BULK_LEASE_MS, BULK_CHUNK_ROWS } = config
    const time = clock.of(job.partnerId)
    const lines = await database.write([job.partnerId], (tx) =>
      leaseLines(tx, job, BULK_LEASE_MS, BULK_CHUNK_ROWS, time.offsetMs()),
    )
    if (lines.length === 0) return false
    const outcomes = await Promise.all(lines.map((line) => this.#carryOut(job, line)))
    await database.write([job.partnerId], (tx) => saveOutcomes(tx, job, outcomes, time.offsetMs()))
    return outcomes.some(({ status }) => status !== 'later')
  }

  async #carryOut(job: DueJob, row: LeasedLine): Promise<BulkOutcome> {
    const submitting = () => void this.#paces[job.kind].ownSubmitted++
    try {
      return await this.#work[job.kind].carryOut(job, row, submitting)
    } catch (error) {
      return error instanceof Failure ? { line: row.line, status: 'later' } : this.#troubled(job, row, error)
    }
  }

  #troubled({ jobId }: OpenJob, { line, attempts }: LeasedLine, error: unknown): BulkOutcome {
    if (isUnavailable(error)) return { line, status: 'later' }
    this.#services.log.error(
      { err: error, jobId, line, attempts },
      'a row of a bulk job met an internal error',
    )
    if (attempts < ATTEMPTS_MAX) return { line, status: 'later' }
    const { code, description } = new Failure('internal_error')
    return { line, status: 'FAILED', error: code, errorDescription: description }
  }
}
