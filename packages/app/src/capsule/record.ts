import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CapsuleExchange,
  type CapsuleRequest,
  type CapsuleResponse,
  CUT,
  type Round,
} from './capsule.ts'
import type { CapsuleWorld } from './capsule-world.ts'
import { isStream, withoutHopHeaders } from './exchange.ts'

/** While no request comes, the clocks move this often, and what is due happens. */
const TICK_MS = 250
/** Requests that arrive within so long of each other are carried out together. */
const TOGETHER_MS = 5
const BODY_BYTES_MAX = 64 * 1024 * 1024

export const newSeed = (): string => randomBytes(16).toString('hex')

interface Arrived {
  readonly request: CapsuleRequest
  readonly reply: http.ServerResponse
}

export interface RecorderOptions {
  readonly host: string
  readonly port: number
  /** Where the clocks stood when the service began. */
  readonly startedAtMs: number
  readonly onExchange?: (exchange: CapsuleExchange) => void
}

/** Listens in the place of a service, carries requests out in rounds, and keeps them with their responses. */
export class Recorder {
  readonly exchanges: CapsuleExchange[] = []
  readonly rounds: Round[] = []
  readonly #server: http.Server
  readonly #onExchange: RecorderOptions['onExchange']
  #arrived: Arrived[] = []
  #count = 0
  #latestMs: number
  #onArrival: () => void = () => undefined
  #stopping = false
  #running: Promise<void> | undefined

  private constructor({ startedAtMs, onExchange }: RecorderOptions) {
    this.#latestMs = startedAtMs
    this.#onExchange = onExchange
    this.#server = http.createServer({ requireHostHeader: false }, (request, reply) => {
      void this.#take(request, reply)
    })
  }

  /** Takes the address first: the service that is recorded must know it. */
  static async listen(options: RecorderOptions): Promise<Recorder> {
    const recorder = new Recorder(options)
    recorder.#server.listen(options.port, options.host)
    await once(recorder.#server, 'listening')
    return recorder
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  start(world: CapsuleWorld): void {
    world.startSenders()
    this.#running = this.#run(world)
  }

  /** Accepts nothing more; resolves when every request that came has its response. */
  async stop(): Promise<void> {
    this.#server.close()
    this.#stopping = true
    this.#onArrival()
    await this.#running
    this.#server.closeAllConnections()
  }

  async #take(incoming: http.IncomingMessage, reply: http.ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    let size = 0
    try {
      for await (const part of incoming as AsyncIterable<Buffer>) {
        parts.push(part)
        size += part.length
        if (size > BODY_BYTES_MAX) return void reply.writeHead(413, { connection: 'close' }).end()
      }
    } catch {
      // It was not sent to its end, so nothing is carried out.
      return
    }
    const request = {
      number: ++this.#count,
      method: incoming.method!,
      target: incoming.url!,
      headers: withoutHopHeaders(incoming.rawHeaders),
      body: Buffer.concat(parts),
    }
    this.#arrived.push({ request, reply })
    this.#onArrival()
  }

  async #run(world: CapsuleWorld): Promise<void> {
    for (;;) {
      await this.#nextArrival()
      if (this.#arrived.length > 0 && !this.#stopping) await sleep(TOGETHER_MS)
      const together = this.#arrived
      this.#arrived = []
      if (together.length === 0 && this.#stopping) return
      await this.#carryOut(world, together)
    }
  }

  /** Or the next tick. */
  #nextArrival(): Promise<void> {
    if (this.#arrived.length > 0 || this.#stopping) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, TICK_MS)
      this.#onArrival = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async #carryOut(world: CapsuleWorld, together: readonly Arrived[]): Promise<void> {
    this.#latestMs = Math.max(Date.now(), this.#latestMs + 1)
    const replies = new Map(together.map(({ request, reply }) => [request.number, reply]))
    const requests = together.map(({ request }) => request)
    this.rounds.push({ atMs: this.#latestMs, requests: requests.map(({ number }) => number) })
    const responses = await world.carryOut(this.#latestMs, {
      requests,
      onResponse: (number, response) => forward(response, replies.get(number)!),
    })
    for (const [i, request] of requests.entries()) {
      const response = responses[i]!
      if (response.status === CUT) replies.get(request.number)!.destroy()
      this.#keep(request, response)
    }
  }

  #keep(request: CapsuleRequest, response: CapsuleResponse): void {
    const exchange = { request, response }
    this.exchanges.push(exchange)
    this.#onExchange?.(exchange)
  }
}

/** As it comes: a stream has no end. */
function forward(response: http.IncomingMessage, reply: http.ServerResponse): void {
  reply.sendDate = false
  reply.writeHead(response.statusCode!, withoutHopHeaders(response.rawHeaders))
  response.pipe(reply)
  response.on('error', () => reply.destroy())
  if (isStream(response)) reply.on('close', () => response.destroy())
}
