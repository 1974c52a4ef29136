import { HANDED_ON } from '@svc/server/http/observe'
import type { ServerOptions } from '@svc/server/http/server'
import type { FastifyInstance } from 'fastify'

/**
 * The console at `/console`. Behind these two routes is a server of its own, made with the first request to it, so that
 * the start of the service does not wait for it. It gets the very sockets, so that streams, limits and addresses are as everywhere.
 */
export function mountConsole(app: FastifyInstance, options: ServerOptions): void {
  let console: Promise<FastifyInstance> | undefined
  const open = async () => (await import('./console-server.ts')).openConsole(options)
  for (const url of ['/console', '/console/*'])
    app.route({
      url,
      method: app.supportedMethods,
      config: { operation: HANDED_ON },
      onRequest: async (request, reply) => {
        console ??= open()
        // One that could not be made is tried again by the next request.
        console.catch(() => (console = undefined))
        const { routing } = await console
        reply.hijack()
        routing(request.raw, reply.raw)
      },
      handler: async () => undefined,
    })
  app.addHook('onClose', async () => (await console?.catch(() => undefined))?.close())
}
