/**
 * The callers of an overload, in a process of their own: what they take of a core is not taken from the proxy before
 * the database. Told whom to call, they tell what they saw, and end.
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { signNotice } from '@svc/server/http/notice-signature'
import { quantile } from './quantile.ts'

export interface Called {
  readonly baseUrls: readonly string[]
  readonly railKey: string
}

export interface Seen {
  /** Requests a second that are answered when each caller waits for its answer. */
  readonly carriedPerSecond: number
  readonly offeredPerSecond: number
  readonly acceptedPerSecond: number
  readonly shed: number
  /** Neither accepted nor shed, by status; 0 is a broken connection. */
  readonly others: Readonly<Record<number, number>>
  readonly acceptedP99Ms: number
  readonly shedP99Ms: number
  /** From the end of the overload until requests are answered as quickly as on an idle service, ten in a row. */
  readonly normalAfterMs: number
}

interface Shot {
  readonly status: number
  readonly tookMs: number
}

/** Sends a request, one of its own by default. */
type Shoot = (request?: string) => Promise<Shot>

/** In which a service's code is compiled for what it does. */
const WARM_MS = 4_000
const MEASURE_MS = 4_000
const OVERLOAD_MS = 10_000
const TIMES_OVER = 3
/** For each process: enough that it, and not its callers, is what is waited for, and none is refused. */
const CLOSED_CALLERS = 200
const TICK_MS = 5

process.once('message', (called: Called) => {
  void call(called).then((seen) => process.send!(seen, () => process.disconnect()))
})

async function call({ baseUrls, railKey }: Called): Promise<Seen> {
  const targets = baseUrls.map((baseUrl) => new Target(Number(new URL(baseUrl).port)))
  let sent = 0
  const next = (): string => {
    const body = JSON.stringify({
      utr: `O${Date.now()}${sent++}`,
      tr: 'none',
      amount: 1,
      payerVpa: 'payer@bank',
    })
    const signature = signNotice(Buffer.from(body), railKey, Date.now())
    return (
      `POST /rails/upi/credits HTTP/1.1\r\nhost: svc\r\ncontent-type: application/json\r\n` +
      `x-rail-signature: ${signature}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    )
  }
  let turn = 0
  const shoot: Shoot = async (request = next()) => {
    const startMs = performance.now()
    const status = await targets[turn++ % targets.length]!.send(request)
    return { status, tookMs: performance.now() - startMs }
  }
  try {
    const carriedPerSecond = await capacity(shoot, targets.length * CLOSED_CALLERS)
    const perSecond = carriedPerSecond * TIMES_OVER
    // Signed beforehand: a signature is good for minutes.
    const requests = Array.from({ length: Math.ceil((perSecond * OVERLOAD_MS) / 1_000) }, next)
    const shots = await openLoop(shoot, requests, perSecond)
    const normalAfterMs = await untilNormal(shoot)
    const took = (wanted: number) =>
      shots.filter(({ status }) => status === wanted).map(({ tookMs }) => tookMs)
    const [accepted, shed] = [took(200), took(503)]
    const others: Record<number, number> = {}
    for (const { status } of shots)
      if (status !== 200 && status !== 503) others[status] = (others[status] ?? 0) + 1
    return {
      carriedPerSecond,
      offeredPerSecond: (shots.length / OVERLOAD_MS) * 1_000,
      acceptedPerSecond: (accepted.length / OVERLOAD_MS) * 1_000,
      shed: shed.length,
      others,
      acceptedP99Ms: quantile(accepted, 0.99),
      shedP99Ms: quantile(shed, 0.99),
      normalAfterMs,
    }
  } finally {
    for (const target of targets) target.close()
  }
}

/** As many as callers’ pools hold. A request that finds none free waits for one, and its time runs. */
const CONNECTIONS_MAX = 1_000

/** One process of the service. Bare sockets, since whatever callers take of the cores is taken from the service. */
class Target {
  readonly #port: number
  readonly #open = new Set<Socket>()
  readonly #idle: Socket[] = []
  readonly #waiting: ((socket: Socket) => void)[] = []

  constructor(port: number) {
    this.#port = port
  }

  /** Answers the status; 0 when the connection broke. */
  async send(request: string): Promise<number> {
    const socket = this.#idle.pop() ?? (await this.#another())
    return new Promise((resolve) => {
      let response: Buffer = Buffer.alloc(0)
      const end = (status: number) => {
        socket.off('data', hear).off('close', broken)
        resolve(status)
      }
      const broken = () => end(0)
      const hear = (part: Buffer) => {
        response = response.length === 0 ? part : Buffer.concat([response, part])
        const head = response.indexOf('\r\n\r\n')
        if (head < 0) return
        const text = response.toString('latin1', 0, head).toLowerCase()
        const length = text.indexOf('content-length: ')
        if (response.length < head + 4 + (length < 0 ? 0 : Number.parseInt(text.slice(length + 16), 10)))
          return
        end(Number(text.slice(9, 12)))
        if (text.includes('connection: close')) socket.destroy()
        else this.#free(socket)
      }
      socket.on('data', hear).on('close', broken)
      socket.write(request)
    })
  }

  #free(socket: Socket): void {
    const next = this.#waiting.shift()
    if (next) next(socket)
    else this.#idle.push(socket)
  }

  #another(): Promise<Socket> | Socket {
    if (this.#open.size < CONNECTIONS_MAX) return this.#connect()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #connect(): Socket {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    this.#open.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => {
      this.#open.delete(socket)
      const at = this.#idle.indexOf(socket)
      if (at >= 0) this.#idle.splice(at, 1)
      if (this.#waiting.length > 0) this.#free(this.#connect())
    })
    return socket
  }

  close(): void {
    this.#waiting.length = 0
    for (const socket of this.#open) socket.destroy()
  }
}

async function capacity(shoot: Shoot, callers: number): Promise<number> {
  const startMs = performance.now() + WARM_MS
  const endMs = startMs + MEASURE_MS
  let responded = 0
  const caller = async () => {
    while (performance.now() < endMs) {
      const { status } = await shoot()
      if (status === 200 && performance.now() >= startMs) responded++
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return (responded / MEASURE_MS) * 1_000
}

/** Whether or not answers come, and nobody tries again. */
async function openLoop(shoot: Shoot, requests: readonly string[], perSecond: number): Promise<Shot[]> {
  const under: Promise<Shot>[] = []
  const startMs = performance.now()
  while (under.length < requests.length) {
    const due = ((performance.now() - startMs) * perSecond) / 1_000
    while (under.length < Math.min(due, requests.length)) under.push(shoot(requests[under.length]))
    await sleep(TICK_MS)
  }
  return Promise.all(under)
}

async function untilNormal(shoot: Shoot): Promise<number> {
  const startMs = performance.now()
  for (let inARow = 0; inARow < 10 && performance.now() < startMs + 30_000; ) {
    const { status, tookMs } = await shoot()
    inARow = status === 200 && tookMs < 250 ? inARow + 1 : 0
  }
  return performance.now() - startMs
}
