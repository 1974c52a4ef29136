import { fail } from '@svc/contract/errors'
import { ByTenant, byTenant } from '@svc/kernel/by-tenant'
import { command } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import { columns, statement } from '@svc/platform/db/statement'
import { saveEvents } from '@svc/platform/outbox'
import { account } from '../ledger/accounts.ts'
import { findUsers } from '../tenants/user.ts'
import { lockTargets, type TargetNeed, type TargetState, targetState } from './allocation-target.ts'
import { type CoinVoid, coinVoids, coinVoidTakes, voidToWire } from './coin-void.ts'
import { type Clawback, voidLot } from './void-coins.ts'
import { derivedId, type LotOrder, type WalletChange } from './wallet.ts'
import { lockCoinAccounts, saveWalletChanges } from './wallet-store.ts'

interface VoidAllocation {
  readonly partnerId: string
  readonly allocationId: string
  /** The caller's id of this one intent. */
  readonly requestId: string
  /** SHA-256 of the request, to distinguish a repeat from another request of the same id. */
  readonly requestHash: Buffer
  readonly reason: string
  readonly actor: CoinVoid['actor']
}

interface PreparedVoid extends TargetNeed, VoidAllocation {
  readonly clawback: Clawback
  readonly lotOrder: LotOrder
  readonly ids: { readonly void: string; readonly transfer: string }
  readonly timeZone: string
}

interface State extends TargetState {
  /** Companies of the users of whom something may be written, by user. */
  readonly users: Map<string, string>
  /** First voids, by request. */
  readonly known: Map<string, CoinVoid>
}

export interface Voided {
  readonly done: CoinVoid
  /** Absent for the repeat of a request. */
  readonly change: WalletChange | undefined
  readonly timeZone: string
}

type KnownVoid = Omit<CoinVoid, 'takes'> & {
  readonly takes: readonly { readonly lotId: string; readonly amount: string }[]
}
const KNOWN = statement<KnownVoid>(
  'coin_voids_known',
  `select ${coinVoids.columns}, coalesce((
     select json_agg(json_build_object('lotId', k.lot_id, 'amount', k.amount::text)
       order by k.lot_id <> v.lot_id, k.lot_id)
     from coin_void_takes k where k.partner_id = v.partner_id and k.void_id = v.void_id), '[]') as takes
   from coin_voids v where (v.partner_id, v.request_id) in (select * from unnest($1::text[], $2::text[]))`,
)

async function lock(tx: BatchTx, commands: readonly PreparedVoid[]): Promise<ByTenant<State>> {
  // One more than was spent: the lot itself may be among those that are read first.
  const locked = await lockTargets(tx, commands, ({ spent }) => spent + 1n)
  const rows = await tx.query(
    KNOWN,
    columns(
      commands,
      ({ tenantId }) => tenantId,
      ({ requestId }) => requestId,
    ),
  )
  await lockCoinAccounts(tx, locked.needs, locked.wallets, ({ tenantId }) => [
    account('coins_issued', tenantId),
  ])
  // Behind the accounts, which an erasure locks too: it is seen, or it erases the reason.
  const users = await findUsers(tx, locked.needs)
  const known = byTenant<KnownVoid, CoinVoid>(
    rows,
    ({ partnerId }) => partnerId,
    ({ requestId }) => requestId,
    (row) => ({
      ...row,
      takes: row.takes.map(({ lotId, amount }) => ({ lotId, amount: BigInt(amount) })),
    }),
  )
  const state = targetState(locked)
  return new ByTenant((tenantId) => ({
    ...state.of(tenantId),
    known: known.of(tenantId),
    users: users.of(tenantId),
  }))
}

function decide({ wallets, targets, known, users }: State, command: PreparedVoid, now: Date): Voided {
  const { allocationId, requestId, requestHash, reason, actor, ids, timeZone } = command
  const first = known.get(requestId)
  if (first && !first.requestHash.equals(requestHash)) fail('request_id_conflict')
  if (first) return { done: first, change: undefined, timeZone }
  const { partnerId, lotId, userId, spent, isVoided } =
    targets.get(allocationId) ?? fail('coin_allocation_not_found')
  if (isVoided) fail('coin_allocation_voided')
  if (!users.has(userId)) fail('user_erased')
  const { clawback, lotOrder } = command
  const plan = {
    voidId: ids.void,
    transferId: ids.transfer,
    requestId,
    lotId,
    spent,
    clawback,
    lotOrder,
    timeZone,
  }
  const { change, uses, amount, shortfall, wasPending, balance } = voidLot(wallets.get(userId)!, plan, now)
  const done: CoinVoid = {
    voidId: ids.void,
    partnerId,
    userId,
    lotId,
    requestId,
    requestHash,
    reason,
    actor,
    wasPending,
    amount,
    shortfall,
    balanceAfter: balance,
    createdAt: now,
    takes: inOrder(uses, lotId),
  }
  return { done, change, timeZone }
}

/** As a repeat reads them. */
const inOrder = (takes: CoinVoid['takes'], lotId: string): CoinVoid['takes'] => [
  ...takes.filter((take) => take.lotId === lotId),
  ...takes.filter((take) => take.lotId !== lotId).sort((a, b) => (a.lotId < b.lotId ? -1 : 1)),
]

/** Takes an allocation back, exactly once for each `requestId`, and an allocation once (decision K12). */
export const voidAllocation = command({
  name: 'voidCoinAllocation',

  prepare:
    ({ clock, config, newId }) =>
    (args: VoidAllocation): PreparedVoid => ({
      ...args,
      tenantId: args.partnerId,
      clockOffsetMs: clock.of(args.partnerId).offsetMs(),
      clawback: config.COIN_CLAWBACK,
      lotOrder: config.COIN_LOT_ORDER,
      ids: { void: newId('cvo'), transfer: newId('trf') },
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  lock,
  decide,

  apply({ wallets, targets, known }, { done, change }) {
    if (!change) return
    known.set(done.requestId, done)
    wallets.set(done.userId, change.wallet)
    targets.set(done.lotId, { ...targets.get(done.lotId)!, isVoided: true })
  },

  save(tx, decisions) {
    const made = decisions.filter(({ change }) => change)
    saveWalletChanges(
      tx,
      decisions[0]!.timeZone,
      made.flatMap(({ change }) => change ?? []),
    )
    coinVoids.insert(
      tx,
      made.map(({ done }) => done),
    )
    coinVoidTakes.insert(
      tx,
      made.flatMap(({ done: { partnerId, voidId, takes } }) =>
        takes.map((take) => ({ ...take, partnerId, voidId })),
      ),
    )
    saveEvents(
      tx,
      made.map(({ done, timeZone }) => ({
        eventId: derivedId('evt', done.voidId),
        tenantId: done.partnerId,
        type: 'coins.voided',
        objectId: done.userId,
        payload: voidToWire(done, timeZone),
        createdAt: done.createdAt,
      })),
    )
  },
})
