import { idFloor } from '@svc/contract/id-kinds'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { timeAhead, transactionTime } from '@svc/platform/db/database-time'
import { statement } from '@svc/platform/db/statement'
import type { Services } from '@svc/server/http/operation'

const PURGE_EVERY_MS = 60_000
const COUNT_EVERY_MS = 3_600_000
const MINUTES_KEPT_MS = 15 * 86_400_000
const DELETED_PER_CALL = 5_000

const COUNT = statement<{ count: bigint }>('request_log_count', 'select count_requests() as count')
const FORGET = statement<{ gone: bigint }>('request_log_forget', 'select forget_requests($1, $2) as gone')
const FORGET_MINUTES = statement('minute_sums_forget', `select forget_minutes(${timeAhead(1)})`)
const CUT = statement<{ at: Date }>(
  'request_log_cut',
  `select at from request_log_cut where at > ${timeAhead(1)}`,
)

type Tools = Pick<Services, 'clock' | 'config'>

/** The oldest entries that are kept, ahead of the database's time. */
const oldestKeptMs = ({ clock, config }: Tools): number =>
  clock.offsetMs() - config.REQUEST_LOG_DAYS * 86_400_000

/** Since when the request log is complete, where its row limit deleted entries before their days were over. */
export async function completeSince(tx: Tx, tools: Tools): Promise<Date | undefined> {
  const [cut] = await tx.query(CUT, [oldestKeptMs(tools)])
  return cut?.at
}

/** Deletes entries of the request log that are too old or too many (decision O4). */
export class RequestLogRetention {
  readonly #services: Services
  #purgedAtMs = 0
  #countedAtMs = Number.NEGATIVE_INFINITY
  /** What the current purge has yet to delete, if one is under way. */
  #underWay: { readonly isLimited: boolean; excess: number } | undefined

  constructor(services: Services) {
    this.#services = services
  }

  /**
   * To be called often: starts a purge once a minute, and counts the rows once an hour, which takes a while. Each call
   * deletes some entries, so that new ones are written in between.
   */
  async purge(): Promise<void> {
    this.#underWay ??= await this.#start()
    if (!this.#underWay) return
    const { isLimited } = this.#underWay
    if (await this.#deleteSome(this.#underWay)) return
    this.#underWay = undefined
    if (isLimited) await this.#warn()
    const { clock, database } = this.#services
    const aheadMs = clock.offsetMs() - MINUTES_KEPT_MS
    await database.writeAside([], (tx) => tx.query(FORGET_MINUTES, [aheadMs]))
  }

  async #start() {
    const nowMs = performance.now()
    if (nowMs - this.#purgedAtMs < PURGE_EVERY_MS) return undefined
    this.#purgedAtMs = nowMs
    const excess = await this.#countExcess(nowMs)
    return { isLimited: excess > 0, excess }
  }

  async #countExcess(nowMs: number): Promise<number> {
    if (nowMs - this.#countedAtMs <= COUNT_EVERY_MS) return 0
    this.#countedAtMs = nowMs
    const { config, database } = this.#services
    const [row] = await database.writeAside([], (tx) => tx.query(COUNT))
    return Math.max(0, Number(row!.count) - config.REQUEST_LOG_ROWS_MAX)
  }

  /** Returns whether there is more to delete. */
  async #deleteSome(under: { excess: number }): Promise<boolean> {
    const { clock, config, database } = this.#services
    const { excess } = under
    const [row] = await database.writeAside([], async (tx) => {
      const now = await transactionTime(tx, clock)
      const oldest = new Date(now.getTime() - config.REQUEST_LOG_DAYS * 86_400_000)
      return tx.query(FORGET, [idFloor('req', oldest), excess])
    })
    const gone = Number(row!.gone)
    under.excess = gone === 0 ? 0 : Math.max(0, excess - gone)
    return gone >= DELETED_PER_CALL || under.excess > 0
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
