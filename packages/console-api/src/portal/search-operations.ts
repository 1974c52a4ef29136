import { query } from '@svc/server/http/operation'
import { NAMES, namesOf } from '../faces/names.ts'
import { find, SEARCH } from '../faces/search.ts'
import { TENANT_SOURCES } from '../faces/search-sources.ts'
import { memberOperation, PORTAL_API, type PortalServices } from './portal-services.ts'

export const searchOwn = query({
  ...memberOperation,
  ...SEARCH,
  id: 'portal.search',
  method: 'GET',
  path: `${PORTAL_API}/search`,
  summary: 'Find anything of the tenant by an id, a reference, a name',
  description:
    'As operators find it, of the tenant alone: ids, `tr`, reference numbers of codes and refunds, and the last four digits of a card exactly; bank references (UTR) in any case, with or without separators; disputes by their case; amounts of payments with or without commas, with the hour or minute after them; payments by the whole UPI ID of their payer; codes by the mobile number of their customer and by the begin of their name; holders by their whole mobile number or e-mail address; companies and card accounts by the begin of any words of their company and programme.',
  role: 'viewer',
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }: PortalServices) {
    return async ({ caller, query: { q } }) => {
      const asked = { caller, sources: TENANT_SOURCES, timeZone }
      const results = await database.read([caller.tenantId], (tx) => find(tx, q.trim(), asked))
      return { body: JSON.stringify({ results }) }
    }
  },
})

export const showOwnNames = query({
  ...memberOperation,
  ...NAMES,
  id: 'portal.showNames',
  method: 'GET',
  path: `${PORTAL_API}/names`,
  summary: 'Show what ids of the tenant name',
  role: 'viewer',
  mount({ database }: PortalServices) {
    return async ({ caller, query: { ids } }) => ({
      body: JSON.stringify(await database.read([caller.tenantId], (tx) => namesOf(tx, ids, TENANT_SOURCES))),
    })
  },
})
