import type { ServerOptions as ServerLimits } from 'node:http'
import type { Socket } from 'node:net'
import { parse as parseQuery } from 'node:querystring'
import type { Config, TrustedProxies } from '@svc/contract/config'
import { Failure, fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import type { AnyScope } from '@svc/contract/scopes'
import { sortableId } from '@svc/kernel/ids'
import type { Span } from '@svc/platform/tracing'
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { prefersProblem } from './accept.ts'
import type { Admitted } from './admission.ts'
import { readBodies } from './bodies.ts'
import { challenge } from './challenge.ts'
import { followExchanges, keepAddresses, respondToClientErrors } from './client-error.ts'
import { type Envelope, failureBody, helpLink, PROBLEM_JSON, problemBody } from './failure-body.ts'
import type { FailureLog } from './failure-log.ts'
import type { LargeBody } from './large-bodies.ts'
import { leaveWhenSent } from './leave-when-sent.ts'
import { overrideMethod, refuseOtherMethods } from './method-override.ts'
import { observe } from './observe.ts'
import type { Caller, Services } from './operation.ts'
import { traceRequests } from './request-span.ts'
import { suggestRoutes } from './suggestions.ts'
import { tlsOptions } from './tls.ts'
import { toFailure } from './to-failure.ts'
import { lazyValidators } from './validator.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
    rawBody: Buffer | undefined
    ciphertextHash: Buffer | undefined
    /** Of an encrypted request: the key that it was encrypted with. */
    jweKid: string | undefined
    /** Time that our work on it has taken so far, in milliseconds. */
    spentMs: number
    /** Its response, if that was a failure. */
    failure: Failure | undefined
    /** Where it is counted among the requests in progress. */
    admitted: Admitted | undefined
    /** Of one that may be larger than the usual. */
    largeBody: LargeBody | undefined
    /** While tracing is on. */
    span: Span | undefined
    /** Of a command: the text of its response. */
    response: string | undefined
  }
  interface FastifyContextConfig {
    operation?: string
    envelope?: Envelope
    /** Least role that the operation needs of members. */
    role?: string
    /** What it needs the role of an operator to permit. */
    permission?: string
    /** `later`: the body of a signed notice, which nothing reads before its signature was verified. `never`: it has no effect. */
    parse?: 'later' | 'never'
    /** The body is a compact JWE, which may also come bare. */
    isEncrypted?: true
    /** `merchantAccessKey` may come without a token. */
    acceptsAccessKeyAlone?: true
    /** Operators must have proved who they are a few minutes ago. */
    stepUp?: true
    /** Operators need no second factor for it. */
    beforeSecondFactor?: true
    /** Scope that a partner's token must have, and a merchant's where its API key is limited. */
    scope?: AnyScope
    /** Each of its requests is a span. */
    isTraced?: true
    /** Its `invalid_token` has the text of the specification (section 7, decision F7); the challenge says why. */
    hasSpecifiedTokenError?: true
    /** Of a route that serves a page to browsers: everything else is guarded as an API. */
    isPage?: true
  }
}

/** Identifies the caller; throws a `Failure` when the credentials are missing or invalid. */
export interface Authenticator {
  /** `headers`: before the body is read, so that it is read of authenticated callers only. `body`: for signatures over the raw body. */
  readonly needs: 'headers' | 'body'
  readonly authenticate: (request: FastifyRequest) => Promise<Caller> | Caller
  /** The tenant who calls, where that is known without the database: for refusals that must cost little. */
  readonly whose?: (request: FastifyRequest) => string | undefined
  /** Whether the credential can be accepted, as far as is known without the database. Where absent, what `whose` does not know cannot. */
  readonly isGenuine?: (request: FastifyRequest) => Promise<boolean>
}

export interface ServerOptions<S extends Services = Services> {
  readonly services: S
  readonly failureLog: FailureLog
  readonly authenticators: Readonly<Record<string, Authenticator>>
  /** Called before anything else of every request: refuses while the service is draining. */
  readonly admit: (request: FastifyRequest) => void
  /** How requests fail that find no operation. */
  readonly envelope?: Envelope
  /** Called after every response, for those who keep a record. */
  readonly responded?: (request: FastifyRequest, reply: FastifyReply) => void
}

export const JSON_TYPE = 'application/json; charset=utf-8'

/** The limits of Node's server, with TLS where there is a certificate. */
function listener(config: Config): { http: ServerLimits } {
  const limits: ServerLimits = {
    headersTimeout: config.HEADERS_TIMEOUT_MS,
    requestTimeout: config.REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: config.HEADER_BYTES_MAX,
    // Node would respond to a request without it with a bare 400; `checkHeaders` does so in the envelope.
    requireHostHeader: false,
  }
  const tls = tlsOptions(config)
  if (!tls) return { http: limits }
  // The types of Fastify distinguish servers with TLS from those without, which nothing here depends on.
  return { https: { ...limits, ...tls, handshakeTimeout: config.HEADERS_TIMEOUT_MS } } as never
}

