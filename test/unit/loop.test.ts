import { Loop, type LoopOptions } from '@svc/platform/loop'
import { openMetrics } from '@svc/platform/metrics'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }))
afterEach(() => void vi.useRealTimers())

const EVERY_MS = 5_000
const PAUSE_MS = 1_000

/** A run of the work under test, which the test ends. */
interface Run {
  readonly end: (hasMore?: boolean) => void
  readonly fail: (error: Error) => void
}

function newLoop(options: Partial<LoopOptions> = {}) {
  const runs: Run[] = []
  const lines: { fields: object; text: string }[] = []
  const metrics = openMetrics(new Set())
  const work = () =>
    new Promise<boolean | void>((end, fail) => void runs.push({ end: (hasMore) => end(hasMore), fail }))
  const log = { warn: (fields: object, text: string) => void lines.push({ fields, text }) }
  const loop = new Loop({ name: 'test', everyMs: EVERY_MS, work, ...options }, { log: log as never, metrics })
  const metric = async (name: string) => {
    const [value] = (await metrics.registry.getSingleMetric(name)!.get()).values
    return value && { value: value.value, labels: value.labels }
  }
  return { loop, runs, lines, metric }
}

/** Lets every promise that can settle do so. */
const settle = () => vi.advanceTimersByTimeAsync(0)
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** Whether the promise is settled once everything that can happen now has happened. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false
  void promise.then(() => (done = true))
  await settle()
  return done
}

test('the first run is one interval after the start, the next one an interval after its end', async () => {
  const { loop, runs } = newLoop()
  loop.start()
  await pass(EVERY_MS - 1)
  expect(runs).toHaveLength(0)
  await pass(1)
  expect(runs).toHaveLength(1)
  await pass(10 * EVERY_MS)
  expect(runs, 'one run at a time').toHaveLength(1)
  runs[0]!.end()
  await pass(EVERY_MS - 1)
  expect(runs).toHaveLength(1)
  await pass(1)
  expect(runs).toHaveLength(2)
})

test('with `atStart` the first run is at the start', () => {
  const { loop, runs } = newLoop({ atStart: true })
  expect(runs).toHaveLength(0)
  loop.start()
  expect(runs).toHaveLength(1)
})

test('starting twice starts one loop', async () => {
  const { loop, runs } = newLoop({ atStart: true })
  loop.start()
  loop.start()
  await pass(EVERY_MS)
  expect(runs).toHaveLength(1)
})

test('work that has more runs again at once, and waits when it has no more', async () => {
  const { loop, runs } = newLoop({ atStart: true })
  loop.start()
  runs[0]!.end(true)
  await settle()
  expect(runs).toHaveLength(2)
  runs[1]!.end(false)
  await settle()
  expect(runs).toHaveLength(2)
})

test('a loop that is woken runs at once, and keeps its interval from then on', async () => {
  const { loop, runs } = newLoop()
  loop.start()
  await pass(EVERY_MS - 1)
  loop.wake()
  expect(runs).toHaveLength(1)
  runs[0]!.end()
  await pass(EVERY_MS - 1)
  expect(runs, 'the timer of the start was replaced').toHaveLength(1)
  await pass(1)
  expect(runs).toHaveLength(2)
})

test('a loop that is woken during a run runs once more after it, however often it was woken', async () => {
  const { loop, runs } = newLoop({ atStart: true })
  loop.start()
  loop.wake()
  loop.wake()
  await settle()
  expect(runs).toHaveLength(1)
  runs[0]!.end()
  await settle()
  expect(runs).toHaveLength(2)
  runs[1]!.end()
  await settle()
  expect(runs).toHaveLength(2)
})

test('a loop that was not started, or was stopped, cannot be woken; one that was stopped cannot be started', async () => {
  const { loop, runs } = newLoop({ atStart: true, atStop: true })
  loop.wake()
  await loop.stop()
  loop.start()
  loop.wake()
  await pass(EVERY_MS)
  expect(runs).toHaveLength(0)
})

test('stop waits for the run in progress, however often it is called, and nothing runs after it', async () => {
  const { loop, runs } = newLoop({ atStart: true })
  loop.start()
  loop.wake()
  expect(loop.stopping.aborted).toBe(false)
  const stops = [loop.stop(), loop.stop()]
  expect(loop.stopping.aborted).toBe(true)
  for (const stop of stops) expect(await isDone(stop)).toBe(false)
  runs[0]!.end(true)
  await Promise.all(stops)
  await pass(10 * EVERY_MS)
  expect(runs).toHaveLength(1)
})

