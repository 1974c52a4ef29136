import type { FastifyInstance } from 'fastify'
import type { Services } from './operation.ts'

/** A request that gets its response counts no longer. */
export function leaveWhenSent(app: FastifyInstance, { isLeaving }: Services): void {
  app.decorateRequest('admitted', undefined)
  app.decorateRequest('largeBody', undefined)
  app.addHook('onSend', (request, reply, payload, done) => {
    // Not only on `close`: Node emits none for a response that waits behind others of a connection that breaks.
    request.admitted?.leave()
    request.largeBody?.leave()
    // A caller that gets its response while the process is leaving must connect again, elsewhere.
    if (isLeaving()) reply.header('connection', 'close')
    done(null, payload)
  })
}
