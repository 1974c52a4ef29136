import { connect, type Socket } from 'node:net'
import { createHistogram } from 'node:perf_hooks'

/**
 * An HTTP/1.1 load generator that costs little: what it takes is taken from the contenders, since all share the same
 * cores. Requests are bytes made beforehand, one at a time on each connection, keep-alive.
 */
export interface Load {
  readonly port: number
  /** The n-th request of a phase, whole; undefined ends the phase early. */
  readonly next: (n: number) => Buffer | undefined
}

export interface Rate {
  readonly perSecond: number
  readonly requests: number
}

/** A request, in `performance.now()` time. */
export interface Timed {
  readonly dueMs: number
  readonly doneMs: number
}

/** Milliseconds. */
export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly p999: number
}

const HEAD_END = Buffer.from('\r\n\r\n')
const CHUNKS_END = Buffer.from('0\r\n\r\n')

/** Answers the bytes of a whole answer at the head of `data`, 0 when more must come. Throws when it is not a 2xx. */
function responseBytes(data: Buffer): number {
  const head = data.indexOf(HEAD_END)
  if (head < 0) return 0
  // '2' at the place of the status: "HTTP/1.1 2".
  if (data[9] !== 0x32) throw new Error(`a request failed: ${data.toString('utf8', 0, 600)}`)
  const text = data.toString('latin1', 0, head)
  const length = /content-length: *(\d+)/i.exec(text)?.[1]
  if (length !== undefined) {
    const whole = head + 4 + Number(length)
    return data.length >= whole ? whole : 0
  }
  const end = data.indexOf(CHUNKS_END, head + 4)
  return end < 0 ? 0 : end + CHUNKS_END.length
}

/** A connection that carries one request at a time. */
class Caller {
  readonly #socket: Socket
  #rest: Buffer = Buffer.alloc(0)
  #done: ((error?: Error) => void) | undefined
  #isClosed = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (data: Buffer) => this.#take(data))
    socket.on('error', (error) => this.#done?.(error))
    socket.on('close', () => {
      this.#isClosed = true
      this.#done?.(new Error('the server closed a connection'))
    })
  }

  static open(port: number): Promise<Caller> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(new Caller(socket)))
      socket.once('error', reject)
    })
  }

  /** Sends; `done` is called once the whole answer is there. */
  send(request: Buffer, done: (error?: Error) => void): void {
    if (this.#isClosed) return done(new Error('the server closed an idle connection'))
    this.#done = done
    this.#socket.write(request)
  }

  close(): void {
    this.#done = undefined
    this.#socket.destroy()
  }

  #take(data: Buffer): void {
    this.#rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data])
    try {
      if (responseBytes(this.#rest) === 0) return
      this.#rest = Buffer.alloc(0)
      this.#done?.()
    } catch (error) {
      this.#done?.(error as Error)
    }
  }
}

const openCallers = (load: Load, callers: number): Promise<Caller[]> =>
  Promise.all(Array.from({ length: callers }, () => Caller.open(load.port)))

/** As many requests as `callers` get through, each sending its next when it has its answer. */
export async function closedLoop(load: Load, callers: number, seconds: number): Promise<Rate> {
  const open = await openCallers(load, callers)
  const startMs = performance.now()
  const endMs = startMs + seconds * 1_000
  let sent = 0
  let requests = 0
  const run = (caller: Caller) =>
    new Promise<void>((resolve, reject) => {
      const step = (error?: Error) => {
        if (error) return reject(error)
        const request = performance.now() < endMs ? load.next(sent++) : undefined
        if (!request) return resolve()
        caller.send(request, (failed) => {
          if (!failed) requests++
          step(failed)
        })
      }
      step()
    })
  try {
    await Promise.all(open.map(run))
    return { perSecond: (requests / (performance.now() - startMs)) * 1_000, requests }
  } finally {
    for (const caller of open) caller.close()
  }
}

/**
 * Latency at a given rate. Requests fall due at even intervals whatever became of the earlier ones, and are timed from
 * when they were due: a server that stalls is charged for everything that waited (no coordinated omission).
 */
export async function openLoop(
  load: Load,
  callers: number,
  perSecond: number,
  seconds: number,
  seen: (request: Timed) => void = () => undefined,
): Promise<Latency> {
  const histogram = createHistogram()
  const open = await openCallers(load, callers)
  const record = (request: Timed) => {
    histogram.record(Math.max(1, Math.round((request.doneMs - request.dueMs) * 1e6)))
    seen(request)
  }
  try {
    await atRate(load, open, perSecond, seconds, record)
  } finally {
    for (const caller of open) caller.close()
  }
  const ms = (percentile: number) => histogram.percentile(percentile) / 1e6
  return { p50: ms(50), p99: ms(99), p999: ms(99.9) }
}

function atRate(
  load: Load,
  callers: readonly Caller[],
  perSecond: number,
  seconds: number,
  record: (request: Timed) => void,
): Promise<void> {
  const startMs = performance.now()
  const total = Math.floor(perSecond * seconds)
  // In turn: a server may close a connection that nothing comes over.
  const idle = [...callers]
  const dueMs = (n: number) => startMs + (n * 1_000) / perSecond
  let sent = 0
  let responded = 0
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      clearInterval(timer)
      reject(error)
    }
    const send = () => {
      while (idle.length > 0 && sent < total && dueMs(sent) <= performance.now()) {
        const due = dueMs(sent)
        const request = load.next(sent++)
        if (!request) return fail(new Error('the requests ran out'))
        const caller = idle.shift()!
        caller.send(request, (error) => {
          if (error) return fail(error)
          record({ dueMs: due, doneMs: performance.now() })
          idle.push(caller)
          if (++responded < total) return send()
          clearInterval(timer)
          resolve()
        })
      }
    }
    const timer = setInterval(send, 1)
  })
}

/** The bytes of a request. */
export function requestBytes(
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string | Buffer = '',
): Buffer {
  const payload = Buffer.from(body)
  const length = payload.length > 0 || method !== 'GET' ? { 'content-length': String(payload.length) } : {}
  const lines = Object.entries({ host: '127.0.0.1', ...headers, ...length })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n`), payload])
}
