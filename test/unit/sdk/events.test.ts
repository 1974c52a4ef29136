import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ConnectionError, Svc, SvcError, UnexpectedResponseError } from '../../../packages/sdk/src/index.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const EVENT = 'id: 7\ndata: {"sequence":7}\n\n'
const CUTS = 5

const stream = (source: ConstructorParameters<typeof ReadableStream<Uint8Array>>[0]): Response =>
  new Response(new ReadableStream(source), { headers: { 'content-type': 'text/event-stream' } })

/** A proxy that cuts the first streams of events before there is an event. */
function cutting(): typeof fetch {
  let streams = 0
  return async (input) => {
    if (new URL(input as string).pathname.endsWith('/token'))
      return Response.json({ token: 't', expiry: Date.now() + 3_600_000 })
    const isCut = ++streams <= CUTS
    return stream({
      pull(controller) {
        if (isCut) controller.error(new TypeError('terminated'))
        else controller.enqueue(new TextEncoder().encode(EVENT))
      },
    })
  }
}

test('following continues however often a stream without events is cut: a stream that begins is not a failed connection', async () => {
  const { events } = Svc.merchant({
    baseUrl: 'https://gw.example',
    apiKey: 'svc_test_x',
    maxRetries: 0,
    fetch: cutting(),
  })
  const causes: unknown[] = []
  const following = events.follow({ maxReconnects: 1, onReconnect: (cause) => causes.push(cause) })
  const first = following.next().catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await first).toMatchObject({ value: { sequence: 7 } })
  expect(causes).toHaveLength(CUTS)
  await following.return()
})

/** A client of a service that gives a token, and streams of events as given; and when each stream was requested. */
function following(open: (signal: AbortSignal, nth: number) => Promise<Response> | Response) {
  const openedAtMs: number[] = []
  const beganAtMs = performance.now()
  const { events } = Svc.merchant({
    baseUrl: 'https://gw.example',
    apiKey: 'svc_test_x',
    fetch: async (input, init) => {
      if (new URL(input as string).pathname.endsWith('/token'))
        return Response.json({ token: 't', expiry: Date.now() + 3_600_000 })
      openedAtMs.push(Math.round(performance.now() - beganAtMs))
      return open(init!.signal!, openedAtMs.length)
    },
  })
  return { events, openedAtMs }
}

/** A stream on which this arrives, each after so many milliseconds; it breaks off with its signal, as `fetch` has it. */
const arriving = (signal: AbortSignal, pieces: readonly (readonly [afterMs: number, text: string])[]) =>
  stream({
    start(controller) {
      let atMs = 0
      for (const [afterMs, text] of pieces) {
        atMs += afterMs
        setTimeout(() => controller.enqueue(new TextEncoder().encode(text)), atMs)
      }
      signal.addEventListener('abort', () => controller.error(signal.reason))
    },
  })

const HEARTBEAT = ': still here\n\n'

const tooMany = (): Response => {
  const payload = JSON.stringify({ error: 'too_many_event_streams', error_description: 'Too many' })
  const errorResponse = { requestId: 'req_1', errorType: 'RATE_LIMIT_ERROR' }
  return Response.json({ payload, errorResponse }, { status: 429 })
}

test.each([
  ['is refused', ConnectionError, () => Promise.reject(new TypeError('fetch failed'))],
  ['gets 503', UnexpectedResponseError, () => new Response(null, { status: 503 })],
  ['gets the page of a proxy', UnexpectedResponseError, () => new Response('<h1>Maintenance</h1>')],
  ['gets 429 of the service', SvcError, tooMany],
] as const)(
  'when each connection %s, following tries 31, one a second, and ends with the cause of the last failure',
  async (_, failure, open) => {
    const { events, openedAtMs } = following(open)
    const first = events
      .follow()
      .next()
      .catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(31_000)
    expect(await first).toBeInstanceOf(failure)
    expect(openedAtMs).toEqual(Array.from({ length: 31 }, (_none, n) => n * 1_000))
  },
)

