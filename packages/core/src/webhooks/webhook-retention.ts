import { timeAhead } from '@svc/platform/db/database-time'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'
import { forgetEvents } from './feed-horizon.ts'

const EVERY_MS = 600_000
/** The most attempts that `forget_webhook_attempts` deletes in one call. */
const ROWS_A_CALL = 5_000n
const PURGE = statement<{ purged: bigint }>(
  'webhook_attempts_purge',
  `select forget_webhook_attempts(${timeAhead(1)}) as purged`,
)

/**
 * Deletes attempts and events that are older than the settings say: some of them in each run, so that a process that
 * stops waits for one call at most.
 */
export function webhookRetentionLoop(services: CoreServices): Loop {
  const { clock, config, database } = services
  const work = async () => {
    const aheadMs = clock.offsetMs() - config.WEBHOOK_ATTEMPTS_DAYS * 86_400_000
    const { purged } = (await database.directory(PURGE, [aheadMs], 'silence'))[0]!
    if (purged >= ROWS_A_CALL) return true
    return (await forgetEvents(services)) > 0n
  }
  return new Loop({ name: 'webhook_retention', everyMs: EVERY_MS, work, atStart: true }, services)
}
