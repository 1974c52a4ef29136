import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { fail } from '../../errors.ts'
import { Admission } from './admission.ts'
import { takeOnly } from './bodies.ts'
import { documented } from './openapi.ts'
import type { Caller, Operation, Reply, Services } from './operation.ts'
import { type RateLimit, rateLimit } from './rate-limit.ts'
import { answerSealer, openBody, wantsSealed } from './sealed.ts'
import { type Authenticator, JSON_TYPE, type ServerOptions } from './server.ts'

const PUBLIC: Caller = { tenantId: 'house' }
const EMPTY: Buffer = Buffer.alloc(0)

/** Mounts the operations, and answers 405 on their paths for every other method. */
export function mountOperations(
  app: FastifyInstance,
  operations: readonly Operation[],
  options: ServerOptions,
): void {
  const methods = new Map<string, Set<string>>()
  const limit = rateLimit(options.services)
  app.addHook('onClose', async () => limit?.close())
  const admission = new Admission(options.services)
  for (const operation of operations) {
    mountOperation(app, operation, options, { limit, admission })
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

function mountOperation(
  app: FastifyInstance,
  operation: Operation,
  options: ServerOptions,
  { limit, admission }: { readonly limit: RateLimit | undefined; readonly admission: Admission },
): void {
  const { auth, id, accepts = ['application/json'] } = operation
  const { services, authenticators } = options
  const authenticator = authenticators[auth]
  if (auth !== 'none' && !authenticator) throw new Error(`nobody authenticates ${auth} for ${id}`)
  const authenticate = authentication(authenticator, limit)
  const admit: onRequestHookHandler = (request, _, done) => {
    if (admission.isFull) admission.admit(authenticator ? authenticator.whose?.(request) : request.ip)
    done()
  }
  const unsealed = operation.sealed === 'request' || operation.sealed === 'both'
  app.route({
    method: operation.method,
    url: operation.path,
    config: { operation: id, family: operation.family, ...(operation.role && { role: operation.role }) },
    schema: documented(operation),
    ...(operation.bodyBytesMax && { bodyLimit: operation.bodyBytesMax }),
    onRequest: [
      // Whoever looks after the process hears how it is, however much comes.
      ...(operation.tag === 'Running it' ? [] : [admit]),
      ...(authenticator?.needs === 'headers' ? [authenticate] : []),
      (request, _, done) => {
        takeOnly(request, accepts)
        if (request.url.includes('%00')) keepNulOut(request)
        done()
      },
    ],
    preValidation: [
      ...(authenticator?.needs === 'body' ? [authenticate] : []),
      ...(unsealed
        ? [
            async (request: FastifyRequest) =>
              void Object.assign(request, await openBody(services, request.caller!, request)),
          ]
        : operation.body
          ? [emptyBodyIsAnObject]
          : []),
    ],
    handler: handlerOf(operation, services, admission),
  })
}

/** Nothing at all is an empty object, so that a missing body is told field by field. */
function emptyBodyIsAnObject(request: FastifyRequest, _: FastifyReply, done: () => void): void {
  if (request.body === undefined) request.body = {}
  done()
}

const NUL = '\u0000'

/**
 * PostgreSQL's text holds no NUL, and a look-up that fails takes those with it that travel along. An id with one is an
 * id that nobody has (decision A12); a query with one is refused, as a body is (decision C14).
 */
function keepNulOut(request: FastifyRequest): void {
  const params = request.params as Record<string, string>
  for (const [name, value] of Object.entries(params)) if (value.includes(NUL)) params[name] = ''
  for (const value of Object.values(request.query as Record<string, unknown>).flat())
    if (String(value).includes(NUL))
      fail('validation_failed', { description: 'The query holds a NUL character' })
}

const authentication =
  (authenticator: Authenticator | undefined, limit: RateLimit | undefined) =>
  async (request: FastifyRequest, reply: FastifyReply) => {
    request.caller = await authenticator!.authenticate(request)
    if (authenticator!.needs === 'headers') await limit?.take(request.caller.tenantId, reply)
  }

function handlerOf(operation: Operation, services: Services, admission: Admission) {
  const handle = operation.mount(services)
  const maySeal = operation.sealed === 'answer' || operation.sealed === 'both'
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { id: requestId, params, query, body, headers, rawBody = EMPTY, sealHash, ip: address } = request
    const caller = request.caller ?? PUBLIC
    const entered = request.caller?.tenantId ?? address
    let answer: Reply
    admission.enter(entered)
    try {
      const seal = maySeal && wantsSealed(request) ? await answerSealer(services, caller) : undefined
      const made = await handle({
        caller,
        params,
        query,
        body,
        headers,
        rawBody,
        sealHash,
        requestId,
        address,
      })
      if (operation.takesIdempotencyKey && typeof made.body === 'string') request.answer = made.body
      answer = seal ? await seal(made) : made
    } finally {
      admission.leave(entered)
    }
    if (answer.headers) reply.headers(answer.headers)
    // A stream may last; a reader who stands still may not (decision L2).
    if (typeof answer.body !== 'string')
      reply.raw.setTimeout(services.config.STREAM_IDLE_MS, () => reply.raw.destroy())
    // RFC 9110 section 15.4.5: no body, and nothing said of one.
    if (answer.status === 304) return reply.code(304).send()
    if (!reply.hasHeader('content-type')) reply.type(JSON_TYPE)
    return reply.code(answer.status ?? 200).send(answer.body)
  }
}
