import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { Failure, fail } from '../../errors.ts'
import { sortableId } from '../../kernel/ids.ts'
import { paiseFromWire } from '../../kernel/money.ts'
import { parseRfc3339 } from '../../kernel/time.ts'
import { isUnavailable } from '../db/database.ts'
import { type Family, failureBody, PROBLEM_JSON, problemBody } from './failure-body.ts'
import { documented } from './openapi.ts'
import type { Caller, Operation, Services } from './operation.ts'
import { rateLimit } from './rate-limit.ts'
import { answerClientErrors } from './raw-failure.ts'
import { parseStrictJson } from './strict-json.ts'
import { describeFaults } from './validation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
    rawBody: Buffer | undefined
  }
  interface FastifyContextConfig {
    operation?: string
    family?: Family
  }
}

/** Finds out who calls; throws a `Failure` for strangers. */
export interface Authenticator {
  /** `headers`: before the body is read, so that strangers send none. `body`: for signatures over the raw body. */
  readonly needs: 'headers' | 'body'
  readonly authenticate: (request: FastifyRequest) => Promise<Caller> | Caller
}

export interface ServerOptions {
  readonly services: Services
  readonly authenticators: Readonly<Record<string, Authenticator>>
  /** Called before anything else of every request: refuses while the service is draining. */
  readonly admit: () => void
  readonly isDraining: () => boolean
}

const PUBLIC: Caller = { tenantId: 'house' }
const JSON_TYPE = 'application/json; charset=utf-8'
const EMPTY: Buffer = Buffer.alloc(0)

/** An HTTP server with the service's limits, body reader and failure envelope, and no operation yet. */
export function buildServer(options: ServerOptions): FastifyInstance {
  const { config, random, clock } = options.services
  const app = fastify({
    bodyLimit: config.BODY_BYTES_MAX,
    trustProxy: config.TRUST_PROXY,
    genReqId: () => `req_${sortableId(clock.now(), random)}`,
    requestIdHeader: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: config.REQUEST_TIMEOUT_MS,
    http: {
      headersTimeout: config.HEADERS_TIMEOUT_MS,
      requestTimeout: config.REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: config.HEADER_BYTES_MAX,
    },
    // Long enough that a malformed id reaches its operation, which answers it like a missing one (decision A12).
    routerOptions: { maxParamLength: 2_048 },
    ajv: {
      customOptions: {
        removeAdditional: false,
        coerceTypes: false,
        useDefaults: false,
        allErrors: true,
        verbose: true,
        keywords: ['x-rule'],
        formats: {
          'date-time': (text: string) => parseRfc3339(text) !== undefined,
          rupees: { type: 'number', validate: (amount: number) => paiseFromWire(amount) !== undefined },
        },
      },
    },
    frameworkErrors: (error, request, reply) => answerFailure(options.services, error, request, reply),
    clientErrorHandler: answerClientErrors(options.services),
  })
  // Bodies are ready-made text; the schemas of answers serve the reference and the tests.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  app.decorateRequest('caller', null)
  app.decorateRequest('rawBody', undefined)
  readJsonBodies(app)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    options.admit()
    if (request.is404) fail('route_not_found')
    checkHeaders(request)
  })
  // Whoever is answered while the process drains must connect anew, elsewhere.
  app.addHook('onSend', async (_, reply) => {
    if (options.isDraining()) reply.header('connection', 'close')
  })
  observe(app, options.services)
  app.setErrorHandler((error: FastifyError, request, reply) => answerFailure(options.services, error, request, reply))
  app.setNotFoundHandler((request, reply) => answerFailure(options.services, new Failure('route_not_found'), request, reply))
  // An expectation that we do not know is none of our business; Node would answer 417 without the envelope.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  return app
}

function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    request.rawBody = body
    return body.length === 0 ? undefined : parseStrictJson(body)
  })
}

const ONCE = new Set(['authorization', 'api-key', 'partnerid', 'merchantaccesskey', 'idempotency-key', 'content-type', 'host'])
const VISIBLE = /^[\x21-\x7e]{1,255}$/

/** Node silently drops or joins repeated headers; for those that decide who calls and what for, neither will do. */
function checkHeaders(request: FastifyRequest): void {
  const { rawHeaders } = request.raw
  const seen = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (!ONCE.has(name)) continue
    if (seen.has(name)) fail('bad_request', { description: `The header ${name} is sent more than once` })
    seen.add(name)
  }
  const { headers } = request
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') fail('unsupported_media_type')
  const key = headers['idempotency-key']
  if (key !== undefined && !VISIBLE.test(String(key)))
    fail('validation_failed', { description: 'Idempotency-Key: must be 1 to 255 visible ASCII characters' })
}

