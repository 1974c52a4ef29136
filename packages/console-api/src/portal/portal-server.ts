import { mountOperations } from '@svc/server/http/mount'
import { type Authenticator, buildServer, type ServerOptions } from '@svc/server/http/server'
import type { ApiServices } from '@svc/server/operations'
import type { FastifyInstance } from 'fastify'
import { authenticateLoopback } from '../identity/request-origin.ts'
import { guardPage, servePage } from '../serve-page.ts'
import { PORTAL } from './mounted-operations.ts'
import { PORTAL_OPERATIONS } from './portal-operations.ts'
import { type PortalServices, portalServices } from './portal-services.ts'

/** The portal's API and its page, as a server that never listens: `mountPage` hands requests to it. */
export async function openPortal(options: ServerOptions<ApiServices>): Promise<FastifyInstance> {
  const services = portalServices(options.services)
  const { members } = services
  const member = (kind?: 'merchant' | 'partner'): Authenticator => ({
    needs: 'headers',
    authenticate: members.authenticator(kind),
    whose: members.whose,
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
