import { formatRupees, type Paise } from '@svc/kernel/money'
import type { PreparedCommand } from '@svc/platform/db/batch'
import { bigint, day, instant, nullable, type RowOf, table, text, textOf } from '@svc/platform/db/table'
import type { AccountKind } from '../../ledger/chart-of-accounts.ts'

/**
 * `SWEEP`: fees and GST from the escrow of merchants to our account. `GST`: tax of a month to the tax office. `OWNER`: to
 * the owner; `CAPITAL`: from it. `ESCROW`: to the escrow of merchants. `TDS`: deducted tax that the tax office refunds.
 */
export const MOVEMENT_KINDS = ['SWEEP', 'GST', 'OWNER', 'CAPITAL', 'ESCROW', 'TDS'] as const
export type MovementKind = (typeof MOVEMENT_KINDS)[number]

/** Movements of our own money at the bank, the platform's (decision R26). */
export const ownFundsMovements = table('own_funds_movements', 'm', ['tenantId', 'movementId'], {
  tenantId: text,
  movementId: text,
  kind: textOf<MovementKind>(),
  /** The bank's reference, or that of the payment of tax; it names one movement. */
  reference: text,
  movedOn: day,
  /** Of a sweep: until which day fees, credit notes and charges count. */
  through: nullable(day),
  /** Of GST: the first day of the month of the return. */
  month: nullable(day),
  /** What the bank adds to the escrow of merchants, and to our account; below zero it takes it. */
  escrowPaise: bigint,
  ownFundsPaise: bigint,
  /** Of GST: the tax that is paid, in cash and from input credit. */
  taxPaise: bigint,
  /** The journal of the whole; shares of tenants are in journals of the same reference. */
  journalId: text,
  /** The journal that took the whole back. */
  reversedBy: nullable(text),
  createdAt: instant,
})
export type OwnFundsMovement = RowOf<typeof ownFundsMovements>

/** What of a movement is a tenant's, on its own account of that kind; below zero it goes back. */
export interface Share {
  readonly tenantId: string
  readonly account: AccountKind
  readonly paise: bigint
}

export const TAX_ACCOUNTS = ['output_cgst', 'output_sgst', 'output_igst'] as const
export type TaxAccount = (typeof TAX_ACCOUNTS)[number]

/** The journal of each, which the bank moves as a whole. */
export const KIND_OF_JOURNAL = {
  SWEEP: 'own_funds_swept',
  GST: 'gst_paid',
  OWNER: 'owner_paid',
  CAPITAL: 'owner_paid',
  ESCROW: 'escrow_paid',
  TDS: 'tds_refunded',
} as const satisfies Record<MovementKind, string>

/** How a kind of tax is paid. */
export interface TaxPaid {
  readonly account: TaxAccount
  readonly cashPaise: Paise
  /** From input credit. */
  readonly creditPaise: Paise
}

export interface MoveOwnFunds {
  readonly kind: MovementKind
  readonly reference: string
  readonly reason: string
  /** The day of the bank; by default today. */
  readonly movedOn?: string | undefined
  /** Of a sweep. */
  readonly through?: string | undefined
  /** Of GST, `YYYY-MM`. */
  readonly month?: string | undefined
  readonly taxes?: readonly TaxPaid[] | undefined
  /** Of what a person states the amount. */
  readonly amountPaise?: Paise | undefined
}

export interface PreparedMovement extends MoveOwnFunds, PreparedCommand {
  readonly movementId: string
  readonly newTransferId: () => string
  readonly shares: readonly Share[]
  /** What the escrow of merchants has. */
  readonly escrowPaise: bigint
  /** How many movements the shares reckon with. */
  readonly after: bigint
  readonly timeZone: string
}

/** Amounts as texts of rupees, so that no program rounds them. */
export const movementToWire = (movement: OwnFundsMovement, shares: readonly Share[]) => ({
  movementId: movement.movementId,
  kind: movement.kind,
  reference: movement.reference,
  date: movement.movedOn,
  through: movement.through,
  month: movement.month?.slice(0, 7) ?? null,
  ownFunds: formatRupees(movement.ownFundsPaise),
  escrow: formatRupees(movement.escrowPaise),
  tax: formatRupees(movement.taxPaise),
  journalId: movement.journalId,
  reversedBy: movement.reversedBy,
  shares: shares.map(({ tenantId, account, paise }) => ({ tenantId, account, amount: formatRupees(paise) })),
})
