import http from 'node:http'
import { type CapsuleRequest, type CapsuleResponse, CUT } from './capsule.ts'

/** Of one hop, or made again for the next (RFC 9110 section 7.6.1). */
const OF_A_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'upgrade', 'expect'])

export function withoutHopHeaders(headers: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < headers.length; i += 2)
    if (!OF_A_HOP.has(headers[i]!.toLowerCase())) kept.push(headers[i]!, headers[i + 1]!)
  return kept
}

export interface Sending {
  readonly port: number
  /** Before anything is sent: the port from which it comes. */
  readonly onConnect: (fromPort: number) => void
  /** When the response begins. */
  readonly onResponse?: (response: http.IncomingMessage) => void
  /** Ends what has no end. */
  readonly signal: AbortSignal
}

export const isStream = ({ headers }: http.IncomingMessage): boolean =>
  headers['content-type']?.startsWith('text/event-stream') ?? false

/** Sends a request on a connection of its own. A stream counts as ended when it begins. */
export function send(request: CapsuleRequest, sending: Sending): Promise<CapsuleResponse> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    const sent = http.request({
      host: '127.0.0.1',
      port: sending.port,
      method: request.method,
      path: request.target,
      headers: [...request.headers] as unknown as http.OutgoingHttpHeaders,
      setHost: false,
      agent: false,
      signal: sending.signal,
    })
    const cut = () => resolve({ status: CUT, headers: [], body: Buffer.concat(parts) })
    sent.on('error', cut)
    sent.on('response', (response) => {
      sending.onResponse?.(response)
      const { statusCode: status = CUT } = response
      const headers = withoutHopHeaders(response.rawHeaders)
      response.on('error', cut)
      if (isStream(response)) return resolve({ status, headers, body: Buffer.alloc(0), isStream: true })
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => resolve({ status, headers, body: Buffer.concat(parts) }))
    })
    sent.on('socket', (socket) => {
      socket.once('connect', () => {
        sending.onConnect(socket.localPort!)
        sent.end(request.body)
      })
    })
  })
}
