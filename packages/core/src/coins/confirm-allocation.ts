import { fail } from '@svc/contract/errors'
import { command } from '@svc/platform/command'
import {
  lockTargets,
  type Target,
  type TargetNeed,
  type TargetState,
  targetState,
} from './allocation-target.ts'
import { expiryOf } from './award-rules.ts'
import { activate, settleDue } from './settle-wallet.ts'
import type { WalletChange } from './wallet.ts'
import { lockCoinAccounts, saveWalletChanges } from './wallet-store.ts'

interface ConfirmAllocation {
  readonly partnerId: string
  readonly allocationId: string
}

interface PreparedConfirmation extends TargetNeed {
  readonly timeZone: string
}

interface Confirmed {
  readonly allocation: Target
  /** Absent for what was confirmed before. */
  readonly change: WalletChange | undefined
  readonly timeZone: string
}

function decide({ wallets, targets }: TargetState, command: PreparedConfirmation, now: Date): Confirmed {
  const { allocationId, timeZone } = command
  const target = targets.get(allocationId) ?? fail('coin_allocation_not_found')
  if (target.confirmedAt) return { allocation: target, change: undefined, timeZone }
  if (target.isVoided) fail('coin_allocation_voided')
  if (target.activationId === null || target.activatesAt) fail('coin_allocation_not_awaiting_confirmation')
  const due = settleDue(wallets.get(target.userId)!, now, timeZone)
  const lot = { ...target, confirmedAt: now, expiresAt: expiryOf(target, now) }
  const change = activate(due, lot, now, timeZone)
  const active = change.lots.at(-1)!
  return { allocation: { ...target, ...active }, change, timeZone }
}

/** Makes an award active that waits for confirmation, exactly once (decision K10); its coins last from then on. */
export const confirmAllocation = command({
  name: 'confirmCoinAllocation',

  prepare:
    ({ clock, config }) =>
    ({ partnerId, allocationId }: ConfirmAllocation): PreparedConfirmation => ({
      tenantId: partnerId,
      allocationId,
      clockOffsetMs: clock.of(partnerId).offsetMs(),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  async lock(tx, commands) {
    const locked = await lockTargets(tx, commands, () => 0n)
    await lockCoinAccounts(tx, locked.needs, locked.wallets)
    return targetState(locked)
  },

  decide,

  apply({ wallets, targets }, { allocation, change }) {
    if (!change) return
    targets.set(allocation.lotId, allocation)
    wallets.set(allocation.userId, change.wallet)
  },

  save: (tx, decisions) =>
    saveWalletChanges(
      tx,
      decisions[0]!.timeZone,
      decisions.flatMap(({ change }) => change ?? []),
    ),
})
