import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Svc } from '../../../packages/sdk/src/index.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const EVENT = 'id: 7\ndata: {"sequence":7}\n\n'
const CUTS = 5

/** A proxy that cuts the first streams of events before there is an event. */
function cutting(): typeof fetch {
  let streams = 0
  return async (input) => {
    if (new URL(input as string).pathname.endsWith('/token'))
      return Response.json({ token: 't', expiry: Date.now() + 3_600_000 })
    const isCut = ++streams <= CUTS
    return new Response(
      new ReadableStream({
        pull(controller) {
          if (isCut) controller.error(new TypeError('terminated'))
          else controller.enqueue(new TextEncoder().encode(EVENT))
        },
      }),
    )
  }
}

test('following goes on however often a stream without events is cut: each that begins is no failed connection', async () => {
  const { events } = Svc.merchant({
    baseUrl: 'https://gw.example',
    apiKey: 'svc_test_x',
    attemptsMax: 1,
    fetch: cutting(),
  })
  const causes: unknown[] = []
  const following = events.follow({ reconnectsMax: 1, onReconnect: (cause) => causes.push(cause) })
  const first = following.next().catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await first).toMatchObject({ value: { sequence: 7 } })
  expect(causes).toHaveLength(CUTS)
  await following.return()
})
