import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ConnectionError, Svc } from '../../../packages/sdk/src/index.ts'

const DEADLINE_MS = 4_000
const JWK = {
  kty: 'EC',
  crv: 'P-256',
  use: 'enc',
  alg: 'ECDH-ES+A256KW',
  kid: 'k1',
  x: 'weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ',
  y: 'e8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck',
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

interface Step {
  readonly takesMs: number
  readonly status: number
  readonly retryAfterSeconds: number | undefined
}

const step: fc.Arbitrary<Step> = fc.record({
  takesMs: fc.constantFrom(0, 10, 900, 3_999, 20_000),
  status: fc.constantFrom(200, 200, 401, 429, 503),
  retryAfterSeconds: fc.constantFrom(undefined, 0, 1, 3, 60),
})

/** A server on the fake clock: each request takes its step's time and gets its step's response. */
const serverOf = (steps: readonly Step[]): typeof fetch => {
  let next = 0
  return (input, init) => {
    const { takesMs, status, retryAfterSeconds } = steps[next++ % steps.length]!
    const path = new URL(input as string).pathname
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(responseTo(path, status, retryAfterSeconds)), takesMs)
      init!.signal!.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(init!.signal!.reason as Error)
      })
    })
  }
}

function responseTo(path: string, status: number, retryAfterSeconds: number | undefined): Response {
  const headers = retryAfterSeconds === undefined ? undefined : { 'retry-after': String(retryAfterSeconds) }
  if (status === 200) {
    if (path.endsWith('/merchant/token')) return Response.json({ token: 't', expiry: Date.now() + 3_600_000 })
    if (path.endsWith('/oauth/token')) return Response.json({ access_token: 'a', expires_in: 3_600 })
    if (path.endsWith('/jwks.json')) return Response.json({ keys: [JWK] })
    return Response.json({ payload: {} })
  }
  const error = status === 401 ? 'invalid_token' : status === 429 ? 'rate_limited' : 'decryption_failed'
  const payload = JSON.stringify({ error, error_description: 'refused' })
  return Response.json(
    { payload, errorResponse: { requestId: 'r', errorType: 'SYSTEM_ERROR' } },
    { status, ...(headers && { headers }) },
  )
}

test('a call never takes longer than its deadline, whatever its token, keys, attempts and waits take', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.boolean(), async (steps, issues) => {
      const { cards } = Svc.partner({
        baseUrl: 'https://gw.example/payments',
        partnerId: 'p',
        clientId: 'c',
        clientSecret: 's',
        deadlineMs: DEADLINE_MS,
        fetch: serverOf(steps),
      })
      const startedAtMs = performance.now()
      let endedAtMs: number | undefined
      const call = issues ? cards.create({ companyId: 'c', cardAccountId: 'a' }) : cards.get('card')
      const ended = call.then(
        () => void (endedAtMs = performance.now()),
        () => void (endedAtMs = performance.now()),
      )
      // Encryption runs on real threads, so the fake clock moves only while the call waits for a timer.
      while (endedAtMs === undefined) {
        if (vi.getTimerCount() > 0) vi.advanceTimersToNextTimer()
        await new Promise(setImmediate)
      }
      await ended
      expect(endedAtMs - startedAtMs).toBeLessThanOrEqual(DEADLINE_MS)
    }),
    { numRuns: 300 },
  )
})

test('a call that its deadline ends while it waits for a token is a ConnectionError that says so', async () => {
  const { qrCodes } = Svc.merchant({
    baseUrl: 'https://gw.example',
    apiKey: 'k',
    deadlineMs: DEADLINE_MS,
    timeoutMs: 60_000,
    fetch: serverOf([{ takesMs: 20_000, status: 200, retryAfterSeconds: undefined }]),
  })
  const thrown = qrCodes.get('qr').catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(DEADLINE_MS)
  expect(await thrown).toBeInstanceOf(ConnectionError)
  expect(await thrown).toMatchObject({
    cause: { name: 'TimeoutError', message: 'the call took longer than 4000 ms' },
  })
})

test('nothing of a call that was ended during a wait keeps the process running', async () => {
  const { qrCodes } = Svc.merchant({
    baseUrl: 'https://gw.example',
    apiKey: 'k',
    fetch: serverOf([
      { takesMs: 0, status: 200, retryAfterSeconds: undefined },
      { takesMs: 0, status: 503, retryAfterSeconds: 30 },
    ]),
  })
  const ending = new AbortController()
  const reason = new Error('enough')
  const thrown = qrCodes.get('qr', { signal: ending.signal }).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(100)
  expect(vi.getTimerCount()).toBeGreaterThan(0)
  ending.abort(reason)
  expect(await thrown).toBe(reason)
  expect(vi.getTimerCount()).toBe(0)
})
