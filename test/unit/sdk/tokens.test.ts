import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { TokenCache } from '../../../packages/sdk/src/tokens.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** A cache of tokens that last 100 s, and how many it requested; `next` returns the oldest open request. */
function cache() {
  let requests = 0
  const waiting: { resolve: () => void; reject: (error: Error) => void }[] = []
  const tokens = new TokenCache(
    () =>
      new Promise((resolve, reject) => {
        const token = `token ${++requests}`
        waiting.push({
          resolve: () => resolve({ token, lifetimeMs: 100_000, cookie: undefined }),
          reject,
        })
      }),
  )
  return { tokens, requests: () => requests, next: () => waiting.shift()! }
}

test('a call made while a token request is in flight gets that token', async () => {
  const { tokens, requests, next } = cache()
  const all = Promise.all([tokens.get(), tokens.get(), tokens.get()])
  next().resolve()
  expect((await all).map(({ token }) => token)).toEqual(['token 1', 'token 1', 'token 1'])
  expect(requests()).toBe(1)
})

test('in its last fifth a token is renewed while it is still valid; no call waits', async () => {
  const { tokens, requests, next } = cache()
  const first = tokens.get()
  next().resolve()
  await first
  vi.advanceTimersByTime(79_000)
  await tokens.get()
  expect(requests()).toBe(1)
  vi.advanceTimersByTime(2_000)
  expect((await tokens.get()).token).toBe('token 1')
  expect((await tokens.get()).token).toBe('token 1')
  expect(requests()).toBe(2)
  next().resolve()
  await expect.poll(async () => (await tokens.get()).token).toBe('token 2')
  expect(requests()).toBe(2)
})

test('a failed renewal has no effect while the token is valid, and is reported when it is not', async () => {
  const { tokens, next } = cache()
  const first = tokens.get()
  next().resolve()
  await first
  vi.advanceTimersByTime(90_000)
  expect((await tokens.get()).token).toBe('token 1')
  next().reject(new Error('away'))
  await new Promise(setImmediate)
  expect((await tokens.get()).token).toBe('token 1')
  vi.advanceTimersByTime(10_000)
  const late = tokens.get()
  next().reject(new Error('still away'))
  await expect(late).rejects.toThrow('still away')
})

test('a rejected token is replaced once, however many calls were rejected with it', async () => {
  const { tokens, requests, next } = cache()
  const first = tokens.get()
  next().resolve()
  const refused = await first
  const all = Promise.all([tokens.replace(refused), tokens.replace(refused)])
  next().resolve()
  expect((await all).map(({ token }) => token)).toEqual(['token 2', 'token 2'])
  expect((await tokens.replace(refused)).token).toBe('token 2')
  expect(requests()).toBe(2)
})
