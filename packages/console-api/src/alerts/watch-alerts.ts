import { setTimeout as sleep } from 'node:timers/promises'
import type { IdPrefix } from '@svc/contract/id-kinds'
import type { Tx } from '@svc/platform/db/database'
import { transactionTime } from '@svc/platform/db/database-time'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { Services } from '@svc/server/http/operation'
import { ledgerChecks } from '../faces/reconciliations.ts'
import { type AlertEvent, writeMessages } from './alert-messages.ts'
import { type Alert, alerts } from './alert-store.ts'
import { type Condition, measuredConditions, moveSettled, storedConditions } from './conditions.ts'
import { type AlertDecision, decideAlerts } from './decide-alerts.ts'

const EVERY_MS = 15_000
/** A process that died is followed by another one after this. */
const LEASE_SECONDS = 45
/** Hours without a result of a check of the books after which the service checks them itself. */
const CHECKED_WITHIN_HOURS = 20
/** A check that broke off is started again after this. */
const CHECK_AGAIN_HOURS = 1
const CLOSED_KEPT_DAYS = 180
const FORGOTTEN_AT_ONCE = 1_000

/** Its row stays locked until the end of the transaction: two processes never decide at the same time. */
const LEASE = statement<{ holder: string }>(
  'alert_watch_lease',
  `insert into alert_watch as w (holder, until) values ($1, clock_timestamp() + interval '${LEASE_SECONDS} seconds')
   on conflict (only_row) do update set holder = excluded.holder, until = excluded.until
     where w.holder = excluded.holder or w.until < clock_timestamp()
   returning w.holder`,
)
const RELEASE = statement(
  'alert_watch_release',
  `update alert_watch set until = '-infinity' where holder = $1`,
)
const OPEN = statement<Alert>(
  'alerts_open',
  `select ${alerts.columns} from alerts a where a.closed_at is null order by a.alert_id for no key update`,
)
const CHANGE = statement<Alert>(
  'alert_change',
  `update alerts a set severity = $2, value = $3, detail = $4, page_id = $5, changed_at = $6,
     acknowledged_at = case when $7 then null else a.acknowledged_at end,
     acknowledged_by = case when $7 then null else a.acknowledged_by end,
     note = case when $7 then null else a.note end,
     acknowledged_severity = case when $7 then null else a.acknowledged_severity end,
     acknowledged_value = case when $7 then null else a.acknowledged_value end
   where a.alert_id = $1 returning ${alerts.columns}`,
)
const CLOSE = statement<Alert>(
  'alerts_close',
  `update alerts a set closed_at = greatest($2, a.opened_at), changed_at = greatest($2, a.opened_at)
   where a.alert_id = any ($1) returning ${alerts.columns}`,
)
const FORGET = statement(
  'alerts_forget',
  `delete from alerts where alert_id in (
     select alert_id from alerts where closed_at < $1::timestamptz - interval '${CLOSED_KEPT_DAYS} days'
     limit ${FORGOTTEN_AT_ONCE})`,
)
const UNCHECKED = statement<{ due: boolean }>(
  'alerts_books_due',
  `with ledger as (select started_at, result from console_checks where kind = 'ledger')
   select greatest(t.created_at, (select max(started_at) from ledger where result is not null))
       < clock_timestamp() - interval '${CHECKED_WITHIN_HOURS} hours'
     and not exists (select from ledger where started_at > clock_timestamp() - interval '${CHECK_AGAIN_HOURS} hours')
       as due
   from tenants t where t.tenant_id = 'house'`,
)

/** Stopping waits so long for the lease to be given up. */
const RELEASE_MS = 1_000

type Tools = Services & { readonly newId: (prefix: IdPrefix) => string }

const newAlert = (condition: Condition, alertId: string, now: Date): Alert => ({
  ...condition,
  alertId,
  value: BigInt(condition.value),
  openedAt: now,
  changedAt: now,
  acknowledgedAt: null,
  acknowledgedBy: null,
  note: null,
  acknowledgedSeverity: null,
  acknowledgedValue: null,
  closedAt: null,
})

async function save(tx: Tx, tools: Tools, { opened, changed, closed }: AlertDecision, now: Date) {
  const write = (type: AlertEvent, of: readonly Alert[]) => writeMessages(tx, tools, type, of, now)
  const newly = opened.map((condition) => newAlert(condition, tools.newId('alr'), now))
  alerts.insert(tx, newly)
  write('alert.opened', newly)
  for (const { alert, condition, worsened } of changed) {
    const { detail, pageId, severity, value } = condition
    const rows = await tx.query(CHANGE, [alert.alertId, severity, value, detail, pageId, now, worsened])
    if (worsened) write('alert.worsened', rows)
  }
  if (closed.length > 0)
    write('alert.closed', await tx.query(CLOSE, [closed.map((each) => each.alertId), now]))
}

/** Opens, changes and closes alerts, unless another process does. Returns whether this one did. */
export async function watchAlerts(tools: Tools, holder: string): Promise<boolean> {
  const { clock, config, database } = tools
  const measured = await measuredConditions(tools)
  return database.operate(async (tx) => {
    if ((await tx.query(LEASE, [holder])).length === 0) return false
    const now = await transactionTime(tx, clock)
    await moveSettled(tx, now, config)
    const stored = await storedConditions(tx, now, config)
    await save(tx, tools, decideAlerts(await tx.query(OPEN), [...stored, ...measured]), now)
    tx.write(FORGET, [now])
    return true
  })
}

/** Whether the service has to check the books itself. */
export async function booksAreDue({ database }: Pick<Services, 'database'>): Promise<boolean> {
  const [books] = await database.operate((tx) => tx.query(UNCHECKED))
  return books?.due ?? false
}

/** The loop of the process that watches; `onChange` wakes who sends the messages. */
export class AlertWatch {
  readonly #tools: Tools
  readonly #holder: string
  #holds = false
  readonly #loop: Loop

  constructor(tools: Tools, onWatched: () => void) {
    this.#tools = tools
    this.#holder = tools.newId('alp')
    const work = async () => {
      this.#holds = await watchAlerts(tools, this.#holder)
      if (!this.#holds) return
      onWatched()
      await this.#checkBooks()
    }
    this.#loop = new Loop({ name: 'watch_alerts', everyMs: EVERY_MS, work, atStart: true }, tools)
  }

  /** Only processes that have the operators' login see what to watch. */
  start(): void {
    if (this.#tools.database.hasOperators) this.#loop.start()
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    if (!this.#holds) return
    const released = this.#tools.database.operate((tx) => tx.query(RELEASE, [this.#holder]))
    // On a frozen connection, the lease ends by itself.
    await Promise.race([released.catch(() => undefined), sleep(RELEASE_MS, undefined, { ref: false })])
  }

  async #checkBooks(): Promise<void> {
    if (await booksAreDue(this.#tools)) await ledgerChecks(this.#tools).start('service')
  }
}
