import { fail } from '@svc/contract/errors'
import { rfc3339 } from '@svc/kernel/time'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { bigint, instant, nullable, type RowOf, table, text, textOf } from '@svc/platform/db/table'
import { choiceFilter, exactFilter, type Resource } from '@svc/server/http/resource'
import { Type } from 'typebox'
import { instant as instantText, maybe, maybeInstant, text as plain, record } from '../console-schema.ts'
import { ALERT_KINDS, type AlertKind, commandOf, SEVERITIES, type Severity } from './conditions.ts'

/** Conditions that people must act on, each for as long as it lasted (decision O9). */
export const alerts = table('alerts', 'a', ['alertId'], {
  alertId: text,
  kind: textOf<AlertKind>(),
  objectId: text,
  pageId: nullable(text),
  severity: textOf<Severity>(),
  value: bigint,
  detail: text,
  openedAt: instant,
  changedAt: instant,
  acknowledgedAt: nullable(instant),
  acknowledgedBy: nullable(text),
  note: nullable(text),
  acknowledgedSeverity: nullable(textOf<Severity>()),
  acknowledgedValue: nullable(bigint),
  closedAt: nullable(instant),
})
export type Alert = RowOf<typeof alerts>

export const ALERT_STATUSES = ['open', 'acknowledged', 'closed'] as const
type AlertStatus = (typeof ALERT_STATUSES)[number]

export const statusOf = ({ acknowledgedAt, closedAt }: Alert): AlertStatus =>
  closedAt ? 'closed' : acknowledgedAt ? 'acknowledged' : 'open'

/** Rows that a list shows. */
const STATUS_CONDITIONS = {
  open: 'a.closed_at is null and a.acknowledged_at is null',
  acknowledged: 'a.closed_at is null and a.acknowledged_at is not null',
  closed: 'a.closed_at is not null',
  lasting: 'a.closed_at is null',
} as const satisfies Readonly<Record<AlertStatus | 'lasting', string>>

export const NOTE_CHARS_MAX = 500

export const AlertRecord = record('Alert', {
  alertId: plain(),
  kind: Type.Enum([...ALERT_KINDS]),
  objectId: maybe('What the condition is of; absent where it is of the whole service'),
  pageId: maybe('The record whose page shows it'),
  severity: Type.Enum([...SEVERITIES]),
  status: Type.Enum([...ALERT_STATUSES], {
    description: '`acknowledged`: an operator is working on it. `closed`: the condition ended',
  }),
  value: Type.Integer({ description: 'How bad it is, in a unit of its kind' }),
  detail: plain('What is wrong, and what to do'),
  command: maybe('What shows or mends it on the service’s machine'),
  openedOn: instantText,
  changedOn: instantText,
  acknowledgedOn: maybeInstant,
  acknowledgedBy: maybe('As the audit names them'),
  note: maybe(),
  closedOn: maybeInstant,
})

export function alertToWire(alert: Alert, timeZone: string) {
  const on = (at: Date | null) => (at ? rfc3339(at, timeZone) : undefined)
  return {
    alertId: alert.alertId,
    kind: alert.kind,
    objectId: alert.objectId || undefined,
    pageId: alert.pageId ?? undefined,
    severity: alert.severity,
    status: statusOf(alert),
    value: Number(alert.value),
    detail: alert.detail,
    command: commandOf(alert.kind),
    openedOn: rfc3339(alert.openedAt, timeZone),
    changedOn: rfc3339(alert.changedAt, timeZone),
    acknowledgedOn: on(alert.acknowledgedAt),
    acknowledgedBy: alert.acknowledgedBy ?? undefined,
    note: alert.note ?? undefined,
    closedOn: on(alert.closedAt),
  }
}

/** Alerts, as operators see and find them. */
export const alert = {
  titles: { operator: 'Alert' },
  record: { schema: AlertRecord, toWire: alertToWire },
  from: { columns: alerts.columns, table: 'alerts a', alias: 'a' },
  // They are of the installation.
  tenant: 'a.alert_id',
  keys: [
    { sql: 'a.opened_at', type: 'timestamptz' },
    { sql: 'a.alert_id', type: 'text' },
  ],
  fields: {},
  filters: {
    q: {
      schema: exactFilter('Id of the alert, or of what it is of', 128),
      sql: '(a.alert_id = ? or a.object_id = ? or a.page_id = ?)',
    },
    status: {
      schema: choiceFilter(Object.keys(STATUS_CONDITIONS), '`lasting`: those that are not closed'),
      sql: (filters, status) => filters.add(STATUS_CONDITIONS[status as AlertStatus], true),
    },
    kind: { schema: choiceFilter(ALERT_KINDS, 'Only of this kind'), sql: 'a.kind = ?' },
    severity: { schema: choiceFilter(SEVERITIES), sql: 'a.severity = ?' },
  },
} satisfies Resource<Alert>

const LOCK = statement<Alert>(
  'alert_lock',
  `select ${alerts.columns} from alerts a where a.alert_id = $1 for no key update`,
)
const ACKNOWLEDGE = statement<Alert>(
  'alert_acknowledge',
  `update alerts a set acknowledged_at = $2, acknowledged_by = $3, note = $4, acknowledged_severity = a.severity,
     acknowledged_value = a.value, changed_at = $2
   where a.alert_id = $1 returning ${alerts.columns}`,
)

export interface Acknowledgement {
  readonly alertId: string
  readonly note: string
  /** As the audit names them. */
  readonly by: string
  readonly now: Date
}

/**
 * Records that an operator is working on an alert. A repeat, and a second person, get what the first one wrote.
 * `newly` is the alert if this call changed it.
 */
export async function acknowledgeAlert(tx: Tx, { alertId, note, by, now }: Acknowledgement) {
  const [alert] = await tx.query(LOCK, [alertId])
  if (!alert) return fail('alert_not_found')
  if (alert.closedAt) return fail('alert_closed')
  if (alert.acknowledgedAt) return { alert, newly: false }
  const [acknowledged] = await tx.query(ACKNOWLEDGE, [alertId, now, by, note])
  recordAudit(tx, [
    {
      action: 'alert.acknowledged',
      target: alertId,
      details: { kind: alert.kind, object: alert.objectId, note },
    },
  ])
  return { alert: acknowledged!, newly: true }
}
