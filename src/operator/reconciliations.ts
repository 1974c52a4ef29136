import { CARD_CHECKS } from '../cards/reconcile-cards.ts'
import { COIN_CHECKS } from '../coins/reconcile-coins.ts'
import { rfc3339 } from '../kernel/time.ts'
import { type Reconciliation, reconcile } from '../ledger/reconcile.ts'
import { recordAudit } from '../platform/audit.ts'
import { statement } from '../platform/db/statement.ts'
import type { Services } from '../platform/http/operation.ts'
import { PAYMENT_CHECKS } from '../qr-codes/reconcile-payments.ts'

/** A run whose process died is given up after this. */
const GIVEN_UP_AFTER = `interval '15 minutes'`
const RUNS_KEPT = 50

interface RunRow {
  started_at: Date
  started_by: string
  finished_at: Date | null
  result: Reconciliation | null
  problem: string | null
  running: boolean
}

const COLUMNS = `started_at, started_by, finished_at, result, problem,
  finished_at is null and started_at > clock_timestamp() - ${GIVEN_UP_AFTER} as running`
const LATEST = statement<RunRow>(
  'reconciliations_latest',
  `select * from (select ${COLUMNS} from reconciliations order by reconciliation_id desc limit 2) r order by started_at desc`,
)
// One at a time among all processes.
const LOCK = statement('reconciliations_lock', `select pg_advisory_xact_lock(hashtext('svc reconciliation'))`)
const START = statement<{ reconciliation_id: bigint }>(
  'reconciliations_start',
  `insert into reconciliations (started_at, started_by)
   select clock_timestamp(), $1 where not exists (
     select from reconciliations where finished_at is null and started_at > clock_timestamp() - ${GIVEN_UP_AFTER})
   returning reconciliation_id`,
)
const FINISH = statement(
  'reconciliations_finish',
  `update reconciliations set finished_at = clock_timestamp(), result = $2::jsonb, problem = $3 where reconciliation_id = $1`,
)
const FORGET = statement(
  'reconciliations_forget',
  'delete from reconciliations where reconciliation_id <= $1::bigint - $2::bigint',
)

/** Runs of `reconcile` for the console: in the background, kept in the database for all processes to show. */
class Reconciliations {
  readonly #services: Services

  constructor(services: Services) {
    this.#services = services
  }

  /** Begins a run unless one is under way anywhere. Resolves when it has begun. */
  async start(by: string): Promise<void> {
    const { database, log } = this.#services
    const id = await database.operate(
      async (tx) => {
        await tx.query(LOCK)
        const [begun] = await tx.query(START, [by])
        if (begun && by !== 'service')
          await recordAudit(tx, [{ action: 'ledger.reconciliation_started', target: 'ledger' }])
        return begun?.reconciliation_id
      },
      'read committed',
      { actor: by },
    )
    if (id === undefined) return
    this.#run(id).catch((error: unknown) => log.warn({ err: error }, 'a reconciliation could not be kept'))
  }

  async #run(id: bigint): Promise<void> {
    const { database, log } = this.#services
    let result: Reconciliation | undefined
    let problem: string | undefined
    try {
      result = await reconcile(database, [...PAYMENT_CHECKS, ...CARD_CHECKS, ...COIN_CHECKS])
      if (!result.ok) log.error({ checks: result.checks.filter(({ ok }) => !ok) }, 'the books do not add up')
    } catch (error) {
      problem = (error as Error).message
    }
    await database.operate(async (tx) => {
      await tx.query(FINISH, [id, result && JSON.stringify(result), problem])
      await tx.query(FORGET, [id, RUNS_KEPT])
    })
  }

  /** The last run that came to an end, and whether one is under way. */
  async latest() {
    const { config, database } = this.#services
    const on = (at: Date) => rfc3339(at, config.BUSINESS_TIME_ZONE)
    const runs = await database.operate((tx) => tx.query(LATEST))
    const ended = runs.find(({ finished_at }) => finished_at !== null)
    const running = runs[0]?.running ?? false
    if (!ended) return { state: 'unknown', running, accounts: 0, transfers: 0, checks: [] }
    const { finished_at, problem, result, started_at, started_by } = ended
    return {
      state: result ? (result.ok ? 'balanced' : 'differences') : 'failed',
      running,
      startedOn: on(started_at),
      tookMs: finished_at!.getTime() - started_at.getTime(),
      startedBy: started_by,
      problem: problem ?? undefined,
      accounts: result?.accounts ?? 0,
      transfers: result?.transfers ?? 0,
      checks: result?.checks ?? [],
    }
  }
}

const opened = new WeakMap<Services, Reconciliations>()

export function reconciliationsOf(services: Services): Reconciliations {
  let reconciliations = opened.get(services)
  if (!reconciliations) {
    reconciliations = new Reconciliations(services)
    opened.set(services, reconciliations)
  }
  return reconciliations
}