test('stop between two runs ends at once, and nothing runs after it', async () => {
  const { loop, runs } = newLoop()
  loop.start()
  expect(await isDone(loop.stop())).toBe(true)
  await pass(10 * EVERY_MS)
  expect(runs).toHaveLength(0)
})

test('with `atStop` the work runs once more, after the run in progress, and stop waits for it', async () => {
  const { loop, runs } = newLoop({ atStart: true, atStop: true })
  loop.start()
  const stop = loop.stop()
  await settle()
  expect(runs).toHaveLength(1)
  runs[0]!.end(true)
  await settle()
  expect(runs).toHaveLength(2)
  expect(await isDone(stop)).toBe(false)
  runs[1]!.end(true)
  await stop
  expect(runs).toHaveLength(2)
})

test('stop resolves although the last run fails', async () => {
  const { loop, runs, lines } = newLoop({ atStart: true, atStop: true })
  loop.start()
  const stop = loop.stop()
  runs[0]!.fail(new Error('first'))
  await settle()
  runs[1]!.fail(new Error('second'))
  await stop
  expect(lines).toHaveLength(1)
})

test('after a failure the loop pauses, also when it is woken, and runs again', async () => {
  const { loop, runs } = newLoop({ atStart: true, everyMs: 10 })
  loop.start()
  loop.wake()
  runs[0]!.fail(new Error('down'))
  await settle()
  loop.wake()
  await pass(PAUSE_MS - 1)
  expect(runs).toHaveLength(1)
  await pass(1)
  expect(runs).toHaveLength(2)
  runs[1]!.end()
  await pass(10)
  expect(runs, 'back to its interval').toHaveLength(3)
})

test('the pause after a failure is no shorter than the interval', async () => {
  const { loop, runs } = newLoop({ atStart: true })
  loop.start()
  runs[0]!.fail(new Error('down'))
  await pass(EVERY_MS - 1)
  expect(runs).toHaveLength(1)
  await pass(1)
  expect(runs).toHaveLength(2)
})

test('work that throws before its first await fails like any other', async () => {
  const error = new Error('at once')
  const { loop, lines } = newLoop({
    atStart: true,
    work: () => {
      throw error
    },
  })
  loop.start()
  await settle()
  expect(lines.map(({ fields }) => fields)).toEqual([{ err: error, loop: 'test', failuresInARow: 1 }])
})

test('the first failure in a row is logged, then one a minute; after a success the next failure is logged', async () => {
  const { loop, runs, lines } = newLoop({ atStart: true, everyMs: PAUSE_MS })
  loop.start()
  const fail = async (times: number) => {
    for (let n = 0; n < times; n++) {
      runs.at(-1)!.fail(new Error('down'))
      await pass(PAUSE_MS)
    }
  }
  await fail(60)
  expect(lines).toHaveLength(1)
  await fail(1)
  expect(lines.map(({ fields }) => (fields as { failuresInARow: number }).failuresInARow)).toEqual([1, 61])
  runs.at(-1)!.end()
  await pass(PAUSE_MS)
  await fail(1)
  expect(lines.at(-1)).toMatchObject({ fields: { loop: 'test', failuresInARow: 1 } })
  expect(lines).toHaveLength(3)
})

test('the metrics include the interval of a loop before its first run, so that each is overdue by its own interval', async () => {
  const { metric } = newLoop({ everyMs: 3_600_000 })
  expect(await metric('svc_loop_interval_seconds')).toEqual({ value: 3_600, labels: { loop: 'test' } })
})

test('the metrics count failures from zero, and have the time of the last success', async () => {
  vi.setSystemTime(1_000_000)
  const { loop, runs, metric } = newLoop({ atStart: true, everyMs: PAUSE_MS })
  const labels = { loop: 'test' }
  expect(await metric('svc_loop_failures_total')).toEqual({ value: 0, labels })
  expect(await metric('svc_loop_last_success_timestamp_seconds')).toBeUndefined()
  loop.start()
  runs[0]!.end()
  await settle()
  expect(await metric('svc_loop_last_success_timestamp_seconds')).toEqual({ value: 1_000, labels })
  await pass(PAUSE_MS)
  runs[1]!.fail(new Error('down'))
  await settle()
  expect(await metric('svc_loop_failures_total')).toEqual({ value: 1, labels })
  expect(await metric('svc_loop_last_success_timestamp_seconds')).toEqual({ value: 1_000, labels })
})
