import { type Account, account } from './accounts.ts'
import type { AccountKind } from './chart-of-accounts.ts'

/** How the balance of an account ends outside. */
export const SETTLEMENT_OUTCOMES = ['SETTLED', 'WRITTEN_OFF'] as const
export type SettlementOutcome = (typeof SETTLEMENT_OUTCOMES)[number]

/** Accounts of a tenant that end outside: what is debited or credited for what was settled, and the kinds of the journals. */
export const SETTLEMENTS = {
  card_exceptions: {
    against: 'card_settlement',
    kinds: { SETTLED: 'exception_settled', WRITTEN_OFF: 'exception_written_off' },
  },
  payout_exceptions: {
    against: 'bank',
    kinds: { SETTLED: 'exception_settled', WRITTEN_OFF: 'exception_written_off' },
  },
  refund_exceptions: {
    against: 'bank',
    kinds: { SETTLED: 'exception_settled', WRITTEN_OFF: 'exception_written_off' },
  },
  merchant_advances: {
    against: 'bank',
    kinds: { SETTLED: 'advance_repaid', WRITTEN_OFF: 'advance_written_off' },
  },
} as const satisfies Partial<
  Record<AccountKind, { against: AccountKind; kinds: Record<SettlementOutcome, string> }>
>
export type SettledKind = keyof typeof SETTLEMENTS

export const SETTLED_KINDS = Object.keys(SETTLEMENTS) as readonly SettledKind[]
export const isSettledKind = (kind: string): kind is SettledKind => Object.hasOwn(SETTLEMENTS, kind)

export type Side = 'debit' | 'credit'

export interface Settlement {
  readonly tenantId: string
  readonly kind: SettledKind
  readonly outcome: SettlementOutcome
  /** The side on which the balance was when this was requested: debit, it is owed to us. */
  readonly side: Side
}

export interface OpenBalance {
  readonly side: Side
  readonly paise: bigint
}

/**
 * What is open of an account, whose balance is its credits less its debits. What a merchant has to its credit among its
 * advances is paid out to it: only what it owes ends outside.
 */
export function openOf(kind: SettledKind, balance: bigint): OpenBalance {
  if (balance <= 0n) return { side: 'debit', paise: 0n - balance }
  return kind === 'card_exceptions' ? { side: 'credit', paise: balance } : { side: 'debit', paise: 0n }
}

export const isFitting = (
  open: OpenBalance,
  { side, amountPaise }: { readonly side: Side; readonly amountPaise: bigint },
): boolean => side === open.side && amountPaise <= open.paise

/** Every account that it may move; what is written off is opened by the first one. */
export const settlementAccounts = ({ kind, tenantId }: Pick<Settlement, 'kind' | 'tenantId'>): Account[] =>
  [kind, SETTLEMENTS[kind].against, 'write_offs' as const].map((each) => account(each, tenantId))

/** How it is found by its reference, whatever its outcome was. */
export const settlementEntry = ({
  kind,
  reference,
  tenantId,
}: Pick<Settlement, 'kind' | 'tenantId'> & { readonly reference: string }) => ({
  tenantId,
  kinds: Object.values(SETTLEMENTS[kind].kinds),
  reference,
})
