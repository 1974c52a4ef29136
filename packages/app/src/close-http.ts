import type { FastifyInstance } from 'fastify'

/** The listener first: once Fastify closes, it takes no requests to ourselves either, on which others may wait. */
export async function closeHttp(http: FastifyInstance): Promise<void> {
  if (http.server.listening)
    await new Promise((resolve) => {
      http.server.close(resolve)
      http.server.closeIdleConnections()
    })
  await http.close()
}
