import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'
import { forgetEvents } from './feed-horizon.ts'

const EVERY_MS = 600_000
/** The most attempts that `forget_webhook_attempts` deletes in one call. */
const ROWS_A_CALL = 5_000n
const PURGE = statement<{ purged: bigint }>(
  'webhook_attempts_purge',
  'select forget_webhook_attempts($1) as purged',
)

/** Deletes attempts and events that are older than the settings say. */
export function webhookRetentionLoop(services: CoreServices): Loop {
  const { clock, config, database } = services
  const work = async () => {
    const before = new Date(clock.now() - config.WEBHOOK_ATTEMPTS_DAYS * 86_400_000)
    const { purged } = (await database.directory(PURGE, [before], 'silence'))[0]!
    if (purged >= ROWS_A_CALL) return true
    await forgetEvents(services)
    return false
  }
  return new Loop({ name: 'webhook_retention', everyMs: EVERY_MS, work, atStart: true }, services)
}
