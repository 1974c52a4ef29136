import { Failure, fail } from '@svc/contract/errors'
import { JsonRejected, parseStrictJson, withoutByteOrderMark } from '@svc/kernel/strict-json'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { MediaType } from './operation.ts'

const FORM = 'application/x-www-form-urlencoded'

const READERS: Record<MediaType, (body: Buffer) => unknown> = {
  'application/json': parseJson,
  'application/jose': textOf,
  [FORM]: parseForm,
  'application/x-ndjson': asItIs,
  'application/octet-stream': asItIs,
  'application/pdf': asItIs,
  'image/jpeg': asItIs,
  'image/png': asItIs,
}

function asItIs(body: Buffer): Buffer {
  return body
}

/** A body that is no JSON: without a byte order mark and the white space around it, such as the last line feed of a file. */
function textOf(body: Buffer): string {
  return withoutByteOrderMark(body).toString('latin1').trim()
}

/** Compact JWEs begin with the base64url of `{"`, with which no JSON text begins. */
const isBareJwe = (body: Buffer): boolean => textOf(body).startsWith('eyJ')

/** Parses a JSON body; 400 with what is wrong when it is not JSON as the service reads it. */
export function parseJson(body: Buffer): unknown {
  try {
    return parseStrictJson(withoutByteOrderMark(body))
  } catch (error) {
    if (error instanceof JsonRejected) fail('malformed_body', { description: error.message })
    throw error
  }
}

/** Teaches the server the media types of the operations; `acceptOnly` then holds each operation to its own. */
export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // A rail may send any media type, or none, and so may callers of operations that read no body; every other operation knows its own (`acceptOnly`).
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request: FastifyRequest, body: Buffer, done) => {
    request.rawBody = body
    const isUnread = request.routeOptions.config.parse !== undefined
    done(isUnread || body.length === 0 ? null : new Failure('unsupported_media_type'), undefined)
  })
  for (const [mediaType, read] of Object.entries(READERS)) {
    app.addContentTypeParser(
      mediaType,
      { parseAs: 'buffer' },
      (request: FastifyRequest, body: Buffer, done) => {
        request.rawBody = body
        const { isEncrypted, parse } = request.routeOptions.config
        if (parse !== undefined) return done(null, undefined)
        // Not around `done`: what the rest of the request throws is no error of the body.
        let made: unknown
        try {
          made = body.length === 0 ? undefined : isEncrypted && isBareJwe(body) ? textOf(body) : read(body)
        } catch (error) {
          return done(error as Error)
        }
        done(null, made)
      },
    )
  }
}

/** Parses a body that was left until its signature was verified: an unsigned one costs no more than its HMAC. */
export function parseBody(request: FastifyRequest, _: FastifyReply, done: () => void): void {
  const { rawBody } = request
  if (rawBody?.length) request.body = READERS[mediaTypeOf(request) as MediaType](rawBody)
  done()
}

export const mediaTypeOf = (request: FastifyRequest): string | undefined =>
  request.headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase()

/** Refuses, before it is read, a body of a type that is another operation's. */
export function acceptOnly(request: FastifyRequest, accepts: readonly MediaType[]): void {
  const mediaType = mediaTypeOf(request)
  // RFC 6749 section 4.4.2 allows only a form, so its type may be missing: Bun's fetch sends none with bytes.
  if (!mediaType && accepts[0] === FORM) {
    request.headers['content-type'] = FORM
    return
  }
  if (mediaType === undefined || accepts.includes(mediaType as MediaType)) return
  fail('unsupported_media_type', {
    description: `The body must be sent as ${accepts.join(' or ')}, without a content encoding`,
  })
}

const PARAMETERS_MAX = 100

/** RFC 6749 section 3.2: parameters without a value count as left out; none may come twice. */
function parseForm(body: Buffer): Record<string, string> {
  const text = body.toString('utf8')
  // A form never begins so: its encoder escapes both characters (WHATWG URL section 5.2).
  if (/^[{[]/.test(text.trimStart()))
    fail('invalid_request', {
      description: 'The body is JSON; send it as a form, such as grant_type=client_credentials',
    })
  const fields: Record<string, string> = {}
  if (text.split('&', PARAMETERS_MAX + 1).length > PARAMETERS_MAX)
    fail('invalid_request', { description: `The form has more than ${PARAMETERS_MAX} parameters` })
  for (const [name, value] of new URLSearchParams(text)) {
    if (Object.hasOwn(fields, name))
      fail('invalid_request', { description: 'A parameter is sent more than once' })
    if (value !== '' && name !== '__proto__') fields[name] = value
  }
  return fields
}