function observe(app: FastifyInstance, { metrics, log }: Services): void {
  app.addHook('onResponse', async (request, reply) => {
    const operation = request.routeOptions.config?.operation ?? 'none'
    metrics.requests.observe({ operation, status: reply.statusCode }, reply.elapsedTime / 1_000)
    if (log.isLevelEnabled('debug'))
      log.debug({ requestId: request.id, operation, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request')
  })
}

const BY_CODE: Record<string, () => Failure> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new Failure('payload_too_large', { headers: { connection: 'close' } }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => new Failure('bad_request', { headers: { connection: 'close' } }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new Failure('unsupported_media_type'),
  FST_ERR_BAD_URL: () => new Failure('route_not_found'),
}

/** Any error to a failure that may be shown: what is not known here is our own mistake. */
function toFailure(error: FastifyError | Failure): Failure {
  if (error instanceof Failure) return error
  if (error.validation)
    return new Failure('validation_failed', { description: describeFaults(error.validation, error.validationContext ?? 'request') })
  const known = error.code ? BY_CODE[error.code] : undefined
  if (known) return known()
  if (isUnavailable(error)) return new Failure('temporarily_unavailable', { retryAfterSeconds: 1, cause: error })
  return new Failure('internal_error', { cause: error })
}

function answerFailure(services: Services, error: FastifyError | Failure, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { clock, config, log, metrics } = services
  const failure = toFailure(error)
  const { operation = 'none', family = 'bare' } = request.routeOptions.config ?? {}
  metrics.failures.inc({ operation, error: failure.word })
  if (failure.status >= 500)
    log.error({ err: failure.cause ?? failure, requestId: request.id, operation, error: failure.word }, 'a request failed')
  const problem = request.headers.accept?.includes(PROBLEM_JSON) ?? false
  const context = { family, requestId: request.id, now: new Date(clock.now()), timeZone: config.BUSINESS_TIME_ZONE }
  if (failure.status === 401) reply.header('www-authenticate', challenge(failure, request))
  return reply
    .code(failure.status)
    .headers({ ...failure.headers, 'x-request-id': request.id, 'cache-control': 'no-store' })
    .type(problem ? PROBLEM_JSON : JSON_TYPE)
    .send(problem ? problemBody(failure, request.id) : failureBody(failure, context))
}

/** RFC 6750 section 3: the error is named only when credentials were sent. */
function challenge(failure: Failure, request: FastifyRequest): string {
  const sent = failure.word === 'invalid_token' && request.headers.authorization !== undefined
  return `Bearer realm="svc"${sent ? `, error="invalid_token", error_description="${failure.description}"` : ''}`
}

/** Mounts the operations, and answers 405 on their paths for every other method. */
export function mountOperations(app: FastifyInstance, operations: readonly Operation[], options: ServerOptions): void {
  const methods = new Map<string, Set<string>>()
  const limitRate = rateLimit(options.services.config)
  for (const operation of operations) {
    mountOperation(app, operation, options, limitRate)
    const taken = methods.get(operation.path) ?? new Set()
    methods.set(operation.path, taken.add(operation.method))
    if (operation.method === 'GET') taken.add('HEAD')
  }
  for (const [url, taken] of methods) {
    const allow = [...taken].sort().join(', ')
    const family = operations.find((operation) => operation.path === url)!.family
    app.route({
      url,
      method: app.supportedMethods.filter((method) => !taken.has(method)),
      schema: { hide: true },
      config: { family },
      onRequest: async () => fail('method_not_allowed', { headers: { allow } }),
      handler: async () => undefined,
    })
  }
}

type Limit = ReturnType<typeof rateLimit>

function mountOperation(
  app: FastifyInstance,
  operation: Operation,
  { services, authenticators }: ServerOptions,
  limitRate: Limit,
): void {
  const { auth, id } = operation
  const authenticator = authenticators[auth]
  if (auth !== 'none' && !authenticator) throw new Error(`nobody authenticates ${auth} for ${id}`)
  const handle = operation.mount(services)
  const authenticate = async (request: FastifyRequest, reply: FastifyReply) => {
    request.caller = await authenticator!.authenticate(request)
    if (authenticator!.needs === 'headers') await limitRate?.(request.caller.tenantId, reply)
  }
  app.route({
    method: operation.method,
    url: operation.path,
    config: { operation: id, family: operation.family },
    schema: documented(operation),
    ...(authenticator?.needs === 'headers' && { onRequest: authenticate }),
    preValidation: async (request, reply) => {
      if (authenticator?.needs === 'body') await authenticate(request, reply)
      // Nothing at all is an empty object, so that a missing body is told field by field.
      if (operation.body) request.body ??= {}
    },
    handler: async (request, reply) => {
      const { id: requestId, params, query, body, headers, rawBody = EMPTY, caller, ip: address } = request
      const answer = await handle({ caller: caller ?? PUBLIC, params, query, body, headers, rawBody, requestId, address })
      if (answer.headers) reply.headers(answer.headers)
      if (!reply.hasHeader('content-type')) reply.type(JSON_TYPE)
      return reply.code(answer.status ?? 200).send(answer.body)
    },
  })
}
