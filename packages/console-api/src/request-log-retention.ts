import type { Config } from '@svc/contract/config'
import { idFloor } from '@svc/contract/id-kinds'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { Services } from '@svc/server/http/operation'

const PURGE_EVERY_MS = 60_000
const COUNT_EVERY_MS = 3_600_000
const MINUTES_KEPT_MS = 15 * 86_400_000
const DELETED_PER_CALL = 5_000

const COUNT = statement<{ count: bigint }>('request_log_count', 'select count_requests() as count')
const FORGET = statement<{ gone: bigint }>('request_log_forget', 'select forget_requests($1, $2) as gone')
const FORGET_MINUTES = statement('minute_sums_forget', 'select forget_minutes($1)')
const CUT = statement<{ at: Date }>('request_log_cut', 'select at from request_log_cut where at > $1')

const oldestKept = (config: Config, nowMs: number): Date =>
  new Date(nowMs - config.REQUEST_LOG_DAYS * 86_400_000)

/** Since when the request log is complete, where its row limit deleted entries before their days were over. */
export async function completeSince(
  tx: Tx,
  { clock, config }: Pick<Services, 'clock' | 'config'>,
): Promise<Date | undefined> {
  const [cut] = await tx.query(CUT, [oldestKept(config, clock.now())])
  return cut?.at
}

/** Deletes entries of the request log that are too old or too many (decision O4). */
export class RequestLogRetention {
  readonly #services: Services
  #purgedAtMs = 0
  #countedAtMs = Number.NEGATIVE_INFINITY

  constructor(services: Services) {
    this.#services = services
  }

  /** To be called often: does something once a minute, and counts the rows once an hour, which takes a while. */
  async purge(): Promise<void> {
    const nowMs = performance.now()
    if (nowMs - this.#purgedAtMs < PURGE_EVERY_MS) return
    this.#purgedAtMs = nowMs
    const { clock, database } = this.#services
    const excess = await this.#countExcess(nowMs)
    await this.#delete(excess)
    if (excess > 0) await this.#warn()
    const oldest = new Date(clock.now() - MINUTES_KEPT_MS)
    await database.writeAside([], (tx) => tx.query(FORGET_MINUTES, [oldest]))
  }

  async #countExcess(nowMs: number): Promise<number> {
    if (nowMs - this.#countedAtMs <= COUNT_EVERY_MS) return 0
    this.#countedAtMs = nowMs
    const { config, database } = this.#services
    const [row] = await database.writeAside([], (tx) => tx.query(COUNT))
    return Math.max(0, Number(row!.count) - config.REQUEST_LOG_ROWS_MAX)
  }

  async #delete(most: number): Promise<void> {
    const { clock, config, database } = this.#services
    const before = idFloor('req', oldestKept(config, clock.now()))
    let excess = most
    for (let gone = DELETED_PER_CALL; gone >= DELETED_PER_CALL || excess > 0; ) {
      const [row] = await database.writeAside([], (tx) => tx.query(FORGET, [before, excess]))
      gone = Number(row!.gone)
      excess = gone === 0 ? 0 : Math.max(0, excess - gone)
    }
  }

  async #warn(): Promise<void> {
    const { config, database, log } = this.#services
    const since = await database.writeAside([], (tx) => completeSince(tx, this.#services))
    if (!since) return
    const { BUSINESS_TIME_ZONE, REQUEST_LOG_DAYS: days, REQUEST_LOG_ROWS_MAX: rowsMax } = config
    log.warn(
      { completeSince: rfc3339(since, BUSINESS_TIME_ZONE), days, rowsMax },
      'the request log reached REQUEST_LOG_ROWS_MAX: entries were deleted before REQUEST_LOG_DAYS were over',
    )
  }
}
