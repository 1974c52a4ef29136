import { fail } from '@svc/contract/errors'
import { kindOfTenant, type TenantKind } from '@svc/core/tenants/tenant'
import { mountOperations } from '@svc/server/http/mount'
import type { Caller } from '@svc/server/http/operation'
import { type Authenticator, buildServer, type ServerOptions } from '@svc/server/http/server'
import type { ApiServices } from '@svc/server/operations'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authenticateLoopback } from '../identity/request-origin.ts'
import { guardPage, servePage } from '../serve-page.ts'
import { MEMBER_ROLES, type MemberRole } from './member-roles.ts'
import { PORTAL } from './mounted-operations.ts'
import { PORTAL_OPERATIONS } from './portal-operations.ts'
import { type PortalServices, portalServices } from './portal-services.ts'

/** The member who calls, if the operation is for tenants of this kind and the role may do what it needs. */
async function memberOf(
  { sessions }: PortalServices,
  request: FastifyRequest,
  kind: TenantKind | undefined,
): Promise<Caller> {
  const { role: needed = 'viewer' } = request.routeOptions.config
  const least = needed as MemberRole
  const { session, isProofStale } = await sessions.admitted(request, ({ tenantId, role }) => {
    if (kind !== undefined && kindOfTenant(tenantId) !== kind) fail('route_not_found')
    if (MEMBER_ROLES.indexOf(role) < MEMBER_ROLES.indexOf(least))
      fail('role_too_low', { description: `This needs the role ${least}; yours is ${role}` })
  })
  const { tenantId, personId: actorId, name, role } = session
  return { tenantId, actor: { actorId, name, role }, member: name, isProofStale }
}

/** The portal's API and its page, as a server that never listens: `mountPage` hands requests to it. */
export async function openPortal(options: ServerOptions<ApiServices>): Promise<FastifyInstance> {
  const services = portalServices(options.services)
  const { sessions } = services
  const member = (kind?: TenantKind): Authenticator => ({
    needs: 'headers',
    authenticate: (request) => memberOf(services, request, kind),
    whose: sessions.whose,
  })
  const partner = member('partner')
  // What members do with the operations of tenants is in the request log beside what their programs do.
  const inner: ServerOptions<PortalServices> = {
    ...options,
    services,
    envelope: 'problem',
    authenticators: {
      member: member(),
      loopback: { needs: 'headers', authenticate: authenticateLoopback },
      tenant: member(),
      merchant: member('merchant'),
      partner,
      partnerWithId: partner,
      partnerSession: partner,
    },
  }
  const app = buildServer(inner)
  guardPage(app, services.publicUrl)
  const isSandbox = services.config.SVC_MODE === 'sandbox'
  mountOperations(
    app,
    PORTAL_OPERATIONS.filter(({ sandboxOnly }) => isSandbox || !sandboxOnly),
    inner,
  )
  await servePage(app, { name: 'portal', at: PORTAL, folder: 'dist-portal' })
  await app.ready()
  return app
}
