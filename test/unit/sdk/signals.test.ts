import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Svc, UnexpectedResponseError } from '../../../packages/sdk/src/index.ts'

const aside: { readonly rejections: unknown[]; readonly warnings: Error[] } = { rejections: [], warnings: [] }
const onRejection = (reason: unknown) => void aside.rejections.push(reason)
const onWarning = (warning: Error) => void aside.warnings.push(warning)
beforeEach(() => {
  aside.rejections.length = 0
  aside.warnings.length = 0
  process.on('unhandledRejection', onRejection).on('warning', onWarning)
})
afterEach(() => void process.off('unhandledRejection', onRejection).off('warning', onWarning))

const client = (send: typeof fetch) =>
  Svc.merchant({ baseUrl: 'https://gw.example', apiKey: 'svc_test_x', maxRetries: 0, fetch: send })

/** A service whose records are bodies of this kind. */
const serving =
  (body: (signal: AbortSignal) => BodyInit): typeof fetch =>
  async (input, init) =>
    new URL(input as string).pathname.endsWith('/token')
      ? Response.json({ token: 't', expiry: Date.now() + 3_600_000 })
      : new Response(body(init!.signal!))

type BodyInit = ConstructorParameters<typeof Response>[0]
const record = () => '{"payload":{}}'

/** As `fetch` has it: begins, and breaks off with the signal's reason. */
const endless = (signal: AbortSignal) =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('a'))
      signal.addEventListener('abort', () => controller.error(signal.reason))
    },
  })

/** What a signal refers to: listeners, and the signals that `AbortSignal.any` made of it, in Node's own field. */
function referencesOf(signal: AbortSignal): number {
  const field = Object.getOwnPropertySymbols(signal).find(
    ({ description }) => description === 'kDependantSignals',
  )
  const dependants = field && (signal as unknown as Record<symbol, Set<unknown> | null>)[field]
  return getEventListeners(signal, 'abort').length + (dependants?.size ?? 0)
}

test('a call whose signal is already aborted leaves no unhandled rejection when no token is available', async () => {
  const { api, qrCodes } = client(() => Promise.reject(new TypeError('fetch failed')))
  const reason = new Error('enough')
  const signal = AbortSignal.abort(reason)
  await expect(qrCodes.get('qr', { signal })).rejects.toBe(reason)
  await expect(api.authenticate({ signal })).rejects.toBe(reason)
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  expect(aside.rejections).toEqual([])
})

test('a signal that many calls share references none of them when they are over', async () => {
  const { signal } = new AbortController()
  const combined = AbortSignal.any([signal])
  expect(referencesOf(signal), 'what a combined signal leaves is seen').toBe(1)
  const { api, qrCodes } = client(serving(record))
  for (let i = 0; i < 20; i++) await qrCodes.get('qr', { signal })
  for (let i = 0; i < 20; i++)
    await (await api.fetch('/api/v0/stream', {}, { signal, streamed: true })).text()
  await expect(client(() => Promise.reject(new TypeError())).qrCodes.get('qr', { signal })).rejects.toThrow()
  expect(referencesOf(signal)).toBe(1)
  expect(combined.aborted).toBe(false)
})

test('a stream that its reader leaves is cancelled, and its signal no longer references it', async () => {
  const { signal } = new AbortController()
  const cancel = vi.fn()
  const start = (controller: ReadableStreamDefaultController) => controller.enqueue(Buffer.from('a'))
  const { api } = client(serving(() => new ReadableStream({ start, cancel })))
  const { body } = await api.fetch('/api/v0/stream', {}, { signal, streamed: true })
  for await (const bytes of body!) {
    expect(Buffer.from(bytes as Uint8Array).toString()).toBe('a')
    expect(referencesOf(signal)).toBe(1)
    break
  }
  expect(cancel).toHaveBeenCalledOnce()
  expect(referencesOf(signal)).toBe(0)
})

test('a signal ends a stream that has begun, with its reason, and no longer references it', async () => {
  const ending = new AbortController()
  const { signal } = ending
  const { api } = client(serving(endless))
  const { body } = await api.fetch('/api/v0/stream', {}, { signal, streamed: true })
  const reader = body!.getReader()
  expect((await reader.read()).done).toBe(false)
  const reason = new Error('enough')
  ending.abort(reason)
  await expect(reader.read()).rejects.toBe(reason)
  expect(referencesOf(signal)).toBe(0)
})

test('a time limit that the caller does not keep a reference to still ends a stream, after the garbage collector has run', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { api } = client(serving(endless))
  const options = () => ({ signal: AbortSignal.timeout(300), streamed: true })
  const { body } = await api.fetch('/api/v0/stream', {}, options())
  const reader = body!.getReader()
  expect((await reader.read()).done).toBe(false)
  const ended = expect(reader.read()).rejects.toMatchObject({ name: 'TimeoutError' })
  await new Promise(setImmediate)
  collect()
  await ended
}, 10_000)

test('thirty concurrent calls with one signal cause no warning, and all end with it', async () => {
  const ending = new AbortController()
  const { signal } = ending
  const sent: AbortSignal[] = []
  const { qrCodes } = client(
    serving((attempt) => {
      sent.push(attempt)
      return endless(attempt)
    }),
  )
  const reason = new Error('enough')
  const all = Promise.allSettled(Array.from({ length: 30 }, () => qrCodes.get('qr', { signal })))
  await expect.poll(() => sent.length).toBe(30)
  ending.abort(reason)
  expect(await all).toEqual(Array.from({ length: 30 }, () => ({ status: 'rejected', reason })))
  expect(aside.warnings).toEqual([])
})

test('the body of a rejected redirect is cancelled', async () => {
  const cancel = vi.fn()
  const headers = { location: 'https://other.example' }
  const { qrCodes } = client(
    async () => new Response(new ReadableStream({ cancel }), { status: 307, headers }),
  )
  await expect(qrCodes.get('qr')).rejects.toBeInstanceOf(UnexpectedResponseError)
  expect(cancel).toHaveBeenCalledOnce()
})
