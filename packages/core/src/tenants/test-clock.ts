import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { ByTenant } from '@svc/kernel/by-tenant'
import { command } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { bigint, table, text } from '@svc/platform/db/table'
import { PLATFORM_TENANT } from './tenant.ts'

/** How far a tenant's time may be ahead of the service's. */
const AHEAD_YEARS_MAX = 10
const AHEAD_MS_MAX = AHEAD_YEARS_MAX * 365 * 86_400_000

const testClocks = table('test_clocks', 'k', ['tenantId'], {
  tenantId: text,
  /** Milliseconds by which the tenant's time is ahead of the service's. */
  aheadMs: bigint,
})
const LOCK = testClocks.lock('lock')
const update = testClocks.updates(['aheadMs'])
const TENANTS = statement<{ tenantId: string }>(
  'test_clock_tenants',
  'select tenant_id as "tenantId" from tenants where tenant_id = any ($1)',
)
const COMMON = statement<{ aheadMs: bigint }>(
  'test_clock_common',
  `select ahead_ms as "aheadMs" from directory_test_clocks() where tenant_id = '${PLATFORM_TENANT}'`,
)
// Attempts to deliver live by real time: what was due in an hour is due now when the clock is an hour further.
const HASTEN = statement(
  'test_clock_deliveries',
  `update webhook_deliveries d set due_at = d.due_at - n.by_ms * interval '1 millisecond'
   from (select tenant_id, sum(by_ms)::bigint as by_ms from unnest($1::text[], $2::bigint[]) as g (tenant_id, by_ms)
     group by 1) as n
   where n.tenant_id in (d.tenant_id, '${PLATFORM_TENANT}') and not d.first`,
)

interface AdvanceClock {
  readonly tenantId: string
  /** At least 1. */
  readonly byMs: bigint
  /** No further ahead than this: requests that are repeated or sent at once stop where each was to go. */
  readonly atMostAheadMs?: bigint
}

interface State {
  /** Milliseconds ahead, of tenants that have a test clock. */
  readonly ahead: Map<string, bigint>
  /** Of all tenants, at least. */
  readonly commonMs: bigint
  readonly isTenant: boolean
}

interface Advanced extends AdvanceClock {
  readonly aheadMs: bigint
  readonly isFirst: boolean
}

/** Moves the time of a tenant, or of all with the platform's, forward, never back: what has happened in it would be in the future. */
export const advanceClock = command({
  name: 'advanceTestClock',
  prepare: () => (args: AdvanceClock) => args,
  lock,

  decide({ ahead, commonMs, isTenant }: State, { tenantId, byMs: wantedMs, atMostAheadMs }, _now): Advanced {
    if (!isTenant) fail('tenant_not_found')
    const own = ahead.get(tenantId)
    const knownMs = own !== undefined && own > commonMs ? own : commonMs
    const leftMs = atMostAheadMs === undefined ? wantedMs : atMostAheadMs - knownMs
    const byMs = leftMs < 0n ? 0n : leftMs < wantedMs ? leftMs : wantedMs
    const aheadMs = knownMs + byMs
    if (aheadMs > AHEAD_MS_MAX)
      failField(
        atMostAheadMs === undefined ? 'bySeconds' : 'to',
        'maximum',
        `takes the clock more than ${AHEAD_YEARS_MAX} years ahead of the time of the service`,
      )
    return { tenantId, byMs, aheadMs, isFirst: own === undefined }
  },

  apply: ({ ahead }, { tenantId, aheadMs }) => void ahead.set(tenantId, aheadMs),

  save(tx, decisions) {
    const [first, further] = [
      decisions.filter((made) => made.isFirst),
      decisions.filter((made) => !made.isFirst),
    ]
    testClocks.insert(tx, first)
    for (const made of further) update(tx, [made])
    const moved = columns(
      decisions,
      ({ tenantId }) => tenantId,
      ({ byMs }) => byMs,
    )
    tx.write(HASTEN, moved)
  },
})

async function lock(tx: BatchTx, commands: readonly AdvanceClock[]): Promise<ByTenant<State>> {
  const [clocks, tenants, [common]] = await Promise.all([
    testClocks.lockRows(tx, LOCK, commands),
    tx.query(TENANTS, [commands.map(({ tenantId }) => tenantId)]),
    tx.query(COMMON),
  ])
  const known = new Set(tenants.map(({ tenantId }) => tenantId))
  return new ByTenant((tenantId) => ({
    ahead: new Map([...clocks.of(tenantId)].map(([id, { aheadMs }]) => [id, aheadMs])),
    commonMs: common?.aheadMs ?? 0n,
    isTenant: known.has(tenantId),
  }))
}
