import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Outcome, Trial } from './faults.ts'
import type { Called, Seen } from './overload-callers.ts'

const ACCEPTED_P99_MS_MAX = 2_000
const NORMAL_WITHIN_MS = 10_000

/**
 * Promise H4. First as fast as some callers can, each after its answer: that is what the service carries. Then three
 * times as many a second whether or not answers come, and nobody tries again.
 */
export async function overload({ bed, load }: Trial): Promise<Outcome> {
  await load.stop()
  const seen = await callers({ baseUrls: bed.members.map(({ baseUrl }) => baseUrl), railKey: bed.railKey })
  load.start()
  const others = Object.entries(seen.others).map(([status, times]) => `${times} × ${status}`)
  const broken = [
    ...(seen.acceptedP99Ms <= ACCEPTED_P99_MS_MAX
      ? []
      : [`the p99 of accepted requests was ${Math.round(seen.acceptedP99Ms)} ms`]),
    ...(seen.normalAfterMs <= NORMAL_WITHIN_MS ? [] : ['10 s later the service was not back to normal']),
    ...(others.length === 0 ? [] : [`requests were neither accepted nor shed: ${others.join(', ')}`]),
  ]
  const figures = {
    'carried a second': seen.carriedPerSecond,
    'offered a second': seen.offeredPerSecond,
    'accepted a second': seen.acceptedPerSecond,
    shed: seen.shed,
    'accepted p99 ms': seen.acceptedP99Ms,
    'shed p99 ms': seen.shedP99Ms,
    'normal after ms': seen.normalAfterMs,
  }
  return { injected: 1, survived: broken.length === 0 ? 1 : 0, figures, broken }
}

function callers(called: Called): Promise<Seen> {
  const child = fork(fileURLToPath(new URL('overload-callers.ts', import.meta.url)))
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  return new Promise<Seen>((resolve, reject) => {
    child.once('message', (seen) => resolve(seen as Seen))
    child.once('exit', (code) => {
      process.off('exit', endWithUs)
      reject(new Error(`the callers of an overload ended with ${code}`))
    })
    child.send(called)
  })
}
