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

/** Answers what never became a request (bad framing, headers too large, too slow) in the same envelope, and hangs up. */
export function answerClientErrors({ clock, config, random, metrics }: Services) {
  return (
    error: NodeJS.ErrnoException,
    socket: Socket & { _httpMessage?: { headersSent: boolean } | null },
  ): void => {
    // An answer that has begun cannot be taken back, and one who hung up hears nothing.
    if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent) {
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
