import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'

interface Event {
  readonly id: string
  readonly sequence: number
}

/** A tenant's server for webhooks, over TLS as live mode demands; it keeps the ids of what bore a valid signature. */
export class Receiver {
  readonly #server: Server
  /** What the service must trust to reach it. */
  readonly certificate: string
  readonly #secrets = new Map<string, Webhook>()
  /** Numbers of events by their ids, for each tenant. */
  readonly received = new Map<string, Map<string, number>>()
  /** Headers of traces by the ids of their events. */
  readonly traceparents = new Map<string, string>()
  deliveries = 0
  forged = 0

  private constructor(server: Server, certificate: string) {
    this.#server = server
    this.certificate = certificate
  }

  static async open(directory: string): Promise<Receiver> {
    const [key, certificate] = [join(directory, 'receiver.key'), join(directory, 'receiver.crt')]
    const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=receiver'
    await promisify(execFile)('openssl', [
      ...request.split(' '),
      '-addext',
      'subjectAltName=IP:127.0.0.1',
      '-keyout',
      key,
      '-out',
      certificate,
    ])
    const tls = { key: await readFile(key), cert: await readFile(certificate) }
    const receiver: Receiver = new Receiver(
      createServer(tls, (request, response) => {
        const parts: Buffer[] = []
        request.on('data', (part: Buffer) => parts.push(part))
        request.on('end', () => {
          receiver.#take(request.url!.slice(1), Buffer.concat(parts).toString(), request.headers)
          response.writeHead(204).end()
        })
      }),
      certificate,
    )
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  url(tenantId: string): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${tenantId}`
  }

  expect(tenantId: string, secret: string): void {
    this.#secrets.set(tenantId, new Webhook(secret))
    this.received.set(tenantId, new Map())
  }

  #take(tenantId: string, raw: string, headers: NodeJS.Dict<string | string[]>): void {
    this.deliveries++
    try {
      const event = this.#secrets.get(tenantId)!.verify(raw, headers as Record<string, string>) as Event
      this.received.get(tenantId)!.set(event.id, event.sequence)
      const { traceparent } = headers
      if (typeof traceparent === 'string') this.traceparents.set(event.id, traceparent)
    } catch {
      this.forged++
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
