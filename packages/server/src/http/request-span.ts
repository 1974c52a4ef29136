import type { Span, Tracing } from '@svc/platform/tracing'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Traces every request of an operation, from its headers to its response, in the caller's trace where it names one. */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  app.addHook('onRequest', (request, _, done) => {
    if (!request.routeOptions.config?.isTraced) return done()
    request.span = startSpan(tracing, request)
    tracing.within(request.span, done)
  })
  // The body arrives by events of the connection, outside of the span.
  app.addHook('preValidation', (request, _, done) => tracing.within(request.span, done))
  app.addHook('onResponse', (request, reply, done) => {
    const { caller, failure, span } = request
    span?.set({ 'svc.tenant_id': caller?.tenantId, 'http.response.status_code': reply.statusCode })
    if (failure && failure.status < 500) span?.set({ 'error.type': failure.code })
    span?.end(failure && failure.status >= 500 ? failure : undefined)
    done()
  })
}

/** The path with its parameters and the query are left out: they may contain personal data. */
function startSpan(tracing: Tracing, request: FastifyRequest): Span {
  const { traceparent, tracestate } = request.headers
  const { operation = 'none' } = request.routeOptions.config
  const route = request.routeOptions.url ?? ''
  return tracing.start(`${request.method} ${route}`, {
    kind: 'server',
    remote: { traceparent: one(traceparent), tracestate: one(tracestate) },
    attributes: {
      'http.request.method': request.method,
      'http.route': route,
      'svc.operation': operation,
      'svc.request_id': request.id,
    },
  })
}

const one = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header
