import { mountOperations } from '@svc/server/http/mount'
import type { Caller } from '@svc/server/http/operation'
import { buildServer, type ServerOptions } from '@svc/server/http/server'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CONSOLE_OPERATIONS } from './console-operations.ts'
import { type ConsoleServices, consoleServices } from './console-services.ts'
import { type Permission, requirePermission } from './identity/permissions.ts'
import { authenticateLoopback } from './identity/request-origin.ts'
import { guardPage, servePage } from './serve-page.ts'

/** The operator who calls, if the role may do what the operation needs. */
async function operatorOf({ sessions }: ConsoleServices, request: FastifyRequest): Promise<Caller> {
  const { permission } = request.routeOptions.config
  const { session, isProofStale } = await sessions.admitted(request, ({ role }) =>
    requirePermission(role, permission as Permission),
  )
  const { tenantId, personId: actorId, name, role } = session
  return { tenantId, actor: { actorId, name, role }, isProofStale }
}

/** The console's API and its page, as a server that never listens: `mountConsole` hands requests to it. */
export async function openConsole(options: ServerOptions): Promise<FastifyInstance> {
  // What operators request here is in the audit; the request log is for the callers of the API.
  const { responded: _, ...shared } = options
  const services = consoleServices(options.services)
  const inner: ServerOptions<ConsoleServices> = {
    ...shared,
    services,
    envelope: 'problem',
    authenticators: {
      operator: {
        needs: 'headers',
        authenticate: (request) => operatorOf(services, request),
        whose: services.sessions.whose,
      },
      loopback: { needs: 'headers', authenticate: authenticateLoopback },
    },
  }
  const app = buildServer(inner)
  guardPage(app, services.publicUrl)
  const sandbox = services.config.SVC_MODE === 'sandbox'
  mountOperations(
    app,
    CONSOLE_OPERATIONS.filter(({ sandboxOnly }) => sandbox || !sandboxOnly),
    inner,
  )
  await servePage(app, { name: 'console', at: '/console', folder: 'dist' })
  const summaries = services.failedSignIns.loop
  app.addHook('onClose', () => summaries.stop())
  await app.ready()
  summaries.start()
  return app
}
