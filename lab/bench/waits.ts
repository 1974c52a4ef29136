import type pg from 'pg'
import type { Side } from './bed.ts'
import { type Load, openLoop, type Timed } from './load.ts'

/** What was under way while a request waited; the first that holds. */
export const WAITS = [
  'nothing: a trivial statement waits too',
  'the disk',
  'locks of PostgreSQL',
  'PostgreSQL at work',
  'the server, in a transaction',
  'the server, or its caller',
] as const
type Wait = (typeof WAITS)[number]

/** Share of the time of the slowest hundredth of the requests. */
export type Waits = Readonly<Record<Wait, number>>

/** A trivial statement that takes so long has waited for a processor or the disk itself. */
const STALLED_MS = 10
const PAUSE_MS = 3

/** Of the connections of one database, the state that explains most. */
const STATE = `select coalesce(min(case
    when wait_event_type = 'IO' or wait_event in ('WALWrite', 'WALSync', 'WalSync', 'WalWrite') then 1
    when wait_event_type in ('Lock', 'LWLock', 'BufferPin') then 2
    when state = 'active' and wait_event_type is null then 3
    when state like 'idle in transaction%' or (state = 'active' and wait_event_type = 'Client') then 4
    else 5 end), 5) as state
  from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`

interface Sample {
  readonly fromMs: number
  readonly wait: Wait
}

/** Watches the connections of a database until `stop`. */
function watch(admin: pg.Client) {
  const samples: Sample[] = []
  let isOver = false
  const run = async () => {
    while (!isOver) {
      const fromMs = performance.now()
      const { rows } = await admin.query<{ state: number }>({ name: 'waits', text: STATE })
      if (performance.now() - fromMs > STALLED_MS) samples.push({ fromMs, wait: WAITS[0] })
      samples.push({ fromMs: performance.now(), wait: WAITS[rows[0]!.state]! })
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  const running = run()
  return async () => {
    isOver = true
    await running
    return samples
  }
}

function sharesOf(samples: readonly Sample[], requests: readonly Timed[]): Waits {
  const took = ({ dueMs, doneMs }: Timed) => doneMs - dueMs
  const slowest = requests.toSorted((a, b) => took(b) - took(a)).slice(0, Math.ceil(requests.length / 100))
  const sums = new Map<Wait, number>(WAITS.map((wait) => [wait, 0]))
  let all = 0
  for (const { dueMs, doneMs } of slowest) {
    samples.forEach(({ fromMs, wait }, n) => {
      const untilMs = samples[n + 1]?.fromMs ?? doneMs
      const shared = Math.max(0, Math.min(doneMs, untilMs) - Math.max(dueMs, fromMs))
      sums.set(wait, sums.get(wait)! + shared)
      all += shared
    })
  }
  return Object.fromEntries([...sums].map(([wait, sum]) => [wait, all > 0 ? sum / all : 0])) as Waits & object
}

/** What the slowest hundredth waited for, at a rate. A phase of its own: to watch takes a processor's tenth. */
export async function waitsOf(
  { admin }: Pick<Side, 'admin'>,
  load: Load,
  { callers, perSecond, seconds }: { callers: number; perSecond: number; seconds: number },
): Promise<Waits> {
  const requests: Timed[] = []
  const stop = watch(admin)
  let samples: readonly Sample[] = []
  try {
    await openLoop(load, callers, perSecond, seconds, (request) => void requests.push(request))
  } finally {
    samples = await stop()
  }
  return sharesOf(samples, requests)
}
