import { formatRupees, paise } from '@svc/kernel/money'
import { Type } from 'typebox'
import { type Account, account } from './accounts.ts'
import type { AccountKind } from './chart-of-accounts.ts'

/** How the balance of an account ends outside. */
export const SETTLEMENT_OUTCOMES = ['SETTLED', 'WRITTEN_OFF'] as const
export type SettlementOutcome = (typeof SETTLEMENT_OUTCOMES)[number]

/** Who settles with us what is open. */
const PARTIES = ['bank', 'network', 'merchant', 'tax_office'] as const

interface Settling {
  readonly by: (typeof PARTIES)[number]
  /** What is debited or credited for what was settled; where there are several, the first one unless another is named. */
  readonly against: readonly AccountKind[]
  /** What of it is owed by us and given up by the other side; absent: it ends only where it is owed to us. */
  readonly givenUp?: AccountKind
  /** The kinds of the journals. */
  readonly kinds: Readonly<
    Record<SettlementOutcome, 'advance_repaid' | 'advance_written_off' | ExceptionKind>
  >
}
type ExceptionKind = 'exception_settled' | 'exception_written_off'

const EXCEPTION = { SETTLED: 'exception_settled', WRITTEN_OFF: 'exception_written_off' } as const

/** Accounts that end outside (decision R17). */
export const SETTLEMENTS = {
  card_exceptions: { by: 'network', against: ['card_settlement'], givenUp: 'write_offs', kinds: EXCEPTION },
  payout_exceptions: { by: 'bank', against: ['bank'], kinds: EXCEPTION },
  refund_exceptions: { by: 'bank', against: ['bank'], kinds: EXCEPTION },
  merchant_advances: {
    by: 'merchant',
    against: ['bank'],
    kinds: { SETTLED: 'advance_repaid', WRITTEN_OFF: 'advance_written_off' },
  },
  settlement_unmatched: { by: 'bank', against: ['bank'], givenUp: 'other_income', kinds: EXCEPTION },
  network_unmatched: { by: 'network', against: ['ppi_bank'], givenUp: 'other_income', kinds: EXCEPTION },
  bank_exceptions: {
    by: 'bank',
    against: ['bank', 'ppi_bank', 'own_funds'],
    givenUp: 'other_income',
    kinds: EXCEPTION,
  },
  accrued_fees: { by: 'merchant', against: ['bank'], kinds: EXCEPTION },
  tds_receivable: { by: 'tax_office', against: ['own_funds'], kinds: EXCEPTION },
} as const satisfies Partial<Record<AccountKind, Settling>>
/** Accounts that may be named, where there are several. */
export const SETTLED_AGAINST = SETTLEMENTS.bank_exceptions.against
export type SettledAgainst = (typeof SETTLED_AGAINST)[number]
const isSettledAgainst = (kinds: readonly AccountKind[]): kinds is typeof SETTLED_AGAINST =>
  kinds === SETTLED_AGAINST
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
  /** Of the accounts that it is settled against the one that moved; absent: the first one. */
  readonly against?: SettledAgainst | undefined
}

export interface OpenBalance {
  readonly side: Side
  readonly paise: bigint
}

const settlingOf = (kind: SettledKind): Settling => SETTLEMENTS[kind]

/**
 * What is open of an account, whose balance is its credits less its debits. What a merchant has to its credit, such as
 * among its advances, is paid out to it: only what it owes ends outside.
 */
export function openOf(kind: SettledKind, balance: bigint): OpenBalance {
  if (balance <= 0n) return { side: 'debit', paise: 0n - balance }
  return settlingOf(kind).givenUp ? { side: 'credit', paise: balance } : { side: 'debit', paise: 0n }
}

/** What is open of an account that ends outside, as operators see it. */
export const OpenBalanceRecord = Type.Object(
  {
    amount: Type.String({ description: 'Rupees with two decimals' }),
    owedTo: Type.Enum(['us', ...PARTIES]),
    by: Type.Enum([...PARTIES], { description: 'Who settles it with us' }),
    against: Type.Optional(
      Type.Array(Type.Enum([...SETTLED_AGAINST]), {
        description: 'Where it is settled against one of several accounts: which; the first if none is named',
      }),
    ),
  },
  {
    title: 'OpenBalance',
    additionalProperties: false,
    description: 'Of an account that ends outside: what is open of it, and who owes it',
  },
)

/** `undefined`: nothing of it is settled outside. */
export function openToWire(kind: AccountKind, balance: bigint) {
  if (!isSettledKind(kind)) return undefined
  const open = openOf(kind, balance)
  if (open.paise <= 0n) return undefined
  const { against, by } = settlingOf(kind)
  return {
    amount: formatRupees(paise(open.paise)),
    owedTo: open.side === 'debit' ? ('us' as const) : by,
    by,
    against: isSettledAgainst(against) ? against : undefined,
  }
}

export const isFitting = (
  open: OpenBalance,
  { side, amountPaise }: { readonly side: Side; readonly amountPaise: bigint },
): boolean => side === open.side && amountPaise <= open.paise

/** The other side of what was settled or given up; `undefined`: it is not settled against the account that is named. */
export function otherKind({
  against,
  kind,
  outcome,
  side,
}: Omit<Settlement, 'tenantId'>): AccountKind | undefined {
  const settling = settlingOf(kind)
  if (outcome === 'WRITTEN_OFF')
    return against !== undefined ? undefined : side === 'debit' ? 'write_offs' : settling.givenUp
  return settling.against.find((each) => against === undefined || each === against)
}

/** Every account that it may move; what is written off is opened by the first one. */
export const settlementAccounts = ({ kind, tenantId }: Pick<Settlement, 'kind' | 'tenantId'>): Account[] =>
  [
    ...new Set([kind, ...settlingOf(kind).against, 'write_offs' as const, settlingOf(kind).givenUp ?? kind]),
  ].map((each) => account(each, tenantId))

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