/** An HTTP server with the service's limits, body reader and failure envelope, and no operation yet. */
export function buildServer(options: ServerOptions): FastifyInstance {
  const { config, random, clock, database } = options.services
  const app = fastify({
    bodyLimit: config.BODY_BYTES_MAX,
    trustProxy: trusted(config.TRUST_PROXY),
    genReqId: () => `req_${sortableId(clock.now(), random)}`,
    requestIdHeader: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: config.REQUEST_TIMEOUT_MS,
    ...listener(config),
    // So that a malformed id of any length reaches its operation, which responds as to a missing one (decision A12).
    routerOptions: {
      maxParamLength: config.HEADER_BYTES_MAX,
      // No operation has a tenth of them: what comes after that many unknown ones cannot make a query valid.
      querystringParser: (text) => parseQuery(text, '&', '=', { maxKeys: 100 }),
    },
    frameworkErrors: (error, request, reply) => void sendFailure(options, error, request, reply),
    clientErrorHandler: respondToClientErrors(options.services),
  })
  app.setValidatorCompiler(lazyValidators(options.envelope ? 'reject' : config.UNKNOWN_FIELDS))
  // Bodies are ready-made text; the schemas of responses serve the reference and the tests.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  app.decorateRequest('caller', null)
  app.decorateRequest('spentMs', 0)
  for (const name of ['rawBody', 'ciphertextHash', 'jweKid', 'failure', 'response', 'span'] as const)
    app.decorateRequest(name, undefined)
  readBodies(app)
  const refuseRoute = suggestRoutes(app)
  if (database.tracing) traceRequests(app, database.tracing)
  // Hooks of every request call back: an async function would cost each of them a promise and a turn of the queue.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    options.admit(request)
    if (request.is404) refuseRoute(request)
    checkHeaders(request)
    done()
  })
  leaveWhenSent(app, options.services)
  observe(app, options.services, options.responded)
  app.setErrorHandler((error: FastifyError, request, reply) => sendFailure(options, error, request, reply))
  app.setNotFoundHandler((request, reply) =>
    sendFailure(options, new Failure('route_not_found'), request, reply),
  )
  // An expectation that we do not know is none of our business; Node would respond with 417 without the envelope.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.prependListener('request', overrideMethod)
  followExchanges(app.server)
  keepAddresses(app.server)
  // No proxy: without a listener Node hangs up on CONNECT and says nothing.
  const respondToClientError = respondToClientErrors(options.services)
  app.server.on('connect', (_, socket: Socket) => respondToClientError(new Error('CONNECT'), socket))
  return app
}

/** A bare number is no count of hops to Fastify, which then trusts no proxy (`getTrustProxyFn` in its request.js). */
function trusted(proxies: TrustedProxies) {
  if (typeof proxies === 'number') return (_address: string, hop: number) => hop < proxies
  return proxies === false ? false : [...proxies]
}

const ONCE = new Set([
  'authorization',
  'api-key',
  'partnerid',
  'merchantaccesskey',
  'idempotency-key',
  'content-type',
  'host',
])
const ONCE_IN_NOTICES = new Set(['host'])
const VISIBLE = /^[\x21-\x7e]{1,255}$/

/** Node silently drops or joins repeated headers; for those that decide who calls and what for, neither will do. */
function checkHeaders(request: FastifyRequest): void {
  const { headers } = request
  const { rawHeaders } = request.raw
  let names = 0
  for (const _ in headers) names++
  const isNotice = request.routeOptions.config.parse === 'later'
  // Where each name came once there is nothing to look for.
  if (names * 2 !== rawHeaders.length) refuseRepeated(rawHeaders, isNotice ? ONCE_IN_NOTICES : ONCE)
  // RFC 9112 section 3.2; HTTP/1.0 knows no such field.
  if (headers.host === undefined && request.raw.httpVersion !== '1.0')
    fail('bad_request', { description: 'The header host is missing' })
  // RFC 9112 section 6.3: where such a body ends is anybody's guess.
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    fail('bad_request', {
      description: 'The transfer coding must be chunked, or none',
      headers: { connection: 'close' },
    })
  const key = headers['idempotency-key']
  // Decision C14. A key that was lost is the exception: the write would be made without its protection.
  for (const name in headers) if (headers[name] === '') delete headers[name]
  refuseOtherMethods(request.raw)
  // No other header has an effect on a signed notice, which is never rejected for its form (decision Q11).
  if (isNotice) return
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') fail('unsupported_media_type')
  if (key !== undefined && !VISIBLE.test(String(key)))
    failField('Idempotency-Key', 'format', 'must be 1 to 255 visible ASCII characters', 'header')
}

function refuseRepeated(rawHeaders: readonly string[], once: ReadonlySet<string>): void {
  const seen = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (!once.has(name)) continue
    if (seen.has(name)) fail('bad_request', { description: `The header ${name} is sent more than once` })
    seen.add(name)
  }
}

function sendFailure(
  { services, failureLog, envelope: ownEnvelope = 'bare' }: ServerOptions,
  error: FastifyError | Failure,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { clock, config, metrics } = services
  const failure = toFailure(error, request)
  const {
    operation = 'none',
    envelope = ownEnvelope,
    hasSpecifiedTokenError,
  } = request.routeOptions.config ?? {}
  request.failure = failure
  metrics.failures.inc({ operation, error: failure.code })
  failureLog.failed(failure, operation, { requestId: request.id, traceId: request.span?.traceId })
  const problem = envelope === 'problem' || prefersProblem(request.headers)
  const context = {
    envelope,
    requestId: request.id,
    now: new Date(clock.now()),
    timeZone: config.BUSINESS_TIME_ZONE,
  }
  const link = [reply.getHeader('link'), helpLink(failure, services.publicUrl())].flat().filter(Boolean)
  const shown =
    hasSpecifiedTokenError && failure.code === 'invalid_token' ? new Failure('invalid_token') : failure
  if (failure.status === 401) reply.header('www-authenticate', challenge(failure, request))
  return reply
    .code(failure.status)
    .headers({
      ...failure.headers,
      link: link.join(', '),
      'x-request-id': request.id,
      'cache-control': 'no-store',
    })
    .type(problem ? PROBLEM_JSON : JSON_TYPE)
    .send(problem ? problemBody(failure, request.id, services.publicUrl()) : failureBody(shown, context))
}
