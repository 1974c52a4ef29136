import { FreeText } from '@svc/server/http/fields'
import { query } from '@svc/server/http/operation'
import { listOf } from '@svc/server/http/resource'
import { writeMessages } from '../alerts/alert-messages.ts'
import {
  type Alert,
  AlertRecord,
  acknowledgeAlert,
  alert,
  alertToWire,
  NOTE_CHARS_MAX,
} from '../alerts/alert-store.ts'
import { actorOf, asOperator } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam } from '../console-schema.ts'

const TAG = 'Alerts'
const PATH = `${CONSOLE_API}/alerts`

export const listAlertsInConsole = listOf<Alert>(alert, {
  ...consoleOperation,
  id: 'console.listAlerts',
  path: PATH,
  tag: TAG,
  summary: 'List alerts',
  description: 'Conditions of the service that people must act on; each closes by itself when it ends.',
  permission: 'view',
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
    note: FreeText(NOTE_CHARS_MAX, 'What is done about it'),
  }),
  result: AlertRecord,
  errors: ['alert_not_found', 'alert_closed'],
  mount(services) {
    const { clock, config } = services
    return async (input) => {
      const now = new Date(clock.now())
      const { alertId } = input.params
      const acknowledgement = { alertId, note: input.body.note.trim(), by: actorOf(input.caller), now }
      const acknowledged = await asOperator(services, input, async (tx) => {
        const done = await acknowledgeAlert(tx, acknowledgement)
        if (done.newly) writeMessages(tx, services, 'alert.acknowledged', [done.alert], now)
        return done.alert
      })
      return { body: JSON.stringify(alertToWire(acknowledged, config.BUSINESS_TIME_ZONE)) }
    }
  },
})
