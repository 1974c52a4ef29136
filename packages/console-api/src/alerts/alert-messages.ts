import type { Config } from '@svc/contract/config'
import { rfc3339 } from '@svc/kernel/time'
import type { Writes } from '@svc/platform/db/database'
import { timeAhead } from '@svc/platform/db/database-time'
import { statement } from '@svc/platform/db/statement'
import { instant, integer, nullable, type RowOf, table, text } from '@svc/platform/db/table'
import { type Alert, alertToWire } from './alert-store.ts'

/** What is sent to `ALERT_WEBHOOK_URL`, written with the change of the alert. */
export const alertMessages = table('alert_messages', 'm', ['messageId'], {
  messageId: text,
  alertId: text,
  body: text,
  createdAt: instant,
  attempts: integer,
  dueAt: nullable(instant),
  sentAt: nullable(instant),
  failure: nullable(text),
})
export type AlertMessage = RowOf<typeof alertMessages>

export type AlertEvent = 'alert.opened' | 'alert.worsened' | 'alert.acknowledged' | 'alert.closed'

interface MessageTools {
  readonly config: Pick<Config, 'ALERT_WEBHOOK_URL' | 'BUSINESS_TIME_ZONE'>
  readonly newId: (prefix: 'alm') => string
  readonly publicUrl: () => string
}

/** Nothing without a place to send it to: an address that is set later gets what happens from then on. */
export function writeMessages(
  tx: Writes,
  { config, newId, publicUrl }: MessageTools,
  type: AlertEvent,
  of: readonly Alert[],
  now: Date,
): void {
  if (config.ALERT_WEBHOOK_URL === undefined) return
  const timeZone = config.BUSINESS_TIME_ZONE
  const rows = of.map((alert) => {
    const messageId = newId('alm')
    const url = `${publicUrl()}/console/alerts?q=${alert.alertId}`
    const data = { ...alertToWire(alert, timeZone), url }
    return {
      messageId,
      alertId: alert.alertId,
      body: JSON.stringify({ id: messageId, type, timestamp: rfc3339(now, timeZone), data }),
      createdAt: now,
      attempts: 0,
      dueAt: now,
      sentAt: null,
      failure: null,
    }
  })
  alertMessages.insert(tx, rows)
}

/**
 * Claims messages for one attempt, of what is due in `$1` milliseconds by the database's clock: another process may claim
 * them again in `$2`. Messages of one alert are sent in order.
 */
export const CLAIM = statement<AlertMessage>(
  'alert_messages_claim',
  `update alert_messages m set due_at = ${timeAhead(2)}, attempts = m.attempts + 1
   where m.message_id = any (array(
     select d.message_id from alert_messages d where d.due_at <= ${timeAhead(1)} and not exists (
       select from alert_messages e
       where e.alert_id = d.alert_id and e.message_id < d.message_id and e.due_at is not null)
     order by d.due_at, d.message_id limit $3 for update skip locked))
   returning ${alertMessages.columns}`,
)

/** After an attempt; a claim that ran out meanwhile is of another process. */
export const SETTLE = statement(
  'alert_message_settle',
  `update alert_messages set due_at = $3, sent_at = $4, failure = $5 where message_id = $1 and attempts = $2`,
)
