import { bigint, instant, integer, type NewRowOf, table, text, textOf } from '@svc/platform/db/table'
import type { Unit } from './chart-of-accounts.ts'
import type { LegKind } from './posting-rules.ts'

/** Legs of journals. */
export const ledgerTransfers = table('ledger_transfers', 't', ['tenantId', 'journalId', 'leg'], {
  transferId: text,
  tenantId: text,
  journalId: text,
  /** 1, 2, 3 … within the journal. */
  leg: integer,
  /** Why money or coins moved, such as `upi_credit`. */
  kind: textOf<LegKind>(),
  debitAccountId: text,
  creditAccountId: text,
  amount: bigint,
  unit: textOf<Unit>(),
  /** The payment, card or lot of coins that it belongs to. */
  objectId: text,
  createdAt: instant,
})
type Movement = Omit<NewRowOf<typeof ledgerTransfers>, 'journalId' | 'leg' | 'amount' | 'unit'>

/** One immutable movement: the debit account loses what the credit account gains. Corrected by a reversing journal only. */
export interface Transfer extends Movement {
  readonly amountPaise: bigint
}

/** The same of coins, between accounts of coins. */
export interface CoinTransfer extends Movement {
  readonly amountCoins: bigint
}

export type AnyTransfer = Transfer | CoinTransfer

export const amountOf = (transfer: AnyTransfer): bigint =>
  'amountCoins' in transfer ? transfer.amountCoins : transfer.amountPaise
export const unitOf = (transfer: AnyTransfer): Unit => ('amountCoins' in transfer ? 'COIN' : 'INR')
