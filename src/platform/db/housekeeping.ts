import type { Clock } from '../../kernel/time.ts'
import type { Log } from '../log.ts'
import type { Database } from './database.ts'
import { statement } from './statement.ts'

const FORGET = statement<{ forgotten: bigint }>(
  'housekeeping_forget',
  'select forget_old_rows($1, $2) as forgotten',
)

const EVERY_MS = 60_000
/** A batch is settled within seconds, or never asked for again. */
const BATCHES_KEPT_MS = 3_600_000

/** What `forget_old_rows` deletes at most of a kind in one call. */
const ROWS_A_CALL = 5_000n

/** Deletes, a bounded number at a time, what only time makes useless: old stored answers and batch ids. */
export function keepHouse(database: Database, clock: Clock, log: Log, idempotencyHours: number): () => void {
  let stopped = false
  const forget = async () => {
    const now = clock.now()
    const before = [new Date(now - idempotencyHours * 3_600_000), new Date(now - BATCHES_KEPT_MS)]
    for (let forgotten = ROWS_A_CALL; forgotten >= ROWS_A_CALL && !stopped; )
      forgotten = (await database.directory(FORGET, before))[0]!.forgotten
  }
  const timer = setInterval(() => {
    forget().catch((error: unknown) => log.warn({ err: error }, 'housekeeping failed; it will try again'))
  }, EVERY_MS)
  timer.unref()
  return () => {
    stopped = true
    clearInterval(timer)
  }
}
