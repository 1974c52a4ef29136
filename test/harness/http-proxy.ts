import {
  createServer,
  request as forward,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'

interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/**
 * What becomes of one request: `lose` carries it out and drops the answer, `halve` drops the second half of the
 * answer's body, an answer is given in the service's place without asking it.
 */
type Fate =
  | 'pass'
  | 'lose'
  | 'halve'
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }

/** Stands between a client and the service, and does to requests what networks do to them. */
export class HttpProxy {
  readonly #server: Server
  readonly #prefix: string
  readonly seen: Seen[] = []
  /** As a load balancer does, appends this address of the caller to `X-Forwarded-For`, after what the caller sent. */
  reports: string | undefined
  /** Says for each request what becomes of it. */
  decide: (request: Seen) => Fate = () => 'pass'

  private constructor(target: string, prefix: string) {
    this.#prefix = prefix
    this.#server = createServer((request, response) => void this.#carry(target, request, response))
  }

  /**
   * Listens on a free port of loopback, in front of the service at this address. With a prefix, as a gateway that
   * publishes the service under a path: it removes the prefix, and any other path is not found.
   */
  static async open(target: string, prefix = ''): Promise<HttpProxy> {
    const proxy = new HttpProxy(target, prefix)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${this.#prefix}`
  }

  /** The requests whose path ends so. */
  at = (end: string): Seen[] => this.seen.filter(({ path }) => path.endsWith(end))

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #carry(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = Buffer.concat((await request.toArray()) as Buffer[])
    const { method = '', url: path = '', headers } = request
    const seen = { method, path, headers, body: bytes.toString() }
    this.seen.push(seen)
    const fate = this.decide(seen)
    if (typeof fate === 'object') {
      response.writeHead(fate.status, fate.headers).end(fate.body ?? '')
      return
    }
    if (!path.startsWith(`${this.#prefix}/`)) {
      response.writeHead(404).end()
      return
    }
    const { host: _, ...kept } = headers
    const { 'x-forwarded-for': given } = headers
    if (this.reports !== undefined) kept['x-forwarded-for'] = [given, this.reports].filter(Boolean).join(', ')
    const sent = forward(new URL(path.slice(this.#prefix.length), target), {
      method,
      headers: kept,
      agent: false,
    })
    sent.on('error', () => request.socket.destroy())
    const cutOff = async (reply: IncomingMessage): Promise<void> => {
      // Waits for the end of the answer: what it tells has happened.
      const body = Buffer.concat((await reply.toArray()) as Buffer[])
      if (fate === 'halve') {
        response.writeHead(reply.statusCode!, { ...reply.headers, 'content-length': body.length })
        await new Promise<unknown>((resolve) => response.write(body.subarray(0, body.length / 2), resolve))
      }
      request.socket.destroy()
    }
    sent.on('response', (reply) => {
      if (fate === 'pass') {
        response.writeHead(reply.statusCode!, reply.headers)
        // Whichever side goes takes the other along.
        pipeline(reply, response, () => response.destroy())
      } else void cutOff(reply)
    })
    sent.end(bytes)
  }
}
