import { recordAudit } from '@svc/platform/audit'
import { statement } from '@svc/platform/db/statement'
import { loggableMessage } from '@svc/platform/loggable-error'
import type { Services } from '@svc/server/http/operation'

/** A run whose process died is given up after this. */
const GIVEN_UP_AFTER = `interval '15 minutes'`
const RUNS_KEPT = 50

interface RunRow {
  started_at: Date
  started_by: string
  finished_at: Date | null
  result: unknown
  problem: string | null
  running: boolean
}

const COLUMNS = `check_id, started_at, started_by, finished_at, result, problem,
  finished_at is null and started_at > clock_timestamp() - ${GIVEN_UP_AFTER} as running`
const LATEST = statement<RunRow>(
  'console_checks_latest',
  `(select ${COLUMNS} from console_checks where kind = $1 order by check_id desc limit 1)
   union (select ${COLUMNS} from console_checks where kind = $1 and finished_at is not null order by check_id desc limit 1)
   order by check_id desc`,
)
// One of a kind at a time, among all processes.
const LOCK = statement(
  'console_checks_lock',
  `select pg_advisory_xact_lock(hashtext('svc check ' || $1::text))`,
)
const START = statement<{ check_id: bigint }>(
  'console_checks_start',
  `insert into console_checks (kind, started_at, started_by)
   select $1, clock_timestamp(), $2 where not exists (
     select from console_checks
     where kind = $1 and finished_at is null and started_at > clock_timestamp() - ${GIVEN_UP_AFTER})
   returning check_id`,
)
const FINISH = statement(
  'console_checks_finish',
  `update console_checks set finished_at = clock_timestamp(), result = $2::jsonb, problem = $3 where check_id = $1`,
)
// The last result stays: alerts depend on it, however many runs broke off since.
const FORGET = statement(
  'console_checks_forget',
  `delete from console_checks where kind = $1 and check_id <= (
     select check_id from console_checks where kind = $1 order by check_id desc offset $2 limit 1)
   and check_id is distinct from (
     select max(check_id) from console_checks where kind = $1 and result is not null)`,
)

/** A run that came to an end. */
export interface EndedRun<R> {
  readonly startedAt: Date
  readonly tookMs: number
  readonly startedBy: string
  /** Absent when it broke off. */
  readonly result?: R
  readonly problem?: string
}

export type CheckTools = Pick<Services, 'database' | 'isLeaving' | 'log'>

/** A long check that the console begins and shows: in the background, its result in the database for all processes. */
export class BackgroundCheck<R> {
  readonly #services: CheckTools
  readonly #kind: 'ledger' | 'audit'
  readonly #work: () => Promise<R>

  constructor(services: CheckTools, kind: 'ledger' | 'audit', work: () => Promise<R>) {
    this.#services = services
    this.#kind = kind
    this.#work = work
  }

  /** Begins a run unless one is under way anywhere. Resolves when it has begun. */
  async start(by: string): Promise<void> {
    const { database, log } = this.#services
    const kind = this.#kind
    const id = await database.operate(
      async (tx) => {
        await tx.query(LOCK, [kind])
        const [begun] = await tx.query(START, [kind, by])
        if (begun && by !== 'service') recordAudit(tx, [{ action: `${kind}.check_started`, target: kind }])
        return begun?.check_id
      },
      'read committed',
      { actor: by },
    )
    if (id === undefined) return
    this.#run(id).catch((error: unknown) =>
      log.warn({ err: error, kind }, 'the result of a check could not be kept'),
    )
  }

  async #run(id: bigint): Promise<void> {
    let result: R | undefined
    let problem: string | undefined
    try {
      result = await this.#work()
    } catch (error) {
      const { log, isLeaving } = this.#services
      // A process that drains closes its connections under the check; another one can be started.
      log[isLeaving() ? 'warn' : 'error']({ err: error, kind: this.#kind }, 'a check broke off')
      problem = loggableMessage(error as Error)
    }
    await this.#services.database.operate(async (tx) => {
      await tx.query(FINISH, [id, result && JSON.stringify(result), problem])
      await tx.query(FORGET, [this.#kind, RUNS_KEPT])
    })
  }

  /** The last run that came to an end, and whether one is under way. */
  async latest(): Promise<{ running: boolean; ended?: EndedRun<R> }> {
    const runs = await this.#services.database.operate((tx) => tx.query(LATEST, [this.#kind]))
    const running = runs[0]?.running ?? false
    const ended = runs.find(({ finished_at }) => finished_at !== null)
    if (!ended) return { running }
    const { finished_at, problem, result, started_at: startedAt, started_by: startedBy } = ended
    const tookMs = finished_at!.getTime() - startedAt.getTime()
    return {
      running,
      ended: {
        startedAt,
        startedBy,
        tookMs,
        ...(result !== null && { result: result as R }),
        ...(problem !== null && { problem }),
      },
    }
  }
}
