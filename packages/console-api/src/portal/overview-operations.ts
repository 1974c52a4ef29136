import { findMerchant, withdrawAddress } from '@svc/core/tenants/merchant'
import { kindOfTenant } from '@svc/core/tenants/tenant'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { maybe, record } from '../console-schema.ts'
import { homeOfMerchant, MerchantHome } from './home-of-merchant.ts'
import { homeOfPartner, PartnerHome } from './home-of-partner.ts'
import { asMember, memberOperation, PORTAL_API, type PortalServices } from './portal-services.ts'

/** What a tenant sees first. */
export const showPortalOverview = query({
  ...memberOperation,
  id: 'portal.showOverview',
  method: 'GET',
  path: `${PORTAL_API}/overview`,
  tag: 'Overview',
  summary: 'How the tenant is doing',
  role: 'viewer',
  result: record('PortalOverview', {
    merchant: Type.Optional(MerchantHome),
    partner: Type.Optional(PartnerHome),
  }),
  errors: [],
  mount(services: PortalServices) {
    return async ({ caller: { tenantId } }) => {
      const overview = await services.database.read([tenantId], async (tx) =>
        kindOfTenant(tenantId) === 'merchant'
          ? { merchant: await homeOfMerchant(tx, tenantId, services) }
          : { partner: await homeOfPartner(tx, tenantId, services) },
      )
      return { body: JSON.stringify(overview) }
    }
  },
})

export const withdrawPaymentAddress = query({
  ...memberOperation,
  id: 'portal.withdrawPaymentAddress',
  stepUp: true,
  method: 'DELETE',
  path: `${PORTAL_API}/next-payment-address`,
  tag: 'Overview',
  summary: 'Take back the UPI address that an operator entered and that waits',
  description: 'The present address stays. Without one that waits it does nothing.',
  role: 'admin',
  result: record('WithdrawnAddress', { vpa: maybe('The address that stays; absent for partners') }),
  errors: [],
  mount(services: PortalServices) {
    return async (input) => {
      const { tenantId } = input.caller
      const merchant = await asMember(services, input, async (tx) => {
        await withdrawAddress(tx, tenantId)
        return findMerchant(tx, tenantId)
      })
      return { body: JSON.stringify({ vpa: merchant?.vpa }) }
    }
  },
})
