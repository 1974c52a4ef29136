import { Failure, fail } from '@svc/contract/errors'
import { network } from '@svc/platform/ip-range'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { Admission, Admitted } from './admission.ts'
import { acceptOnly, parseBody } from './bodies.ts'
import { followRoute } from './client-error.ts'
import { type Deprecation, deprecationHeaders } from './deprecation.ts'
import { decryptBody } from './encryption.ts'
import { type FailedRequestLimit, failedRequestLimit } from './failed-request-limit.ts'
import { handlerOf, PUBLIC, step } from './handler.ts'
import { LargeBodies } from './large-bodies.ts'
import { absentFields, whenEmpty } from './missing-fields.ts'
import { acceptNotice } from './notice-form.ts'
import { type Caller, isRail, type MediaType, NoFields, type Operation, type Services } from './operation.ts'
import { isProbe } from './probes.ts'
import { type RateLimit, rateLimit } from './rate-limit.ts'
import { routeSchema } from './route-schema.ts'
import type { Authenticator, ServerOptions } from './server.ts'
import { requireClientCertificate } from './tls.ts'

/** Mounts the operations; every other method on their paths gets 405. */
export function mountOperations<S extends Services>(
  app: FastifyInstance,
  operations: readonly Operation<S>[],
  options: ServerOptions<S>,
): void {
  const methods = new Map<string, Set<string>>()
  const { services } = options
  const limit = rateLimit(services)
  app.addHook('onClose', async () => limit?.close())
  const gate: Gate = {
    limit,
    tenants: new Admission(services),
    unauthenticated: new Admission(services),
    failedRequests: failedRequestLimit(services),
    largeBodies: new LargeBodies(),
  }
  for (const operation of operations) {
    mountOperation(app, operation, options, gate)
    const taken = methods.get(operation.path) ?? new Set()
    methods.set(operation.path, taken.add(operation.method))
    if (hasHead(operation)) taken.add('HEAD')
  }
  for (const [url, taken] of methods) {
    const allow = [...taken].sort().join(', ')
    const envelope = operations.find((operation) => operation.path === url)!.envelope
    app.route({
      url,
      method: app.supportedMethods.filter((method) => !taken.has(method)),
      config: { envelope },
      onRequest: async ({ method }) =>
        fail('method_not_allowed', {
          description: `This path does not support ${method}: use ${allow.replaceAll(', ', ' or ')}`,
          headers: { allow },
        }),
      handler: async () => undefined,
    })
  }
}

interface Gate {
  readonly limit: RateLimit | undefined
  readonly tenants: Admission
  readonly unauthenticated: Admission
  readonly failedRequests: FailedRequestLimit | undefined
  readonly largeBodies: LargeBodies
}
/** RFC 9110 section 9.3.2 lets HEAD be refused: where nothing but a stream is to be had, it would begin one without a reader. */
const hasHead = ({ method, streams, alsoProduces }: Operation): boolean =>
  method === 'GET' && (!streams || alsoProduces !== undefined)

function mountOperation<S extends Services>(
  app: FastifyInstance,
  operation: Operation<S>,
  options: ServerOptions<S>,
  gate: Gate,
): void {
  const { auth, body, bodyBytesMax, deprecated, id, accepts = ['application/json'], ignores = [] } = operation
  const { services, authenticators } = options
  const authenticator = authenticators[auth]
  if (auth !== 'none' && !authenticator) throw new Error(`there is no authenticator ${auth} for ${id}`)
  const authenticate = authentication(operation, authenticator, gate, services)
  const mustDecrypt = ['request', 'both'].includes(operation.encrypted ?? '')
  app.route({
    method: operation.method,
    url: operation.path,
    exposeHeadRoute: hasHead(operation),
    config: {
      operation: id,
      envelope: operation.envelope,
      ...(operation.role && { role: operation.role }),
      ...(operation.permission && { permission: operation.permission }),
      ...(operation.stepUp && { stepUp: true }),
      ...(operation.beforeSecondFactor && { beforeSecondFactor: true }),
      ...((authenticator?.needs === 'body' || operation.acceptsAnyBody) && { parse: 'later' }),
      ...(body === undefined && { parse: 'never' }),
      ...(mustDecrypt && { isEncrypted: true }),
      ...(operation.acceptsAccessKeyAlone && { acceptsAccessKeyAlone: true }),
      ...(operation.scope && { scope: operation.scope }),
      ...(operation.hasSpecifiedTokenError && { hasSpecifiedTokenError: true }),
      ...(!isProbe(operation) && { isTraced: true }),
    },
    schema: routeSchema(operation),
    ...(bodyBytesMax && { bodyLimit: bodyBytesMax }),
    onRequest: [
      following(operation),
      ...(deprecated ? [announce(deprecated, services)] : []),
      ...(isProbe(operation) ? [] : [admission(operation, authenticator, gate)]),
      ...(isRail(operation) && services.config.RAIL_CLIENT_CA_FILE !== undefined ? [clientCertificate] : []),
      ...(authenticator?.needs === 'headers' ? [authenticate] : []),
      readingOnly(operation, accepts, ignores),
      ...largeBody(operation, services, gate),
    ],
    preValidation: [
      ...(authenticator?.needs === 'body' ? [authenticate] : []),
      ...(authenticator?.needs === 'body' && !operation.acceptsAnyBody ? [parseBody] : []),
      ...(mustDecrypt
        ? [decryption(services, operation.path)]
        : operation.body && !operation.acceptsAnyBody
          ? [whenEmpty(operation)]
          : []),
      ...(body && !operation.acceptsAnyBody && auth !== 'operator' ? [absentFields(body)] : []),
    ],
    handler: handlerOf(operation, services, gate.limit),
  })
}

const isWithoutBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0

/** Refuses a body of another type, and drops what has no effect. */
const readingOnly =
  (operation: Operation, accepts: readonly MediaType[], ignores: readonly string[]): onRequestHookHandler =>
  (request, _, done) => {
    // Without a body in its contract an operation reads none, whatever its type is said to be (decision C14).
    if (
      operation.body === undefined ||
      ((operation.body === NoFields || operation.mayLackBody) && isWithoutBody(request))
    )
      delete request.headers['content-type']
    else if (!operation.acceptsAnyBody) acceptOnly(request, accepts)
    if (ignores.includes('query')) request.query = {}
    if (isRail(operation)) acceptNotice(request, operation.query)
    else keepNulOut(request)
    done()
  }

/** Also a request that never arrives whole fails as one of its operation (decision F1). */
function following({ id, envelope }: Operation): onRequestHookHandler {
  const route = { operation: id, envelope }
  return (request, _, done) => {
    followRoute(request.raw, route)
    done()
  }
}

/** On every response of a deprecated operation, errors included. */
const announce =
  (deprecated: Deprecation, { publicUrl }: Services): onRequestHookHandler =>
  (_, reply, done) => {
    reply.headers(deprecationHeaders(deprecated, publicUrl()))
    done()
  }

/** Bodies of the usual size need no slot; one without a length may be of any. */
function largeBody(
  { bodyBytesMax }: Operation,
  { config }: Services,
  { largeBodies }: Gate,
): onRequestHookHandler[] {
  if (bodyBytesMax === undefined) return []
  return [
    (request, _, done) => {
      const isUsual = Number(request.headers['content-length']) <= config.BODY_BYTES_MAX
      if (!isUsual) request.largeBody = largeBodies.take(request)
      done()
    },
  ]
}

const clientCertificate: onRequestHookHandler = (request, _, done) => {
  requireClientCertificate(request)
  done()
}

const NUL = '\u0000'

/**
 * PostgreSQL's text holds no NUL, and a lookup that fails takes those with it that travel along. An id with one is an
 * id that does not exist (decision A12); a query with one is refused, as a body is (decision C14).
 */
function keepNulOut(request: FastifyRequest): void {
  const params = request.params as Record<string, string>
  for (const [name, value] of Object.entries(params)) if (value.includes(NUL)) params[name] = ''
  for (const value of Object.values(request.query as Record<string, unknown>).flat())
    if (String(value).includes(NUL))
      fail('validation_failed', { description: 'The query holds a NUL character' })
}

/** Counts each request from its headers on, and refuses those of callers who have their share. */
const admission =
  (
    { limitedBy }: Operation,
    authenticator: Authenticator | undefined,
    { tenants, unauthenticated, failedRequests }: Gate,
  ): onRequestHookHandler =>
  (request, reply, done) => {
    if (limitedBy === 'address') failedRequests?.check(request.ip)
    const tenant = authenticator?.whose?.(request)
    const admitted =
      tenant === undefined
        ? new Admitted(unauthenticated, network(request.ip))
        : new Admitted(tenants, tenant)
    request.admitted = admitted
    // Also of a request that breaks off, or is refused, before its operation is carried out.
    reply.raw.once('close', () => {
      admitted.leave()
      if (!request.caller && reply.statusCode >= 400 && reply.statusCode < 429)
        failedRequests?.count(request.ip)
    })
    done()
  }

const authentication =
  (
    { streams }: Operation,
    authenticator: Authenticator | undefined,
    { limit, tenants, failedRequests }: Gate,
    services: Services,
  ) =>
  async (request: FastifyRequest, reply: FastifyReply) => {
    const caller = await step(services, request, () =>
      failedRequests?.isOver(request.ip)
        ? authenticateOverBudget(authenticator!, failedRequests, request)
        : authenticator!.authenticate(request),
    )
    request.caller = streams ? { ...caller, stillValid: () => isValid(authenticator!, request) } : caller
    request.admitted?.move(tenants, caller.tenantId)
    if (authenticator!.needs === 'headers') await limit?.take(subjectOf(caller), reply)
  }

/**
 * Of an address over its budget: 429 for what proves wrong, before any query where none is needed to find that out. A
 * credential that proves right is accepted all the same (decision A11).
 */
async function authenticateOverBudget(
  authenticator: Authenticator,
  failedRequests: FailedRequestLimit,
  request: FastifyRequest,
): Promise<Caller> {
  const { needs, whose, isGenuine } = authenticator
  const isKnown = () => whose?.(request) !== undefined
  if (needs === 'headers' && !isKnown() && !(await isGenuine?.(request))) failedRequests.check(request.ip)
  try {
    return await authenticator.authenticate(request)
  } catch (error) {
    if (error instanceof Failure && error.status < 429 && !isKnown()) failedRequests.check(request.ip)
    throw error
  }
}

/** Whose rate limit a request counts in (decision L1): people have no credential, and each has a limit of their own. */
const subjectOf = ({ credentialId, actor, tenantId }: Caller): string =>
  credentialId ?? actor?.actorId ?? tenantId

/** Whether the caller of a request would be let in again. */
async function isValid(authenticator: Authenticator, request: FastifyRequest): Promise<boolean> {
  try {
    await authenticator.authenticate(request)
    return true
  } catch {
    return false
  }
}

/** Decrypts the body of a request to this path. */
const decryption = (services: Services, path: string) => async (request: FastifyRequest) =>
  void Object.assign(
    request,
    await step(services, request, () => decryptBody(services, request.caller ?? PUBLIC, request, { path })),
  )
