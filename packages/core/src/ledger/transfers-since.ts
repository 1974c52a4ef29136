import { ID_SLACK_MS, idFloor } from '@svc/contract/id-kinds'
import type { Clock } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'

const AHEAD = statement<{ ahead: bigint }>(
  'test_clocks_furthest',
  'select coalesce(max(ahead_ms), 0)::bigint as ahead from test_clocks',
)

/**
 * Every transfer of money since an instant has an id that sorts after this, so that the index finds them. Ids are of the
 * real time, which the clock of the tenant may be ahead of. Ids of coins are derived from those of awards: it is no bound
 * for them.
 */
export const transfersSince = (at: Date, aheadMs: number): string =>
  idFloor('trf', new Date(at.getTime() - aheadMs - ID_SLACK_MS))

/** By how much the tenant's clock is ahead of that of ids. */
export const aheadOf = (clock: Clock, tenantId: string): number =>
  clock.of(tenantId).offsetMs() - clock.offsetMs()

/** For operators: by how much the clock of any tenant is ahead at most; 0 in live mode. */
export const furthestAhead = async (tx: Tx): Promise<number> => Number((await tx.query(AHEAD))[0]!.ahead)

const LEAST = statement<{ ahead: bigint }>(
  'test_clocks_least',
  `select coalesce(max(c.ahead_ms), 0)::bigint as ahead
   from test_clocks c join tenants t using (tenant_id) where t.kind = 'house'`,
)
/** The same of all tenants at least. */
export const leastAhead = async (tx: Tx): Promise<number> => Number((await tx.query(LEAST))[0]!.ahead)
