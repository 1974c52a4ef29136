import { required } from '@svc/kernel/invariant'
import { parseRfc3339 } from '@svc/kernel/time'
import type { TenantSession } from './tenant-session.ts'
import { UsageError } from './usage-error.ts'

/** Where to begin in a feed: after its newest event, with its oldest one, after a sequence number, or at a time. */
export type FeedStart = 'now' | 'start' | number | Date

/** Events are numbered at commit, so times of neighbours may be out of order, by less than this. */
const DISORDER_MS = 60_000

/** The sequence number after which to begin. */
export async function findPosition(session: TenantSession, start: FeedStart): Promise<number> {
  if (typeof start === 'number') return start
  if (start === 'now') return (await pageAfter(session, 'latest')).next
  const oldest = await pageAfter(session, undefined)
  const first = oldest.data[0]?.sequence
  if (first === undefined) return oldest.next
  if (start === 'start') return first - 1
  if (start.getTime() > Date.now()) throw new UsageError('--from must not be in the future')
  return lastBefore(session, start.getTime() - DISORDER_MS, first - 1)
}

/** The last event before an instant, by halving: numbers have no gaps. `floor` is a position that is still kept. */
async function lastBefore(session: TenantSession, atMs: number, floor: number): Promise<number> {
  let low = floor
  let high = (await pageAfter(session, 'latest')).next
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [event] = (await pageAfter(session, middle)).data
    if (event && createdAtMs(event) < atMs) low = middle + 1
    else high = middle
  }
  return low
}

async function pageAfter(session: TenantSession, after: number | 'latest' | undefined) {
  const query = { limit: 1, ...(after !== undefined && { after }) }
  const found = session.client.api.http.GET('/api/v0/events', { params: { query } })
  return (await session.reported('GET /api/v0/events', found)).data!.payload
}

/** When an event of the feed was created, in milliseconds since 1970. */
export const createdAtMs = ({ createdOn }: { readonly createdOn: string }): number =>
  required(parseRfc3339(createdOn), 'the feed dates its events by RFC 3339').getTime()