test('a stream on which nothing arrives for 45 seconds is dropped, and another one resumes after the last event', async () => {
  const { events, openedAtMs } = following((signal, nth) =>
    nth === 1
      ? arriving(signal, [
          [1_000, EVENT],
          [15_000, HEARTBEAT],
        ])
      : arriving(signal, [[1_000, 'id: 8\ndata: {"sequence":8}\n\n']]),
  )
  const causes: unknown[] = []
  const reading = events.follow({ onReconnect: (cause) => causes.push(cause) })
  const first = reading.next()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await first).toMatchObject({ value: { sequence: 7 } })
  const second = reading.next()
  await vi.advanceTimersByTimeAsync(120_000)
  expect(await second).toMatchObject({ value: { sequence: 8 } })
  expect(openedAtMs).toEqual([0, 62_000])
  expect(causes).toMatchObject([{ name: 'ConnectionError', cause: { name: 'TimeoutError' } }])
  await reading.return()
  expect(vi.getTimerCount()).toBe(0)
})

test('a quiet stream is kept open as long as heartbeats arrive, and a slow reader of events loses none', async () => {
  const beats = Array.from({ length: 20 }, () => [40_000, HEARTBEAT] as const)
  const { events, openedAtMs } = following((signal) =>
    arriving(signal, [[0, EVENT], ...beats, [0, 'id: 8\ndata: {"sequence":8}\n\n']]),
  )
  const reading = events.follow()
  const first = reading.next()
  await vi.advanceTimersByTimeAsync(1)
  expect(await first).toMatchObject({ value: { sequence: 7 } })
  // Works on it for ten minutes, in which nothing is read.
  await vi.advanceTimersByTimeAsync(600_000)
  const second = reading.next()
  await vi.advanceTimersByTimeAsync(300_000)
  expect(await second).toMatchObject({ value: { sequence: 8 } })
  expect(openedAtMs).toEqual([0])
  await reading.return()
})

test('Retry-After of a rejected stream is honoured before the next connection, for at most a minute', async () => {
  const delays = [5, 86_400]
  const { events, openedAtMs } = following((signal, nth) => {
    const seconds = delays[nth - 1]
    return seconds === undefined
      ? arriving(signal, [[0, EVENT]])
      : new Response(null, { status: 429, headers: { 'retry-after': String(seconds) } })
  })
  const reading = events.follow()
  const first = reading.next()
  await vi.advanceTimersByTimeAsync(70_000)
  expect(await first).toMatchObject({ value: { sequence: 7 } })
  expect(openedAtMs).toEqual([0, 5_000, 65_000])
  await reading.return()
})

test.each(['id: 7\ndata: {"sequence":\n\n', 'data: {"sequence":7}\n\n', 'id: x\ndata: {}\n\n'])(
  'an event that is not in the service’s form ends following with an UnexpectedResponseError: %j',
  async (message) => {
    const { events, openedAtMs } = following((signal) => arriving(signal, [[0, message]]))
    const first = events
      .follow()
      .next()
      .catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await first).toBeInstanceOf(UnexpectedResponseError)
    expect(openedAtMs).toEqual([0])
  },
)

test('other streams on which nothing arrives for 45 seconds end with a ConnectionError', async () => {
  const { api } = Svc.merchant({
    baseUrl: 'https://gw.example',
    apiKey: 'svc_test_x',
    fetch: async (input, init) =>
      new URL(input as string).pathname.endsWith('/token')
        ? Response.json({ token: 't', expiry: Date.now() + 3_600_000 })
        : arriving(init!.signal!, [[1_000, 'a']]),
  })
  const { body } = await api.fetch('/api/v0/stream', {}, { streamed: true })
  const text = new Response(body).text().catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(46_000)
  expect(await text).toBeInstanceOf(ConnectionError)
})
