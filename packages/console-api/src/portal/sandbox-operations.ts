import { fail } from '@svc/contract/errors'
import { listMerchants } from '@svc/core/tenants/merchant'
import { listPartners } from '@svc/core/tenants/partner'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { closed, record, text } from '../console-schema.ts'
import { beginSession } from '../identity/session-operations.ts'
import { enterSandbox } from './member-store.ts'
import { callerOf, memberEntry } from './portal-face.ts'
import { PORTAL_API, type PortalServices } from './portal-services.ts'
import { MemberSessionRecord } from './session-records.ts'

const TAG = 'Session'
const PATH = `${PORTAL_API}/session/sandbox`
/** For a page on which a person chooses. */
const TENANTS_MAX = 200

const ofSandbox = { auth: 'loopback', envelope: 'problem', sandboxOnly: true } as const

const tenantsOf = ({ database }: PortalServices) =>
  database.operate(async (tx) => {
    const [merchants, partners] = [await listMerchants(tx), await listPartners(tx)]
    return [
      ...merchants.map(({ merchantId, name }) => ({ tenantId: merchantId, kind: 'merchant', name })),
      ...partners.map(({ partnerId, name }) => ({ tenantId: partnerId, kind: 'partner', name })),
    ]
  })

export const listSandboxTenants = query({
  ...ofSandbox,
  id: 'portal.listSandboxTenants',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List tenants of the sandbox',
  description:
    'Whom one can enter the portal for with one click. Exists in sandbox mode only, and only over loopback.',
  result: closed({
    data: Type.Array(
      record('SandboxTenant', {
        tenantId: text(),
        kind: Type.Enum(['merchant', 'partner']),
        name: text(),
      }),
    ),
  }),
  errors: ['route_not_found'],
  mount(services: PortalServices) {
    return async () => ({
      body: JSON.stringify({ data: (await tenantsOf(services)).slice(0, TENANTS_MAX) }),
    })
  },
})

export const enterPortalOfSandbox = query({
  ...ofSandbox,
  id: 'portal.signInToSandbox',
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Enter the portal of the sandbox with one click',
  description:
    'As the administrator `sandbox` of the tenant. Exists in sandbox mode only, and only over loopback.',
  body: closed({ tenantId: Type.String({ minLength: 1 }) }),
  result: MemberSessionRecord,
  responseHeaders: { 'set-cookie': 'SessionCookie' },
  errors: ['route_not_found', 'tenant_not_found', 'not_signed_in'],
  mount(services: PortalServices) {
    const { clock, database, random } = services
    const entry = memberEntry(services)
    return async ({ address, body: { tenantId }, headers, requestId }) => {
      const known = (await tenantsOf(services)).some((tenant) => tenant.tenantId === tenantId)
      if (!known) fail('tenant_not_found')
      const now = new Date(clock.now())
      const member = await database.write([tenantId], (tx) => enterSandbox(tx, { random, now }, tenantId))
      if (member.disabledAt) fail('not_signed_in')
      const proof = { factors: ['none'] } as const
      return beginSession(services, entry, callerOf(member), { address, headers, requestId }, proof)
    }
  },
})
