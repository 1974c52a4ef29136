import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { Failure } from '@svc/contract/errors'
import { tooLate } from '@svc/platform/command'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { responseEncrypter, wantsEncrypted } from './encryption.ts'
import { forwardingOf } from './forwarding.ts'
import { type Caller, type Input, mayChange, type Operation, type Reply, type Services } from './operation.ts'
import type { RateLimit } from './rate-limit.ts'
import { JSON_TYPE } from './server.ts'

export const PUBLIC: Caller = { tenantId: 'house' }
const EMPTY: Buffer = Buffer.alloc(0)

/**
 * One step of our work on a request. All of them together have COMMAND_TIMEOUT_MS (decision R8); the time in which the
 * body arrives is the caller's.
 */
export async function step<T>(
  { config, waits }: Services,
  request: FastifyRequest,
  work: () => Promise<T> | T,
  late: () => Failure = tooLate,
): Promise<T> {
  const startMs = performance.now()
  const deadlineMs = startMs + config.COMMAND_TIMEOUT_MS - request.spentMs
  try {
    return await waits.within(deadlineMs, work(), late)
  } finally {
    request.spentMs += performance.now() - startMs
  }
}

const outcomeUnknown = () => new Failure('outcome_unknown', { retryAfterSeconds: 1 })

function inputOf(
  request: FastifyRequest,
  caller: Caller,
  countAs: Input<unknown, unknown, unknown>['countAs'],
) {
  const { params, query, body, headers, rawBody = EMPTY, ciphertextHash } = request
  const { id: requestId, ip: address } = request
  return { caller, params, query, body, headers, rawBody, ciphertextHash, requestId, address, countAs }
}

const uncounted = async (): Promise<void> => undefined

/** What responds to a request, after its checks. */
export function handlerOf<S extends Services>(
  operation: Operation<S>,
  services: S,
  limit: RateLimit | undefined,
) {
  const handle = forwardingOf(operation, services, operation.mount(services))
  // A command bounds its own wait, and knows what may have happened; a report of the console may take longer.
  const isCommand = operation.acceptsIdempotencyKey && !operation.isKeyedQuery
  const isBounded = !isCommand && operation.auth !== 'operator' && !operation.takesLong
  const late = mayChange(operation) ? outcomeUnknown : tooLate
  const counts = operation.limitedBy === 'credential' ? limit : undefined
  const mayEncrypt = operation.encrypted === 'response' || operation.encrypted === 'both'
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const caller = request.caller ?? PUBLIC
    let response: Reply
    try {
      const encryptResponse =
        mayEncrypt && wantsEncrypted(request)
          ? await step(services, request, () => responseEncrypter(services, caller, request.jweKid))
          : undefined
      const countAs = counts ? (credential: string) => counts.take(credential, reply) : uncounted
      const input = inputOf(request, caller, countAs)
      const deadlineMs = performance.now() + services.config.COMMAND_TIMEOUT_MS - request.spentMs
      const made = isBounded
        ? await boundedReply(services, request, () => handle(input), late)
        : await handle({ ...input, deadlineMs })
      if (typeof made.body !== 'string') endTogether(made.body, request.raw.socket, reply.raw)
      if (operation.acceptsIdempotencyKey && typeof made.body === 'string') request.response = made.body
      response = encryptResponse ? await encryptResponse(made) : made
    } finally {
      request.admitted?.leave()
      request.largeBody?.leave()
    }
    if (response.headers) reply.headers(response.headers)
    // A stream may last; a reader who stands still may not (decision L2).
    if (typeof response.body !== 'string') {
      if (request.method === 'HEAD') {
        response.body.destroy()
        // Nothing is read, and nothing said of a length.
        return reply.code(200).send(Readable.from([]))
      }
      request.beganMs = reply.elapsedTime
      reply.raw.setTimeout(services.config.STREAM_IDLE_MS, () => reply.raw.destroy())
    }
    // RFC 9110 section 15.4.5: no body, and nothing said of one.
    if (response.status === 304) return reply.code(304).send()
    if (!reply.hasHeader('content-type')) reply.type(JSON_TYPE)
    return reply.code(response.status ?? 200).send(response.body)
  }
}

/** What a handler makes, within the time of the request. A stream that comes later has no reader, and is destroyed. */
async function boundedReply(
  services: Services,
  request: FastifyRequest,
  handle: () => Promise<Reply> | Reply,
  late: () => Failure,
): Promise<Reply> {
  let making: Promise<Reply> | Reply | undefined
  try {
    return await step(services, request, () => (making = handle()), late)
  } catch (error) {
    void Promise.resolve(making).then(
      (made) => void (made && typeof made.body !== 'string' && made.body.destroy()),
      () => undefined,
    )
    throw error
  }
}

/**
 * A stream ends with its response, and with its connection: Node emits no `close` for a response that still waits behind
 * others of a connection that breaks.
 */
function endTogether(body: Readable, socket: Socket, response: ServerResponse): void {
  const end = () => void body.destroy()
  if (socket.destroyed || response.closed) return end()
  socket.once('close', end)
  response.once('close', end)
  body.once('close', () => socket.off('close', end))
}
