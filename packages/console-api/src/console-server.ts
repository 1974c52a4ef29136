import { mountOperations } from '@svc/server/http/mount'
import { buildServer, type ServerOptions } from '@svc/server/http/server'
import type { FastifyInstance } from 'fastify'
import { CONSOLE_OPERATIONS } from './console-operations.ts'
import { type ConsoleServices, consoleServices } from './console-services.ts'
import { authenticateLoopback } from './identity/request-origin.ts'
import { guardPage, servePage } from './serve-page.ts'

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
        authenticate: services.sessions.authenticate,
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
