import type { Config } from '@svc/contract/config'
import { type Clock, calendarDay } from '@svc/kernel/time'
import type { Database } from '@svc/platform/db/database'
import { furthestAhead } from '../ledger/transfers-since.ts'
import type { ReadingDays } from './line-reader.ts'

/** Days of files are held against the furthest clock of the installation (decision X27). */
export async function readingDays(
  { config, database }: { readonly config: Config; readonly database: Database },
  clock: Pick<Clock, 'now'>,
): Promise<ReadingDays> {
  const aheadMs = await database.operate((tx) => furthestAhead(tx))
  const zone = config.BUSINESS_TIME_ZONE
  return { zone, today: calendarDay(new Date(clock.now() + aheadMs), zone) }
}
