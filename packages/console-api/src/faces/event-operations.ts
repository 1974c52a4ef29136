import { fail } from '@svc/contract/errors'
import { findTenant } from '@svc/core/tenants/tenant'
import { EventResponse, eventToWire } from '@svc/core/webhooks/event'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { EVENTS_WITH_NUMBERS, NUMBERED_COLUMNS, type NumberedEvent } from '@svc/platform/outbox'
import { EVENT_RECORDS } from '@svc/server/event-records'
import { query } from '@svc/server/http/operation'
import { listOf } from '@svc/server/http/resource'
import { event } from '@svc/server/webhooks/event-resource'
import { Type } from 'typebox'
import { CONSOLE_API, consoleOperation, idParam } from '../console-schema.ts'
import { redact } from '../records/redact.ts'

const TAG = 'Events'
const PATH = `${CONSOLE_API}/tenants/:tenantId/events`

const EVENT = statement<NumberedEvent>(
  'console_event',
  `select ${NUMBERED_COLUMNS} from ${EVENTS_WITH_NUMBERS} where o.tenant_id = $1 and o.event_id = $2`,
)

/** An event as its tenant gets it, which for operators is masked until they reveal. Throws `event_not_found`. */
export async function readEvent(
  tx: Tx,
  { tenantId, eventId }: { readonly tenantId: string; readonly eventId: string },
  { timeZone, isShown }: { readonly timeZone: string; readonly isShown: boolean },
) {
  const [row] = await tx.query(EVENT, [tenantId, eventId])
  const found = eventToWire(row ?? fail('event_not_found'), timeZone)
  return isShown ? found : { ...found, data: redact(EVENT_RECORDS[found.type], found.data) }
}

export const listEventsInConsole = listOf<NumberedEvent>(event, {
  ...consoleOperation,
  id: 'console.listEvents',
  path: PATH,
  tag: TAG,
  summary: 'List events of a tenant',
  description: 'Those that are kept for `EVENTS_DAYS`.',
  permission: 'view',
  params: idParam('tenantId'),
  errors: ['tenant_not_found'],
  within: async (tx, _, { tenantId = '' }) => {
    if (!(await findTenant(tx, tenantId))) fail('tenant_not_found')
  },
})

export const showEvent = query({
  ...consoleOperation,
  id: 'console.showEvent',
  method: 'GET',
  path: `${PATH}/:eventId`,
  tag: TAG,
  summary: 'Show event, with personal data masked',
  permission: 'view',
  params: Type.Object({
    tenantId: Type.String({ maxLength: 128 }),
    eventId: Type.String({ maxLength: 128 }),
  }),
  result: EventResponse,
  errors: ['event_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params }) => ({
      body: JSON.stringify(
        await database.operate((tx) => readEvent(tx, params, { timeZone, isShown: false })),
      ),
    })
  },
})
