import type { FastifySchema } from 'fastify'
import { NoFields, type Operation } from './operation.ts'

/** What requests are checked against. Responses are not: they are built by whitelist (design, rule 6). */
export const routeSchema = ({
  body,
  envelope,
  ignores = [],
  params,
  query,
  takesAnyBody,
}: Operation): FastifySchema => ({
  ...(params && { params }),
  // Unknown fields are rejected everywhere (decision C14), except where RFC 6749 wants them ignored.
  ...(envelope !== 'oauth' && !ignores.includes('query') && { querystring: query ?? NoFields }),
  ...(body && !takesAnyBody && { body }),
})
