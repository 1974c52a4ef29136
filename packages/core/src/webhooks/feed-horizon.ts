import type { Config } from '@svc/contract/config'
import { fail } from '@svc/contract/errors'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { timeAhead } from '@svc/platform/db/database-time'
import { statement } from '@svc/platform/db/statement'
import type { CoreServices } from '@svc/platform/services'

const HORIZON = statement<{ forgotten_sequence: bigint; forgotten_at: Date | null; last_sequence: bigint }>(
  'events_horizon',
  'select forgotten_sequence, forgotten_at, last_sequence from event_counters where tenant_id = $1',
)
const FORGET = statement<{ forgotten: bigint }>(
  'events_forget',
  `select forget_events(${timeAhead(1)}) as forgotten`,
)

/** The end of a feed, as a position that a caller may request. */
export const LATEST = 'latest'

/**
 * The number after which a reader begins: as requested, the newest, or without `after` the last one that is not kept.
 * Refuses a position whose next event is no longer kept, or that the feed has not reached: the next page would hide a
 * gap (decision E6). Called after the page was read, so an event that was deleted since then counts as missing.
 */
export async function feedPosition(tx: Tx, tenantId: string, after: string | undefined): Promise<bigint> {
  const [row] = await tx.query(HORIZON, [tenantId])
  const { forgotten_sequence: forgotten, last_sequence: last } = row ?? {
    forgotten_sequence: 0n,
    last_sequence: 0n,
  }
  if (after === undefined) return forgotten
  if (after === LATEST) return last
  const position = BigInt(after)
  if (position < forgotten)
    fail('events_forgotten', {
      description: `Events up to number ${forgotten} are no longer kept; go on with after=${forgotten}`,
    })
  if (position > last)
    fail('events_ahead', {
      description: `The feed ends at number ${last}, before the position that was sent; continue with after=${last}`,
    })
  return position
}

/** The same for a range of time. */
export async function requireEventsKept(
  tx: Tx,
  tenantId: string,
  from: Date,
  timeZone: string,
): Promise<void> {
  const [row] = await tx.query(HORIZON, [tenantId])
  if (row?.forgotten_at && from <= row.forgotten_at)
    fail('events_forgotten', {
      description: `Events up to ${rfc3339(row.forgotten_at, timeZone)} are no longer kept; begin after that`,
    })
}

const ATTEMPTS = statement<{ since: Date }>(
  'webhook_attempts_horizon',
  `select since
   from (select least(${timeAhead(1)}, clock_timestamp() - keep) as since from retention where what = 'webhook_attempts') kept
   where since > $2`,
)

/** The same for the attempts by which a replay of what failed judges: older ones may be deleted. */
export async function requireAttemptsSince(
  tx: Tx,
  from: Date,
  { BUSINESS_TIME_ZONE, WEBHOOK_ATTEMPTS_DAYS }: Config,
): Promise<void> {
  const [kept] = await tx.query(ATTEMPTS, [-WEBHOOK_ATTEMPTS_DAYS * 86_400_000, from])
  if (kept)
    fail('events_forgotten', {
      description: `Attempts before ${rfc3339(kept.since, BUSINESS_TIME_ZONE)} are no longer kept, so what failed is not known; begin after that, or replay without failedOnly`,
    })
}

/**
 * Forgets some of the events that are older than the setting says; returns how many, 0 when none is left. Any process
 * may, at any time.
 */
export async function forgetEvents({ clock, config, database }: CoreServices): Promise<bigint> {
  const aheadMs = clock.offsetMs() - config.EVENTS_DAYS * 86_400_000
  return (await database.directory(FORGET, [aheadMs], 'silence'))[0]!.forgotten
}
