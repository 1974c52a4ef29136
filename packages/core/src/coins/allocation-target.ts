import { ByTenant, byTenant } from '@svc/kernel/by-tenant'
import type { BatchTx } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { type Allocation, coinLots } from './allocation.ts'
import type { LotOrder, Wallet } from './wallet.ts'
import { lockWalletRows, type WalletNeed, type Wallets, withLots } from './wallet-store.ts'

/** An allocation that a command changes. */
export interface TargetNeed {
  readonly tenantId: string
  readonly allocationId: string
  readonly clockOffsetMs: number
  readonly lotOrder?: LotOrder
}

/** The allocation, as it was when the batch began. */
export type Target = Allocation & {
  /** Days that its coins last, by the revision that awarded it. */
  readonly coinsExpireAfterDays: number | null
  readonly isVoided: boolean
}

export interface Targets {
  /** By user. Have the lot of every target, as long as something of it is pending or remains. */
  readonly wallets: ByTenant<Wallets>
  /** By allocation. */
  readonly targets: ByTenant<Map<string, Target>>
  readonly needs: readonly WalletNeed[]
}

const KEYS = 'select * from unnest($1::text[], $2::text[])'
const OWNERS = statement<{ readonly partnerId: string; readonly userId: string }>(
  'coin_allocations_owners',
  `select distinct partner_id as "partnerId", user_id as "userId" from coin_lots where (partner_id, lot_id) in (${KEYS})`,
)
const TARGETS = statement<Target>(
  'coin_allocations_targets',
  `select ${coinLots.columns}, r.coins_expire_after_days as "coinsExpireAfterDays",
     exists (select from coin_voids v where v.partner_id = l.partner_id and v.lot_id = l.lot_id) as "isVoided"
   from coin_lots l join coin_config_revisions r
     on r.partner_id = l.partner_id and r.coin_config_id = l.coin_config_id and r.revision = l.revision
   where (l.partner_id, l.lot_id) in (${KEYS})`,
)

/**
 * Locks the wallets of the users whose allocations are named, then reads the allocations: whose an allocation is never
 * changes. `coinsOf`: how many coins of other lots the command may need.
 */
export async function lockTargets(
  tx: BatchTx,
  targetNeeds: readonly TargetNeed[],
  coinsOf: (target: Target) => bigint,
): Promise<Targets> {
  const keys = columns(
    targetNeeds,
    ({ tenantId }) => tenantId,
    ({ allocationId }) => allocationId,
  )
  const offsets = new Map(targetNeeds.map(({ tenantId, clockOffsetMs }) => [tenantId, clockOffsetMs]))
  const owners = await tx.query(OWNERS, keys)
  const rows = await lockWalletRows(
    tx,
    owners.map(({ partnerId, userId }) => ({ tenantId: partnerId, userId })),
  )
  const found = owners.length === 0 ? [] : await tx.query(TARGETS, keys)
  const { lotOrder = 'expiry' } = targetNeeds[0]!
  const needs = found.map(
    (target): WalletNeed => ({
      lotOrder,
      tenantId: target.partnerId,
      userId: target.userId,
      coins: coinsOf(target),
      clockOffsetMs: offsets.get(target.partnerId)!,
    }),
  )
  const wallets = await withLots(tx, needs, rows)
  for (const target of found) addTo(wallets.of(target.partnerId), target)
  const targets = byTenant<Target, Target>(
    found,
    ({ partnerId }) => partnerId,
    ({ lotId }) => lotId,
    (target) => target,
  )
  return { wallets, targets, needs }
}

/** Adds the lot to its wallet, in its place, unless it was read with it. */
function addTo(wallets: Wallets, target: Target): void {
  const wallet = wallets.get(target.userId)!
  const kind: keyof Pick<Wallet, 'lots' | 'pendingLots'> = target.pending > 0n ? 'pendingLots' : 'lots'
  const isGone = target.pending === 0n && target.remaining === 0n
  if (isGone || wallet[kind].some(({ lotId }) => lotId === target.lotId)) return
  const lots = [...wallet[kind], target].sort((a, b) => (a.entry < b.entry ? -1 : 1))
  wallets.set(target.userId, { ...wallet, [kind]: lots })
}

/** What commands on allocations decide by, of one partner. */
export interface TargetState {
  readonly wallets: Wallets
  readonly targets: Map<string, Target>
}

export const targetState = ({ wallets, targets }: Targets): ByTenant<TargetState> =>
  new ByTenant((tenantId) => ({ wallets: wallets.of(tenantId), targets: targets.of(tenantId) }))
