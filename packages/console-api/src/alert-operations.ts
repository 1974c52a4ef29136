import { Filters, type ListPlan, readList } from '@svc/server/http/list'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { writeMessages } from './alerts/alert-messages.ts'
import {
  ALERT_STATUSES,
  type Alert,
  AlertRecord,
  type AlertStatus,
  acknowledgeAlert,
  alerts,
  alertToWire,
  NOTE_CHARS_MAX,
  STATUS_CONDITIONS,
} from './alerts/alert-store.ts'
import { ALERT_KINDS, SEVERITIES } from './alerts/conditions.ts'
import { actorOf, asOperator } from './as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  exact,
  idParam,
  listOf,
  listQuery,
  oneOf,
} from './console-schema.ts'

const TAG = 'Alerts'
const PATH = `${CONSOLE_API}/alerts`

export const listAlertsInConsole = query({
  ...consoleOperation,
  id: 'console.listAlerts',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List alerts',
  description: 'Conditions of the service that people must act on; each closes by itself when it ends.',
  permission: 'view',
  query: listQuery(['-opened', 'opened'], {
    q: exact('Id of the alert, or of what it is of', 128),
    status: oneOf([...ALERT_STATUSES], 'Only these'),
    kind: oneOf([...ALERT_KINDS], 'Only of this kind'),
    severity: oneOf([...SEVERITIES], 'Only these'),
  }),
  result: listOf(AlertRecord),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const { kind, q, severity, sort, status } = query
      const filters = new Filters().add('a.kind = ?', kind).add('a.severity = ?', severity)
      filters.add('(a.alert_id = ? or a.object_id = ? or a.page_id = ?)', q)
      if (status !== undefined) filters.conditions.push(STATUS_CONDITIONS[status as AlertStatus])
      const plan: ListPlan = {
        columns: alerts.columns,
        table: 'alerts a',
        alias: 'a',
        filters,
        keys: [
          { sql: 'a.opened_at', type: 'timestamptz' },
          { sql: 'a.alert_id', type: 'text' },
        ],
        descending: sort !== 'opened',
      }
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: Alert) => alertToWire(row, timeZone)),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const acknowledgeAlertByOperator = query({
  ...consoleOperation,
  id: 'console.acknowledgeAlert',
  method: 'POST',
  path: `${PATH}/:alertId/acknowledge`,
  tag: TAG,
  summary: 'Acknowledge alert',
  description:
    'Says who takes care of it. A repeat returns the first acknowledgement. The alert opens again when it gets worse, and closes when its condition ends.',
  permission: 'acknowledge',
  params: idParam('alertId'),
  body: closed({
    note: Type.String({
      minLength: 1,
      maxLength: NOTE_CHARS_MAX,
      pattern: '\\S',
      'x-rule': `must have 1 to ${NOTE_CHARS_MAX} characters, not only spaces`,
    }),
  }),
  result: AlertRecord,
  errors: ['alert_not_found', 'alert_closed'],
  mount(services) {
    const { clock, config } = services
    return async (input) => {
      const now = new Date(clock.now())
      const { alertId } = input.params
      const acknowledgement = { alertId, note: input.body.note.trim(), by: actorOf(input.caller), now }
      const alert = await asOperator(services, input, async (tx) => {
        const { alert, newly } = await acknowledgeAlert(tx, acknowledgement)
        if (newly) writeMessages(tx, services, 'alert.acknowledged', [alert], now)
        return alert
      })
      return { body: JSON.stringify(alertToWire(alert, config.BUSINESS_TIME_ZONE)) }
    }
  },
})
