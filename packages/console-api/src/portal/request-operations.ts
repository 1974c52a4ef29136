import { fail } from '@svc/contract/errors'
import { rfc3339 } from '@svc/kernel/time'
import { statement } from '@svc/platform/db/statement'
import { query } from '@svc/server/http/operation'
import { fieldsOf, findRow, toRecord } from '@svc/server/http/resource'
import { idParam, maybeInstant, record } from '../console-schema.ts'
import { type DetailRow, requestDetail } from '../faces/request-operations.ts'
import { memberOperation, PORTAL_API, type PortalServices } from './portal-services.ts'

// Newest first by the key of the tenant's rows: an operation that works is found at once.
const LAST_SUCCESS = statement<{ at: Date }>(
  'portal_last_success',
  `select r.at from request_log r
   where r.tenant_id = $1 and r.operation = $2 and r.error is null and r.path not like '/portal/%'
   order by r.request_id desc limit 1`,
)

const toWire = toRecord<DetailRow>(requestDetail, 'tenant')

/** One request of the tenant's programs: why it failed, what the service received, and whether the same has worked since. */
export const showOwnRequest = query({
  ...memberOperation,
  id: 'portal.showRequest',
  method: 'GET',
  path: `${PORTAL_API}/requests/:requestId`,
  tag: 'Requests',
  summary: 'Show logged request',
  role: 'viewer',
  params: idParam('requestId'),
  result: record('OwnRequest', {
    ...fieldsOf<DetailRow>(requestDetail, 'tenant'),
    lastSuccessOn: maybeInstant,
  }),
  errors: ['request_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }: PortalServices) {
    return async ({ caller: { tenantId }, params: { requestId } }) => {
      const found = await database.read([tenantId], async (tx) => {
        const scope = { reader: 'tenant', tenantId } as const
        const row =
          (await findRow<DetailRow>(tx, requestDetail, scope, requestId)) ?? fail('request_not_found')
        const [success] = await tx.query(LAST_SUCCESS, [tenantId, row.operation])
        return { row, success }
      })
      const { row, success } = found
      return {
        body: JSON.stringify({
          ...toWire(row, timeZone),
          lastSuccessOn: success && rfc3339(success.at, timeZone),
        }),
      }
    }
  },
})
