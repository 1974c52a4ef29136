import type { Clock } from '@svc/kernel/time'
import { Loop, type LoopTools } from '../loop.ts'
import type { Database } from './database.ts'
import { timeAhead } from './database-time.ts'
import { statement } from './statement.ts'

const PURGE = statement<{ purged: bigint }>(
  'purge_expired',
  `select forget_old_rows(${timeAhead(1)}, ${timeAhead(2)}) as purged`,
)

const EVERY_MS = 60_000
/** The outcome of a batch is looked up within seconds, or never. */
const BATCHES_KEPT_MS = 3_600_000

/** The most rows of a kind that `forget_old_rows` deletes in one call. */
const ROWS_A_CALL = 5_000n

interface PurgeTools extends LoopTools {
  readonly database: Database
  readonly clock: Clock
}

/** Deletes expired rows: idempotency keys with their responses, and batch ids. */
export function purgeLoop(tools: PurgeTools, idempotencyHours: number): Loop {
  const { clock, database } = tools
  const work = async () => {
    const ahead = clock.offsetMs()
    const before = [ahead - idempotencyHours * 3_600_000, ahead - BATCHES_KEPT_MS]
    const { purged } = (await database.directory(PURGE, before, 'silence'))[0]!
    return purged >= ROWS_A_CALL
  }
  return new Loop({ name: 'purge_expired', everyMs: EVERY_MS, work }, tools)
}
