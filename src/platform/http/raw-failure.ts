import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Failure } from '../../errors.ts'
import { sortableId } from '../../kernel/ids.ts'
import { failureBody } from './failure-body.ts'
import type { Services } from './operation.ts'

const BY_CODE: Record<string, 'headers_too_large' | 'request_timeout'> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

/** A connection as Node keeps it: with the answer that is its turn, if any. */
type Connection = Socket & { readonly _httpMessage?: ServerResponse | null }

/**
 * Answers what never became a request (bad framing, headers too large, too slow) in the same envelope, and hangs up.
 * Whole requests before it on the same connection are answered first: theirs must not be taken for this answer.
 */
export function answerClientErrors({ clock, config, random, metrics }: Services) {
  return function answer(error: NodeJS.ErrnoException, socket: Connection): void {
    const before = socket._httpMessage
    if (socket.writable && before?.req.complete && (!before.headersSent || before.writableEnded)) {
      before.once('close', () => setImmediate(() => answer(error, socket)))
      return
    }
    // An answer that has begun cannot be taken back, and one who hung up hears nothing.
    if (error.code === 'ECONNRESET' || !socket.writable || before?.headersSent) {
      socket.destroy()
      return
    }
    const failure = new Failure(BY_CODE[error.code ?? ''] ?? 'bad_request')
    const requestId = `req_${sortableId(clock.now(), random)}`
    const body = failureBody(failure, {
      family: 'bare',
      requestId,
      now: new Date(clock.now()),
      timeZone: config.BUSINESS_TIME_ZONE,
    })
    metrics.failures.inc({ operation: 'none', error: failure.word })
    socket.end(
      `HTTP/1.1 ${failure.status} ${REASONS[failure.status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nx-request-id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
    )
  }
}
