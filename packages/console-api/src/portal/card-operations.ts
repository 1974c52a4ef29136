import { card, type ListedCard } from '@svc/server/cards/card-resource'
import { listOf } from '@svc/server/http/resource'
import { memberOperation, PORTAL_API } from './portal-services.ts'

/** What programs search account by account, for people (decision S1). */
export const listOwnCards = listOf<ListedCard>(card, {
  ...memberOperation,
  id: 'portal.listCards',
  path: `${PORTAL_API}/cards`,
  tag: 'Cards',
  summary: 'List cards of all accounts, newest first',
  role: 'viewer',
})
