import type { FastifySchema } from 'fastify'
import { isRail, NoFields, type Operation } from './operation.ts'

/** What requests are checked against. Responses are not: they are built by whitelist (design, rule 6). */
export function routeSchema(operation: Operation): FastifySchema {
  const { body, envelope, ignores = [], params, query, acceptsAnyBody } = operation
  return {
    ...(params && { params }),
    // Unknown fields are rejected everywhere (decision C14), except where RFC 6749 wants them ignored, and on notices.
    ...(envelope !== 'oauth' &&
      !ignores.includes('query') &&
      !isRail(operation) && { querystring: query ?? NoFields }),
    ...(body && !acceptsAnyBody && { body }),
  }
}
