import { fail } from '../errors.ts'
import { rfc3339 } from '../kernel/time.ts'
import type { Tx } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'
import type { Services } from '../platform/http/operation.ts'

const HORIZON = statement<{ forgotten_sequence: bigint; forgotten_at: Date | null }>(
  'events_horizon',
  'select forgotten_sequence, forgotten_at from event_counters where tenant_id = $1',
)
const FORGET = statement<{ forgotten: bigint }>('events_forget', 'select forget_events($1) as forgotten')

/**
 * Refuses to go on from a place whose next event is no longer kept: what looks like the next page would hide a gap
 * (decision E6). Asked after the page was read: an event that went since then is counted as gone. Answers the number of the last event that is not kept; without `after` a reader begins there.
 */
export async function requireKept(tx: Tx, tenantId: string, after: bigint | undefined): Promise<bigint> {
  const [row] = await tx.query(HORIZON, [tenantId])
  const forgotten = row?.forgotten_sequence ?? 0n
  if (after !== undefined && after < forgotten)
    fail('events_forgotten', {
      description: `Events up to number ${forgotten} are no longer kept; go on with after=${forgotten}`,
    })
  return forgotten
}

/** The same for a range of time. */
export async function requireKeptSince(
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

/** Forgets events that are older than the setting says. Any process may, at any time. */
export async function forgetEvents({ clock, config, database }: Services): Promise<bigint> {
  const before = new Date(clock.now() - config.EVENTS_DAYS * 86_400_000)
  let all = 0n
  for (let last = 1n; last > 0n; all += last)
    last = (await database.directory(FORGET, [before]))[0]!.forgotten
  return all
}
