import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, type Registry } from 'prom-client'
import type { Log } from '../log.ts'
import type { Role } from './connection-options.ts'
import type { Lease, Limit } from './connection-pool.ts'
import type { ReplicaPools } from './replica-pools.ts'
import { statement } from './statement.ts'

/** Acknowledged commits are before it in the write-ahead log. */
export const POSITION = statement<{ position: string }>(
  'wal_position',
  'select pg_current_wal_lsn()::text as position',
)
const HAS_REPLAYED = `select not pg_is_in_recovery() or pg_last_wal_replay_lsn() >= $1::pg_lsn as has`
const POLL_MS = 20
/** How long the primary is read after a standby was no use. */
const AVOID_MS = 5_000
const LOG_EVERY_MS = 60_000

type Outcome = 'replica' | 'behind' | 'unavailable'

/** Standbys that serve reads, each as of a moment that is not before the read was requested. */
export class Replica {
  readonly #pools: ReplicaPools
  readonly #waitMs: number
  readonly #log: Log
  #sessions: Promise<void> | undefined
  #avoidUntilMs = 0
  #loggedAtMs = Number.NEGATIVE_INFINITY
  /** Reads by what became of them. */
  readonly reads: Record<Outcome, number> = { replica: 0, behind: 0, unavailable: 0 }

  constructor(pools: ReplicaPools, waitMs: number, log: Log) {
    this.#pools = pools
    this.#waitMs = waitMs
    this.#log = log
  }

  /** A connection to a standby that has replayed this position; `undefined` where the primary is to be read instead. */
  async lease(role: Role, limit: Limit, position: () => Promise<string>): Promise<Lease | undefined> {
    if (performance.now() < this.#avoidUntilMs) return undefined
    const wanted = await position()
    let lease: Lease | undefined
    try {
      // Again after each failure: another server may be there.
      await (this.#sessions ??= this.#pools.requireSessions())
      lease = await this.#pools.of(role).lease(limit)
      if (await this.#catchesUp(lease, wanted)) {
        this.reads.replica++
        return lease
      }
      lease.release()
      this.#avoid('behind', new Error(`a standby did not catch up within ${this.#waitMs} ms`))
    } catch (error) {
      if (lease) lease.release(error as Error)
      else this.#sessions = undefined
      this.#avoid('unavailable', error)
    }
    return undefined
  }

  async #catchesUp({ client }: Lease, position: string): Promise<boolean> {
    const query = { name: 'replica_has_replayed', text: HAS_REPLAYED, values: [position] }
    for (const endMs = performance.now() + this.#waitMs; ; await sleep(POLL_MS)) {
      if ((await client.query<{ has: boolean }>(query)).rows[0]!.has) return true
      if (performance.now() >= endMs) return false
    }
  }

  /** A read broke off there: standbys cancel queries that hold up their replay. */
  failed(error: unknown): void {
    this.#avoid('unavailable', error)
  }

  #avoid(outcome: Outcome, error: unknown): void {
    this.reads[outcome]++
    const nowMs = performance.now()
    this.#avoidUntilMs = nowMs + AVOID_MS
    if (nowMs - this.#loggedAtMs < LOG_EVERY_MS) return
    this.#loggedAtMs = nowMs
    this.#log.warn({ err: error, outcome }, 'DATABASE_READ_URL cannot be used; the primary is read instead')
  }
}

/** Reads of standbys as a metric of the process. */
export function countReplicaReads(registry: Registry, { reads }: Replica): void {
  const counter = new Counter({
    name: 'svc_replica_reads_total',
    help: 'Reads for DATABASE_READ_URL: replica (done there), behind or unavailable (the primary was read)',
    labelNames: ['outcome'] as const,
    registers: [],
    collect() {
      this.reset()
      for (const [outcome, count] of Object.entries(reads)) this.inc({ outcome }, count)
    },
  })
  registry.registerMetric(counter)
}
