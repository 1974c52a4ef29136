import { Failure } from '@svc/contract/errors'
import { rfc3339 } from '@svc/kernel/time'
import type { CommandTools } from '@svc/platform/command'
import { statement } from '@svc/platform/db/statement'
import { type AllocateCoins, allocateCoins, consideredBy } from './allocate-coins.ts'
import { type Allocation, allocationToWire } from './allocation.ts'
import { readAllocations } from './allocation-state.ts'
import type { Considered } from './award-rules.ts'
import { settleDue } from './settle-wallet.ts'
import { activeCoins } from './wallet.ts'

/** What an allocation would do, and the configurations that it would consider. */
interface DryRun {
  readonly considered: readonly Considered[]
  readonly would:
    | { readonly outcome: 'WOULD_ALLOCATE' | 'WOULD_REPEAT'; readonly allocation: Allocation }
    | {
        readonly outcome: 'WOULD_REFUSE'
        readonly args: AllocateCoins
        readonly occurredAt: Date
        /** The user's active coins. */
        readonly balance: bigint
        readonly failure: Failure
      }
}

const NOW = statement<{ now: Date }>('coin_allocations_now', 'select clock_timestamp() as now')

/** Prepares and decides an allocation by the rules of `allocateCoins`; it locks and writes nothing. */
export function dryRunAllocation(tools: CommandTools): (args: AllocateCoins) => Promise<DryRun> {
  const { database, clock } = tools
  const prepare = allocateCoins.prepare(tools)
  return async (args) => {
    const command = await prepare(args)
    const { tenantId, userId } = command
    const { state, now } = await database.read([tenantId], async (tx) => {
      const state = await readAllocations(tx, [command])
      const [time] = await tx.query(NOW)
      return { state: state.of(tenantId), now: new Date(time!.now.getTime() + clock.of(tenantId).offsetMs()) }
    })
    const considered = consideredBy(state, command, now)
    try {
      const { allocation, change } = allocateCoins.decide(state, command, now)
      return { considered, would: { outcome: change ? 'WOULD_ALLOCATE' : 'WOULD_REPEAT', allocation } }
    } catch (failure) {
      if (!(failure instanceof Failure) || failure.status >= 500) throw failure
      const balance = activeCoins(settleDue(state.wallets.get(userId)!, now, command.timeZone).wallet)
      const occurredAt = args.occurredAt ?? now
      return { considered, would: { outcome: 'WOULD_REFUSE', args, occurredAt, balance, failure } }
    }
  }
}

const consideredToWire = ({ config, verdict }: Considered) => ({
  coinConfigId: config.coinConfigId,
  configuration: config.configuration,
  revision: config.revision,
  amount: Number(config.amount),
  verdict,
})

/** As `allocationToWire`, of what would happen. */
export function dryRunToWire({ considered: all, would }: DryRun, timeZone: string) {
  const considered = all.map(consideredToWire)
  if (would.outcome === 'WOULD_REFUSE') {
    const { args, balance, failure, occurredAt, outcome } = would
    const { requestId, userId, companyId, event } = args
    return {
      outcome,
      requestId,
      userId,
      companyId,
      event,
      amount: 0,
      balance: Number(balance),
      occurredOn: rfc3339(occurredAt, timeZone),
      reason: failure.code,
      reasonDescription: failure.description,
      considered,
    }
  }
  const { outcome } = would
  const { allocationId, createdOn, ...wire } = allocationToWire(would.allocation, timeZone)
  return outcome === 'WOULD_REPEAT'
    ? { ...wire, outcome, allocationId, createdOn, considered }
    : { ...wire, outcome, considered }
}
