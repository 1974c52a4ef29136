import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { calendarDay } from '@svc/kernel/time'
import { type CommandTools, command } from '@svc/platform/command'
import { saveEvents } from '@svc/platform/outbox'
import { type Allocation, allocationToWire, coinLots } from './allocation.ts'
import { type AllocationNeed, type AllocationState, lockAllocations } from './allocation-state.ts'
import { award } from './award-coins.ts'
import { type Considered, chooseConfig, considerConfigs, termsOf } from './award-rules.ts'
import type { WalletChange } from './wallet.ts'
import { saveWalletChanges } from './wallet-store.ts'

/** An event that happened to a user, for which coins are wanted. */
export interface AllocateCoins {
  readonly partnerId: string
  /** The partner's id of this one intent. */
  readonly requestId: string
  /** SHA-256 of the request, to distinguish a repeat from another request of the same id. */
  readonly requestHash: Buffer
  readonly event: string
  readonly userId: string
  readonly companyId: string
  /** The time of the decision by default. */
  readonly occurredAt?: Date | undefined
}

interface PreparedAllocation extends AllocationNeed, AllocateCoins {
  readonly ids: {
    readonly allocation: string
    readonly transfer: string
    readonly event: string
    readonly activation: string
  }
}

interface Allocated {
  readonly allocation: Allocation
  /** What it changes; absent for the repeat of a request. */
  readonly change: WalletChange | undefined
  readonly command: PreparedAllocation
}

/** How far a caller's clock may be ahead of the service's. */
const AHEAD_MAX_MS = 300_000
/** Older events are for the partner's books, not for awards. */
const BACKDATED_MAX_MS = 31 * 86_400_000

const prepare =
  ({ clock, config, newId }: Pick<CommandTools, 'clock' | 'config' | 'newId'>) =>
  (args: AllocateCoins): PreparedAllocation => {
    const time = clock.of(args.partnerId)
    const nowMs = time.now()
    const occurredMs = args.occurredAt?.getTime() ?? nowMs
    if (occurredMs > nowMs + AHEAD_MAX_MS) failField('occurredOn', 'maximum', 'must not be in the future')
    if (occurredMs < nowMs - BACKDATED_MAX_MS)
      failField('occurredOn', 'minimum', 'must be at most 31 days ago')
    return {
      ...args,
      tenantId: args.partnerId,
      coins: 0n,
      clockOffsetMs: time.offsetMs(),
      occurredDay: args.occurredAt && calendarDay(args.occurredAt, config.BUSINESS_TIME_ZONE),
      ids: {
        allocation: newId('cal'),
        transfer: newId('trf'),
        event: newId('evt'),
        activation: newId('cac'),
      },
      timeZone: config.BUSINESS_TIME_ZONE,
    }
  }

/** The configurations that an allocation considers, and the verdict on each. */
export const consideredBy = (
  { configs }: AllocationState,
  { partnerId, companyId, event, occurredAt }: AllocateCoins,
  now: Date,
): Considered[] => considerConfigs(configs, { partnerId, companyId, event, occurredAt: occurredAt ?? now })

function decide(state: AllocationState, command: PreparedAllocation, now: Date): Allocated {
  const { partnerId, userId, companyId, requestId, requestHash, ids, timeZone } = command
  const known = state.known.get(requestId)
  if (known && !known.requestHash.equals(requestHash)) fail('request_id_conflict')
  if (known) return { allocation: known, change: undefined, command }
  if (!state.companies.has(companyId)) fail('company_not_found')
  if (state.users.get(userId) !== companyId) fail('user_not_found')
  const occurredAt = command.occurredAt ?? now
  const businessDay = calendarDay(occurredAt, timeZone)
  const config = chooseConfig(
    consideredBy(state, command, now),
    (coinConfigId) => state.awarded.get(userId, coinConfigId, businessDay) ?? 0n,
  )
  const { amount, coinConfigId, revision, event } = config
  const { change, lot, balance } = award(
    state.wallets.get(userId)!,
    state.accounts,
    {
      lotId: ids.allocation,
      transferId: ids.transfer,
      requestId,
      amount,
      terms: termsOf(config, ids.activation, now),
      timeZone,
    },
    now,
  )
  const allocation: Allocation = {
    ...lot,
    partnerId,
    requestId,
    requestHash,
    userId,
    companyId,
    event,
    coinConfigId,
    revision,
    amount,
    occurredAt,
    businessDay,
    announcedAt: null,
    balanceAfter: balance,
    createdAt: now,
  }
  return { allocation, change, command }
}

/** Allocates coins for an event, exactly once for each `requestId` (decision K3). */
export const allocateCoins = command({
  name: 'allocateCoins',
  prepare,
  lock: (tx, commands) => lockAllocations(tx, commands),
  decide,

  apply(state, { allocation, change }) {
    if (!change) return
    const { userId, coinConfigId, businessDay, amount, requestId } = allocation
    state.known.set(requestId, allocation)
    state.wallets.set(userId, change.wallet)
    const awarded = state.awarded.get(userId, coinConfigId, businessDay) ?? 0n
    state.awarded.set([userId, coinConfigId, businessDay], awarded + amount)
    for (const { accountId } of change.opens) state.accounts.add(accountId)
  },

  save(tx, decisions) {
    saveWalletChanges(
      tx,
      decisions[0]!.command.timeZone,
      decisions.flatMap(({ change }) => change ?? []),
    )
    const made = decisions.filter(({ change }) => change)
    coinLots.insert(
      tx,
      made.map(({ allocation }) => allocation),
    )
    saveEvents(
      tx,
      made.map(({ allocation, command: { ids, timeZone } }) => ({
        eventId: ids.event,
        tenantId: allocation.partnerId,
        type: allocation.activationId === null ? 'coins.allocated' : 'coins.pending',
        objectId: allocation.userId,
        payload: allocationToWire(allocation, timeZone),
        createdAt: allocation.createdAt,
      })),
    )
  },
})
