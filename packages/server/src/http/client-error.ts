import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Config } from '@svc/contract/config'
import { type ErrorCode, Failure } from '@svc/contract/errors'
import { sortableId } from '@svc/kernel/ids'
import { prefersProblem } from './accept.ts'
import { type Envelope, failureBody, helpLink, PROBLEM_JSON, problemBody } from './failure-body.ts'
import type { Services } from './operation.ts'

const BY_CODE: Record<string, 'headers_too_large' | 'request_timeout'> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

const LIMITS: Partial<Record<ErrorCode, (config: Config) => string>> = {
  headers_too_large: (config) => `The headers are larger than ${config.HEADER_BYTES_MAX} bytes, the limit`,
  request_timeout: (config) =>
    `The headers did not arrive within ${config.HEADERS_TIMEOUT_MS} ms, or the request within ${config.REQUEST_TIMEOUT_MS} ms`,
}

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The response before it on the same connection, where that was still to come. */
  readonly previous: ServerResponse | undefined
}

const isOpen = (response: ServerResponse | undefined): response is ServerResponse =>
  response !== undefined && !response.writableFinished && !response.destroyed

/** The newest exchange of each connection: what is broken comes behind it, or in the middle of it. */
const newest = new WeakMap<Socket, Exchange>()
/** Connections whose end is decided: the parser complains again of every byte that still comes. */
const ending = new WeakSet<Socket>()

interface Route {
  readonly operation: string
  readonly envelope: Envelope
}

/** Whose operation a request is for, as far as that was found before the request broke. */
const routes = new WeakMap<IncomingMessage, Route>()
export const followRoute = (request: IncomingMessage, route: Route): void => void routes.set(request, route)

/** How long a caller may take to close its side of a connection that was refused. */
const CLOSING_MS = 2_000

/** Sees every request, to know what is under way when a connection breaks. */
export const followExchanges = (server: Server): void =>
  void server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const previous = newest.get(request.socket)?.response
    newest.set(request.socket, { request, response, previous: isOpen(previous) ? previous : undefined })
  })

/**
 * Makes each connection keep its caller's address, which Node reads from the connection itself, and no longer once that
 * is closed: requests of a caller who has hung up are counted, limited and logged as all others.
 */
export function keepAddresses(server: Server): void {
  for (const event of ['connection', 'secureConnection'])
    server.prependListener(event, (socket: Socket) => {
      if (socket.remoteAddress === undefined) socket.destroy()
    })
}

/**
 * Returns what never became a request (bad framing, headers too large, too slow) in the same envelope, and hangs up.
 * Requests before it on the same connection get their own responses first, in their order (RFC 9112 section 9.3.2).
 */
export function respondToClientErrors(services: Services) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (ending.has(socket)) return
    ending.add(socket)
    const { request, response, previous } = newest.get(socket) ?? {}
    // One who hung up hears nothing, and a response that has begun cannot be taken back.
    if (error.code === 'ECONNRESET' || (request?.complete === false && response?.headersSent)) {
      socket.destroy()
      return
    }
    const before = request?.complete ? response : previous
    // What is broken behind a whole request is another one, of which nothing is known.
    const broken = request?.complete === false ? request : undefined
    if (isOpen(before)) before.once('finish', () => refuse(services, error, socket, broken))
    else refuse(services, error, socket, broken)
  }
}

function refuse(
  { clock, config, random, metrics, publicUrl }: Services,
  error: NodeJS.ErrnoException,
  socket: Socket,
  broken: IncomingMessage | undefined,
): void {
  if (!socket.writable) {
    socket.destroySoon()
    return
  }
  const code = BY_CODE[error.code ?? ''] ?? 'bad_request'
  const description = LIMITS[code]?.(config)
  const failure = new Failure(code, { ...(description && { description }) })
  const requestId = `req_${sortableId(clock.now(), random)}`
  const { operation = 'none', envelope = 'bare' } = (broken && routes.get(broken)) ?? {}
  const context = {
    envelope,
    requestId,
    now: new Date(clock.now()),
    timeZone: config.BUSINESS_TIME_ZONE,
  }
  const problem = envelope === 'problem' || prefersProblem(broken?.headers ?? {})
  const body = problem ? problemBody(failure, requestId, publicUrl()) : failureBody(failure, context)
  const type = problem ? PROBLEM_JSON : 'application/json; charset=utf-8'
  metrics.failures.inc({ operation, error: failure.code })
  // Half a connection would stay open for as long as its caller likes. Closed at once, it might lose the response.
  const closing = setTimeout(() => socket.destroy(), CLOSING_MS).unref()
  socket.once('close', () => clearTimeout(closing))
  socket.end(
    `HTTP/1.1 ${failure.status} ${REASONS[failure.status]}\r\nContent-Type: ${type}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nx-request-id: ${requestId}\r\nLink: ${helpLink(failure, publicUrl())}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
  )
}
