import { fail } from '@svc/contract/errors'
import { findMerchant } from '@svc/core/tenants/merchant'
import { kindOfTenant } from '@svc/core/tenants/tenant'
import { rfc3339 } from '@svc/kernel/time'
import { query } from '@svc/server/http/operation'
import { maybe, maybeInstant, record, text } from '../console-schema.ts'
import { PayoutTerms, termsOf } from '../faces/payout-terms-operations.ts'
import { memberOperation, PORTAL_API, type PortalServices } from './portal-services.ts'

/** Where payouts go, what is charged, and the address that customers pay to; with what waits. */
export const showOwnPayoutTerms = query({
  ...memberOperation,
  id: 'portal.showPayoutTerms',
  method: 'GET',
  path: `${PORTAL_API}/payout-terms`,
  tag: 'Payouts',
  summary: 'Show bank account, fees, payout schedule and UPI address',
  role: 'viewer',
  result: record('OwnPayoutTerms', {
    ...PayoutTerms.properties,
    vpa: text('UPI address that customers pay to'),
    nextVpa: maybe('The one that takes its place at `nextVpaOn`, unless it is taken back'),
    nextVpaOn: maybeInstant,
  }),
  errors: [],
  mount(services: PortalServices) {
    const { config, database } = services
    return async ({ caller: { tenantId } }) => {
      if (kindOfTenant(tenantId) !== 'merchant') fail('route_not_found')
      const terms = await database.read([tenantId], async (tx) => {
        const merchant = await findMerchant(tx, tenantId)
        const { schedules, ...others } = await termsOf(tx, tenantId, services)
        return {
          ...others,
          // Of the operator's people no name is shown.
          schedules: schedules.map((schedule) => ({ ...schedule, setBy: 'the operator' })),
          vpa: merchant?.vpa,
          nextVpa: merchant?.nextVpa ?? undefined,
          nextVpaOn: merchant?.nextVpaFrom
            ? rfc3339(merchant.nextVpaFrom, config.BUSINESS_TIME_ZONE)
            : undefined,
        }
      })
      return { body: JSON.stringify(terms) }
    }
  },
})
