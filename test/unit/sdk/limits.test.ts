import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Svc } from '../../../packages/sdk/src/index.ts'
import { callAfter } from '../../../packages/sdk/src/timer.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** The longest time that a timer of Node or a browser can wait; a longer one ends after 1 ms. */
const TIMER_MS_MAX = 2 ** 31 - 1
const DAY_MS = 86_400_000

/** A service that responds after so long, or never. */
const respondingAfter =
  (ms: number): typeof fetch =>
  (input, init) =>
    new Promise((resolve, reject) => {
      const isToken = new URL(input as string).pathname.endsWith('/token')
      const record = isToken ? { token: 't', expiry: Date.now() + 3_600_000 } : { payload: { payments: {} } }
      const timer = ms < TIMER_MS_MAX ? setTimeout(() => resolve(Response.json(record)), ms) : undefined
      init!.signal!.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(init!.signal!.reason as Error)
      })
    })

const client = (options: object, send: typeof fetch) =>
  Svc.merchant({
    baseUrl: 'https://gw.example',
    apiKey: 'svc_test_x',
    maxRetries: 0,
    fetch: send,
    ...options,
  })

describe.each([TIMER_MS_MAX + 1, 1e12, Number.POSITIVE_INFINITY])('a time limit of %d ms', (limitMs) => {
  test('ends neither an attempt nor a call that takes ten seconds', async () => {
    const limits = { timeoutMs: limitMs, deadlineMs: limitMs }
    const { qrCodes } = client(limits, respondingAfter(10_000))
    const first = qrCodes.get('qr')
    await vi.advanceTimersByTimeAsync(20_000)
    await expect(first).resolves.toBeDefined()
    const second = client({}, respondingAfter(10_000)).qrCodes.get('qr', limits)
    await vi.advanceTimersByTimeAsync(20_000)
    await expect(second).resolves.toBeDefined()
  })

  test('as `pollMs` of a wait for a payment polls no more than once when nothing happens', async () => {
    let looks = 0
    const quiet = (signal: AbortSignal) =>
      new Response(
        new ReadableStream({
          start(controller) {
            signal.addEventListener('abort', () => controller.error(signal.reason))
          },
        }),
        { headers: { 'content-type': 'text/event-stream' } },
      )
    const { qrCodes } = client({}, async (input, init) => {
      const { pathname } = new URL(input as string)
      if (pathname.endsWith('/stream')) return quiet(init!.signal!)
      if (pathname.endsWith('/events')) return Response.json({ payload: { data: [], next: 0, more: false } })
      if (pathname.endsWith('/qr')) looks++
      return respondingAfter(0)(input, init)
    })
    const ending = new AbortController()
    const waiting = qrCodes.waitForPayment('qr', { pollMs: limitMs, signal: ending.signal })
    waiting.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(30_000)
    // One look to begin with, one after the position in the feed is known.
    expect(looks).toBe(2)
    ending.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })
})

test('a time limit longer than a timer can wait ends a call when it is over, and not before', async () => {
  const limitMs = TIMER_MS_MAX + DAY_MS
  const { qrCodes } = client(
    { timeoutMs: limitMs, deadlineMs: 2 * limitMs },
    respondingAfter(Number.POSITIVE_INFINITY),
  )
  let failed: unknown
  void qrCodes.get('qr').catch((error: unknown) => (failed = error))
  await vi.advanceTimersByTimeAsync(limitMs - 1)
  expect(failed).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  await new Promise(setImmediate)
  expect(failed).toMatchObject({ cause: { name: 'TimeoutError' } })
})

test('advancing a clock may take five minutes by default, and less when the caller sets it', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-sdk-'))
  const partner = {
    partnerId: 'p',
    clientId: 'c',
    clientSecret: 's',
    sharedKey: { kid: 'k', alg: 'A256KW', k: 'k' },
  }
  const demo = { merchant: { apiKey: 'svc_test_x' }, incentivePartner: partner, rewardsPartner: partner }
  await writeFile(join(dataDir, 'sandbox.json'), JSON.stringify({ baseUrl: 'https://gw.example', ...demo }))
  const sandbox = await Svc.sandbox({ dataDir, fetch: respondingAfter(299_000) })
  await rm(dataDir, { recursive: true })
  const advanced = sandbox.advance('p', { bySeconds: 1 })
  const impatient = sandbox.advance('p', { bySeconds: 1 }, { timeoutMs: 1_000 })
  const ended = expect(impatient).rejects.toMatchObject({ attempts: 1, cause: { name: 'TimeoutError' } })
  await vi.advanceTimersByTimeAsync(299_000)
  await expect(advanced).resolves.toBeDefined()
  await ended
})

test('a timer that is stopped during a wait beyond the maximum of one timer leaves nothing behind', () => {
  let ended = false
  const stop = callAfter(3 * TIMER_MS_MAX, () => (ended = true))
  vi.advanceTimersByTime(2 * TIMER_MS_MAX)
  stop()
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(2 * TIMER_MS_MAX)
  expect(ended).toBe(false)
})

describe.each([Number.NaN, '5', null])('a limit that is %o, not a number', (limit) => {
  test.each(['timeoutMs', 'deadlineMs', 'maxRetries'])('is rejected with a TypeError: %s', async (name) => {
    const refused = new RegExp(`^${name} must be a number`)
    expect(() => client({ [name]: limit }, respondingAfter(0))).toThrow(TypeError)
    expect(() => client({ [name]: limit }, respondingAfter(0))).toThrow(refused)
    const call = client({}, respondingAfter(0)).qrCodes.get('qr', { [name]: limit } as object)
    const thrown = call.catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await thrown).toBeInstanceOf(TypeError)
    expect(String(await thrown)).toMatch(new RegExp(`^TypeError: ${name} must be a number`))
  })

  test('is rejected with a TypeError: pollMs, maxReconnects', async () => {
    const { events, qrCodes } = client({}, respondingAfter(0))
    await expect(qrCodes.waitForPayment('qr', { pollMs: limit } as object)).rejects.toThrow(
      /^pollMs must be a number/,
    )
    await expect(events.follow({ maxReconnects: limit } as object).next()).rejects.toThrow(
      /^maxReconnects must be a number/,
    )
  })
})
