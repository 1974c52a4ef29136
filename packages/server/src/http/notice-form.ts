import { parse } from 'node:querystring'
import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'

/**
 * Accepts a signed notice in any form (decision Q11): its media type has no effect, and its query holds
 * the fields of the schema and no others, unchecked. A field that is sent more than once is a list.
 */
export function acceptNotice(request: FastifyRequest, query: TSchema | undefined): void {
  // Fastify would refuse one that is not well-formed.
  delete request.headers['content-type']
  const url = request.raw.url ?? ''
  const start = url.search(/[?#]/)
  // However many fields come before it, the one that says whose notice it is counts.
  const sent = parse(start < 0 ? '' : url.slice(start + 1), '&', '=', { maxKeys: 0 })
  const { properties = {} } = (query ?? {}) as { readonly properties?: object }
  request.query = Object.fromEntries(
    Object.keys(properties).flatMap((name) => (sent[name] === undefined ? [] : [[name, sent[name]]])),
  )
}
