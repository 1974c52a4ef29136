import { HANDED_ON } from '@svc/server/http/observe'
import type { ServerOptions } from '@svc/server/http/server'
import type { ApiServices } from '@svc/server/operations'
import type { FastifyInstance } from 'fastify'

/**
 * A page and its API at a path. Behind these two routes is a server of its own, made with the first request to it, so that
 * the start of the service does not wait for it. It gets the very sockets, so that streams, limits and addresses are as everywhere.
 */
function mountPage(app: FastifyInstance, path: string, open: () => Promise<FastifyInstance>): void {
  let page: Promise<FastifyInstance> | undefined
  for (const url of [path, `${path}/*`])
    app.route({
      url,
      method: app.supportedMethods,
      config: { operation: HANDED_ON },
      onRequest: async (request, reply) => {
        page ??= open()
        // One that could not be made is tried again by the next request.
        page.catch(() => (page = undefined))
        const { routing } = await page
        reply.hijack()
        routing(request.raw, reply.raw)
      },
      handler: async () => undefined,
    })
  app.addHook('onClose', async () => (await page?.catch(() => undefined))?.close())
}

/** The operators' console at `/console`. */
export const mountConsole = (app: FastifyInstance, options: ServerOptions): void =>
  mountPage(app, '/console', async () => (await import('./console-server.ts')).openConsole(options))

/** The portal of tenants at `/portal`. */
export const mountPortal = (app: FastifyInstance, options: ServerOptions<ApiServices>): void =>
  mountPage(app, '/portal', async () => (await import('./portal/portal-server.ts')).openPortal(options))
