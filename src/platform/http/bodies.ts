import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fail } from '../../errors.ts'
import type { MediaType } from './operation.ts'
import { parseStrictJson } from './strict-json.ts'

/** Teaches the server the media types of the operations; `takeOnly` then holds each operation to its own. */
export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const readers: Record<MediaType, (body: Buffer) => unknown> = {
    'application/json': parseStrictJson,
    'application/jose': (body) => body.toString('latin1'),
    'application/x-www-form-urlencoded': parseForm,
    'application/x-ndjson': (body) => body,
  }
  for (const [mediaType, read] of Object.entries(readers)) {
    app.addContentTypeParser(
      mediaType,
      { parseAs: 'buffer' },
      (request: FastifyRequest, body: Buffer, done) => {
        request.rawBody = body
        // Not around `done`: what the rest of the request throws is no fault of the body.
        let made: unknown
        try {
          made = body.length === 0 ? undefined : read(body)
        } catch (error) {
          return done(error as Error)
        }
        done(null, made)
      },
    )
  }
}

export const mediaTypeOf = (request: FastifyRequest): string | undefined =>
  request.headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase()

/** Refuses, before it is read, a body of a type that is another operation's. */
export function takeOnly(request: FastifyRequest, accepts: readonly MediaType[]): void {
  const mediaType = mediaTypeOf(request)
  if (mediaType === undefined || accepts.includes(mediaType as MediaType)) return
  fail('unsupported_media_type', {
    description: `The body must be sent as ${accepts.join(' or ')}, without a content encoding`,
  })
}

/** RFC 6749 section 3.2: parameters without a value count as left out; none may come twice. */
function parseForm(body: Buffer): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(body.toString('utf8'))) {
    if (Object.hasOwn(fields, name))
      fail('invalid_request', { description: 'A parameter is sent more than once' })
    if (value !== '' && name !== '__proto__') fields[name] = value
  }
  return fields
}
