import { invariant, required } from '@svc/kernel/invariant'
import { type Account, account, accountId } from '../../ledger/accounts.ts'
import type { AccountKind } from '../../ledger/chart-of-accounts.ts'
import type { Journal } from '../../ledger/journals.ts'
import type { JournalKind, LegKind } from '../../ledger/posting-rules.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import type { BatchLine, SettlementRail } from './batch.ts'

interface RailBooks {
  /** What the transfer arrives on or leaves from. */
  readonly bank: AccountKind
  /** What the bank or network owes a tenant, or the tenant's cards owe it. */
  readonly clearing: AccountKind
  readonly unmatched: AccountKind
  readonly journals: Readonly<
    Record<'settled' | 'unmatched' | 'matched' | 'charged' | 'takenBack' | 'shared', JournalKind>
  >
  /** Lines that need no document, each with the account that they move. */
  readonly charges: Readonly<Partial<Record<BatchLine['kind'], AccountKind>>>
}

/** Of the whole, and of the shares of tenants in it. */
const TAKEN_BACK = { takenBack: 'settlement_taken_back', shared: 'taken_back_shared' } as const

/** Where the money of each rail's transfers is posted. */
export const RAIL_BOOKS: Readonly<Record<SettlementRail, RailBooks>> = {
  upi: {
    bank: 'bank',
    clearing: 'upi_clearing',
    unmatched: 'settlement_unmatched',
    journals: {
      settled: 'bank_settlement',
      unmatched: 'settlement_unmatched',
      matched: 'settlement_matched',
      charged: 'settlement_charged',
      ...TAKEN_BACK,
    },
    charges: { charge: 'rail_charges', charge_gst: 'gst_input' },
  },
  card: {
    bank: 'ppi_bank',
    clearing: 'card_settlement',
    unmatched: 'network_unmatched',
    journals: {
      settled: 'network_settlement',
      unmatched: 'network_settlement',
      matched: 'network_matched',
      charged: 'network_settlement',
      ...TAKEN_BACK,
    },
    charges: { charge: 'network_charges', charge_gst: 'gst_input', interchange: 'interchange_income' },
  },
}

/** Every account that transfers of a rail may move of these tenants. */
export const settlementAccounts = (rail: SettlementRail, tenants: Iterable<string>): Account[] => {
  const { bank, clearing, unmatched, charges } = RAIL_BOOKS[rail]
  const ofPlatform = [bank, unmatched, ...Object.values(charges)].map((kind) =>
    account(kind, PLATFORM_TENANT),
  )
  const ofTenants = [...tenants].flatMap((tenantId) => [account(bank, tenantId), account(clearing, tenantId)])
  return [...ofPlatform, ...ofTenants]
}

/** An amount between the bank and another account; above zero it is money to us. */
export interface Moved {
  readonly kind: AccountKind
  readonly amountPaise: bigint
  /** What it is of, where that is not the transfer: the journal that it takes back. */
  readonly objectId?: string
}

export interface PostingOf {
  readonly tenantId: string
  readonly rail: SettlementRail
  readonly as: keyof RailBooks['journals']
  readonly valueDate: string
  /** The transfer. */
  readonly batchId: string
  readonly at: Date
  readonly transferId: () => string
  readonly reference?: string
}

/**
 * One journal of what a transfer moved: what came in and what went out of each account is one leg each. `undefined` where
 * nothing moved.
 */
export function settlementPosting(of: PostingOf, moved: readonly Moved[]): Journal | undefined {
  const { tenantId, rail, as, valueDate, batchId, at, transferId, reference = null } = of
  const { bank, journals } = RAIL_BOOKS[rail]
  const kind = journals[as]
  const sums = new Map<string, Moved>()
  for (const each of moved) {
    const key = `${each.kind} ${each.amountPaise < 0n ? '-' : '+'} ${each.objectId}`
    sums.set(key, { ...each, amountPaise: (sums.get(key)?.amountPaise ?? 0n) + each.amountPaise })
  }
  const transfers = [...sums.values()]
    .filter(({ amountPaise }) => amountPaise !== 0n)
    .map(({ kind: otherKind, amountPaise, objectId = batchId }) => {
      const other = accountId(otherKind, tenantId)
      const [debit, credit] =
        amountPaise > 0n ? [accountId(bank, tenantId), other] : [other, accountId(bank, tenantId)]
      return {
        transferId: transferId(),
        tenantId,
        kind: kind as LegKind,
        debitAccountId: debit,
        creditAccountId: credit,
        amountPaise: amountPaise < 0n ? -amountPaise : amountPaise,
        objectId,
        createdAt: at,
      }
    })
  if (transfers.length === 0) return undefined
  const first = required(transfers[0], 'a journal has a leg')
  invariant(first.transferId.startsWith('trf_'), 'the id of a transfer')
  return {
    tenantId,
    journalId: `jrn_${first.transferId.slice(4)}`,
    kind,
    effectiveDate: valueDate,
    reference,
    reverses: null,
    reason: null,
    at,
    transfers,
  }
}
