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
  readonly seen: Seen[] = []
  /** Says for each request what becomes of it. */
  decide: (request: Seen) => Fate = () => 'pass'

  private constructor(target: string) {
    this.#server = createServer((request, response) => void this.#carry(target, request, response))
  }

  /** Listens on a free port of loopback, in front of the service at this address. */
  static async open(target: string): Promise<HttpProxy> {
    const proxy = new HttpProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
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
    const { host: _, ...kept } = headers
    const sent = forward(new URL(path, target), { method, headers: kept, agent: false })
    sent.on('error', () => request.socket.destroy())
    const cutOff = async (answer: IncomingMessage): Promise<void> => {
      // Waits for the end of the answer: what it tells has happened.
      const body = Buffer.concat((await answer.toArray()) as Buffer[])
      if (fate === 'halve') {
        response.writeHead(answer.statusCode!, { ...answer.headers, 'content-length': body.length })
        await new Promise<unknown>((resolve) => response.write(body.subarray(0, body.length / 2), resolve))
      }
      request.socket.destroy()
    }
    sent.on('response', (answer) => {
      if (fate === 'pass') {
        response.writeHead(answer.statusCode!, answer.headers)
        // Whichever side goes takes the other along.
        pipeline(answer, response, () => response.destroy())
      } else void cutOff(answer)
    })
    sent.end(bytes)
  }
}
