import type { NumberedEvent } from '@svc/platform/outbox'
import { listOf } from '@svc/server/http/resource'
import { event } from '@svc/server/webhooks/event-resource'
import { memberOperation, PORTAL_API } from './portal-services.ts'

/** What programs read as a feed, oldest first, for people. */
export const listRecentEvents = listOf<NumberedEvent>(event, {
  ...memberOperation,
  id: 'portal.listRecentEvents',
  path: `${PORTAL_API}/recent-events`,
  tag: 'Events',
  summary: 'List events, newest first',
})
