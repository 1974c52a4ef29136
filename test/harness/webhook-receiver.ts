import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import type { Json } from './client.ts'

export interface Received {
  readonly path: string
  readonly headers: Record<string, string>
  readonly raw: string
  readonly event: Json
}

type HttpResponse = (request: Received, response: ServerResponse) => void

const takeAll: HttpResponse = (_, response) => void response.writeHead(204).end()

/** Somebody's server that takes webhooks, on a free port of loopback. */
export class WebhookReceiver {
  readonly #server: Server
  readonly received: Received[] = []
  /** TCP connections that reached it, whether or not a request came. */
  connections = 0
  response: HttpResponse = takeAll
  #watchers: (() => void)[] = []

  private constructor() {
    this.#server = createServer((request, response) => void this.#take(request, response))
    this.#server.on('connection', () => this.connections++)
  }

  static async open(host = '127.0.0.1'): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver()
    await new Promise<void>((resolve) => receiver.#server.listen(0, host, resolve))
    return receiver
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  url(path = '/hook'): string {
    return `http://127.0.0.1:${this.port}${path}`
  }

  at(path: string): Received[] {
    return this.received.filter((request) => request.path === path)
  }

  /** Resolves as soon as what was received fulfils the condition. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#watchers.push(resolve))
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    try {
      for await (const part of request) parts.push(part as Buffer)
    } catch {
      return
    }
    const raw = Buffer.concat(parts).toString()
    const headers = request.headers as Record<string, string>
    const received = { path: request.url ?? '', headers, raw, event: raw ? JSON.parse(raw) : undefined }
    this.received.push(received)
    this.response(received, response)
    for (const wake of this.#watchers.splice(0)) wake()
  }
}

/** Throws unless the delivery bears a signature of this secret, by the standard's own library. */
export const verifyDelivery = ({ raw, headers }: Received, secret: string): Json =>
  new Webhook(secret).verify(raw, headers)
