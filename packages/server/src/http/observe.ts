import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Services } from './operation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** When a response that is a stream began, in milliseconds after the request. */
    beganMs: number | undefined
  }
}

/** How long the response took: a stream lasts as long as its reader wants, so that its beginning counts. */
export const tookMs = ({ beganMs }: FastifyRequest, { elapsedTime }: FastifyReply): number =>
  beganMs ?? elapsedTime

/** Of a route that hands its requests on to another server, which observes them itself. */
export const HANDED_ON = 'handed on'

/** Counts and logs every response of the routes that are added from now on, and hands it to `responded`. */
export function observe(
  app: FastifyInstance,
  { metrics, log }: Services,
  responded?: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  // So that the first internal error of an operation is an increase, which alert rules look for: the series is there before.
  const countFromZero = (operation: string) => metrics.failures.inc({ operation, error: 'internal_error' }, 0)
  countFromZero('none')
  app.addHook('onRoute', ({ config }) => countFromZero(config?.operation ?? 'none'))
  app.addHook('onResponse', (request, reply, done) => {
    done()
    const operation = request.routeOptions.config?.operation ?? 'none'
    if (operation === HANDED_ON) return
    responded?.(request, reply)
    metrics.observeRequest(operation, reply.statusCode, tookMs(request, reply) / 1_000)
    if (log.isLevelEnabled('debug'))
      log.debug(
        {
          requestId: request.id,
          traceId: request.span?.traceId,
          operation,
          status: reply.statusCode,
          ms: Math.round(reply.elapsedTime),
        },
        'request',
      )
  })
}
