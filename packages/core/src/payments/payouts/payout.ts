import { type Paise, paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import {
  day,
  flag,
  generated,
  instant,
  integer,
  nullable,
  paise,
  type RowOf,
  stamped,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import type { OutboxEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { type Account, account } from '../../ledger/accounts.ts'
import { ACCRUAL_ACCOUNTS } from '../fees/fee-accrual.ts'
import {
  OF_DOCUMENTS,
  OF_JOURNALS,
  PAYOUT_LINE_KINDS,
  type PayoutLineKind,
  TAKEN,
} from './payout-line-kinds.ts'

/** `PREPARED` waits for a second person. `FAILED`, also once it was paid, and `CANCELLED`: what it was made of is due again. */
export const PAYOUT_STATUSES = ['PREPARED', 'APPROVED', 'SENT', 'PAID', 'FAILED', 'CANCELLED'] as const
export type PayoutStatus = (typeof PAYOUT_STATUSES)[number]

/** What is paid out to merchants (decision Q15). */
export const payouts = table('payouts', 'y', ['merchantId', 'payoutId'], {
  merchantId: text,
  payoutId: text,
  businessDay: day,
  paymentCount: integer,
  paymentPaise: paise,
  adjustmentCount: integer,
  /** What is added to payments: opening balances, settled advances and corrections; may be below zero. */
  adjustmentPaise: paise,
  refundCount: integer,
  /** Refunds less those that failed after an earlier payout had deducted them. */
  refundPaise: paise,
  /** The part of them that was advanced to the merchant. */
  advancePaise: paise,
  feePaise: paise,
  cgstPaise: paise,
  sgstPaise: paise,
  igstPaise: paise,
  /** Of the adjustments: fees with their tax that were paid otherwise, or given up. */
  settledFeesPaise: paise,
  /** What the merchant gets: payments + adjustments − refunds − fees − tax. */
  amountPaise: paise,
  accountHolder: text,
  accountNumber: text,
  ifsc: text,
  /** Who set that account, and may not approve the payout; null: before this was recorded. */
  accountSetBy: nullable(text),
  status: textOf<PayoutStatus>(),
  preparedBy: text,
  approvedBy: generated(nullable(text)),
  /** The run that sent it to the bank. */
  runId: generated(nullable(text)),
  /** The bank's own reference of the payout. */
  utr: generated(nullable(text)),
  failureReason: generated(nullable(text)),
  /** The earliest payment or refund in it. */
  firstAt: instant,
  createdAt: instant,
  approvedAt: generated(nullable(instant)),
  sentAt: generated(nullable(instant)),
  completedAt: generated(nullable(instant)),
  /** Of one that was paid after all: when it had failed. */
  failedAt: generated(nullable(instant)),
  /** When the bank reported that it had paid a failed one whose money had been paid again, or was spent. */
  paidLateAt: generated(nullable(instant)),
  /** When the bank reported that what it had paid came back, such as from a closed account. */
  returnedAt: generated(nullable(instant)),
  /** The bank’s own reference of the return. */
  returnUtr: generated(nullable(text)),
})
export type Payout = RowOf<typeof payouts>

/** What a payout is made of. */
export const payoutLines = table('payout_lines', 'l', ['merchantId', 'payoutId', 'objectId', 'kind'], {
  merchantId: text,
  payoutId: text,
  /** The payment, refund, dispute, adjustment, or the journal of an opening balance or a settled advance. */
  objectId: text,
  kind: textOf<PayoutLineKind>(),
  occurredAt: instant,
  amountPaise: paise,
  advancePaise: paise,
  feePaise: paise,
  cgstPaise: paise,
  sgstPaise: paise,
  igstPaise: paise,
  released: generated(flag),
})
export type PayoutLine = RowOf<typeof payoutLines>

/** Where the money of a merchant goes. */
export const payoutDetails = table('payout_details', 'd', ['merchantId'], {
  merchantId: text,
  accountHolder: text,
  accountNumber: text,
  ifsc: text,
  /** GST state code of the merchant. */
  gstState: nullable(text),
  /** Who set it, as the audit names them: the database fills it. */
  setBy: generated(nullable(text)),
  updatedAt: stamped(instant),
})
export type PayoutDetails = RowOf<typeof payoutDetails>

export const merchantFees = table('merchant_fees', 'f', ['merchantId', 'validFrom', 'createdAt'], {
  merchantId: text,
  validFrom: day,
  basisPoints: integer,
  fixedPaise: paise,
  createdAt: instant,
  /** Payments that were accepted before it are charged by an earlier one; `null`: it holds for all of its days. */
  chargesFrom: generated(nullable(instant)),
})
export type MerchantFee = RowOf<typeof merchantFees>

const rupees = (description: string) => Type.Number({ description: `Rupees: ${description}` })

/** Every payment before it is in a payout that stands. */
export const payoutPositions = table('payout_positions', 'o', ['merchantId'], {
  merchantId: text,
  dueFrom: instant,
  /** Fees of every payment before it are entered; null: it is not known. */
  accruedTo: generated(nullable(instant)),
})

export const PayoutRecord = Type.Object(
  {
    payoutId: Type.String(),
    businessDay: Type.String({
      description: 'Day in the business zone whose end it pays up to, `YYYY-MM-DD`',
    }),
    amount: rupees('what you get: payments and adjustments less refunds, fees and tax'),
    payments: Type.Object(
      { count: Type.Integer(), amount: rupees('payments in it') },
      { additionalProperties: false },
    ),
    adjustments: Type.Optional(
      Type.Object(
        {
          count: Type.Integer(),
          amount: rupees(
            'what is added to the payments, or below zero taken: the opening balance of another system, corrections of payments, advances repaid otherwise, fees given back',
          ),
        },
        { additionalProperties: false, description: 'Absent when there are none' },
      ),
    ),
    refunds: Type.Object(
      {
        count: Type.Integer(),
        amount: rupees('refunds in it, less those that failed after an earlier payout had deducted them'),
      },
      { additionalProperties: false },
    ),
    fees: rupees('fees of its payments'),
    tax: Type.Object(
      { cgst: rupees('central GST'), sgst: rupees('state GST'), igst: rupees('integrated GST') },
      { additionalProperties: false, description: 'GST on the fees' },
    ),
    account: Type.String({ description: 'The last four digits of the bank account' }),
    status: Type.Enum([...PAYOUT_STATUSES], {
      description:
        '`PREPARED` and `APPROVED` wait to be sent to the bank. `PAID`: the bank paid it; it fails all the same if its money comes back, see `returnedOn`. After `FAILED` or `CANCELLED` what it was made of is in a later payout',
    }),
    failureReason: Type.Optional(Type.String({ description: 'Why it failed or was cancelled' })),
    utr: Type.Optional(Type.String({ description: 'The bank’s own reference of the payout' })),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    sentOn: Type.Optional(Type.String({ description: 'When it was sent to the bank' })),
    completedOn: Type.Optional(Type.String({ description: 'When it was paid, failed or cancelled' })),
    returnedOn: Type.Optional(
      Type.String({
        description: 'Of a failed one that had been paid: when its money had come back to the bank',
      }),
    ),
  },
  { title: 'Payout', additionalProperties: false },
)

export const payoutToWire = (payout: Payout, timeZone: string) => ({
  payoutId: payout.payoutId,
  businessDay: payout.businessDay,
  amount: paiseToWire(payout.amountPaise),
  payments: { count: payout.paymentCount, amount: paiseToWire(payout.paymentPaise) },
  adjustments:
    payout.adjustmentCount === 0
      ? undefined
      : { count: payout.adjustmentCount, amount: paiseToWire(payout.adjustmentPaise) },
  refunds: { count: payout.refundCount, amount: paiseToWire(payout.refundPaise) },
  fees: paiseToWire(payout.feePaise),
  tax: {
    cgst: paiseToWire(payout.cgstPaise),
    sgst: paiseToWire(payout.sgstPaise),
    igst: paiseToWire(payout.igstPaise),
  },
  account: payout.accountNumber.slice(-4),
  status: payout.status,
  failureReason: payout.failureReason ?? undefined,
  utr: payout.utr ?? undefined,
  createdOn: rfc3339(payout.createdAt, timeZone),
  sentOn: payout.sentAt ? rfc3339(payout.sentAt, timeZone) : undefined,
  completedOn: payout.completedAt ? rfc3339(payout.completedAt, timeZone) : undefined,
  returnedOn: payout.returnedAt ? rfc3339(payout.returnedAt, timeZone) : undefined,
})

export const PayoutLineRecord = Type.Object(
  {
    kind: Type.Enum([...PAYOUT_LINE_KINDS], {
      description:
        '`refund_failed` and `dispute_won`: the amount, which an earlier payout had deducted, comes back. `opening_balance`: what was payable to you by the system before. `adjustment_up` and `adjustment_down`: a payment was corrected by a reference of the bank, which adds to what you get or takes from it. `advance_settled`: an advance for refunds or disputes, which a payout deducts, was repaid otherwise; `advance_reopened`: that was a mistake. `fees_settled`: fees with their tax, which a payout deducts, were paid otherwise or given up. `credit_note`: fees that are given back with their tax; `debit_note`: that was a mistake. `tds_certificate`: tax that you deducted on fees, by its certificate',
    }),
    paymentId: Type.Optional(Type.String({ description: 'Of a `payment`' })),
    refundId: Type.Optional(Type.String({ description: 'Of a `refund` or `refund_failed`' })),
    disputeId: Type.Optional(Type.String({ description: 'Of a `dispute` or `dispute_won`' })),
    adjustmentId: Type.Optional(Type.String({ description: 'Of an `adjustment_up` or `adjustment_down`' })),
    journalId: Type.Optional(
      Type.String({
        description: 'Of an `opening_balance`, `advance_settled`, `advance_reopened` or `fees_settled`',
      }),
    ),
    documentId: Type.Optional(
      Type.String({ description: 'Of a `credit_note` or `debit_note`: the tax document' }),
    ),
    certificateId: Type.Optional(Type.String({ description: 'Of a `tds_certificate`' })),
    occurredOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    amount: rupees('of the payment, refund, dispute, opening balance or correction'),
    isDeducted: Type.Boolean({ description: 'Whether the amount takes from what you get' }),
    fee: rupees('fee of the payment'),
    tax: Type.Object(
      { cgst: rupees('central GST'), sgst: rupees('state GST'), igst: rupees('integrated GST') },
      { additionalProperties: false, description: 'GST on the fee' },
    ),
  },
  { title: 'PayoutLine', additionalProperties: false },
)

export const payoutLineToWire = (line: PayoutLine, timeZone: string) => ({
  kind: line.kind,
  paymentId: line.kind === 'payment' ? line.objectId : undefined,
  refundId: line.kind === 'refund' || line.kind === 'refund_failed' ? line.objectId : undefined,
  disputeId: line.kind === 'dispute' || line.kind === 'dispute_won' ? line.objectId : undefined,
  adjustmentId: line.kind === 'adjustment_up' || line.kind === 'adjustment_down' ? line.objectId : undefined,
  journalId: OF_JOURNALS.has(line.kind) ? line.objectId : undefined,
  documentId: OF_DOCUMENTS.has(line.kind) ? line.objectId : undefined,
  certificateId: line.kind === 'tds_certificate' ? line.objectId : undefined,
  occurredOn: rfc3339(line.occurredAt, timeZone),
  amount: paiseToWire(line.amountPaise),
  isDeducted: TAKEN.has(line.kind),
  fee: paiseToWire(line.feePaise),
  tax: {
    cgst: paiseToWire(line.cgstPaise),
    sgst: paiseToWire(line.sgstPaise),
    igst: paiseToWire(line.igstPaise),
  },
})

const ID = /^pyo_[0-9a-z]{26}$/
/** Whether the id can exist; any other gets the response of a missing one (decision A12). */
export const looksLikePayoutId = (id: string): boolean => ID.test(id)

/** The event of a payout that the bank has paid, could not pay, or got back. */
export const payoutEvent = (payout: Payout, eventId: string, timeZone: string): OutboxEvent => ({
  eventId,
  tenantId: payout.merchantId,
  type: payout.status === 'PAID' ? 'payout.paid' : 'payout.failed',
  objectId: payout.payoutId,
  payload: payoutToWire(payout, timeZone),
  createdAt: payout.returnedAt ?? payout.completedAt ?? payout.createdAt,
})

/** Of these, the first payout of a merchant opens what it has not had from its beginning. */
const KINDS = ['payable', 'merchant_advances', ...ACCRUAL_ACCOUNTS, 'payouts_in_transit', 'bank'] as const
export type PayoutAccount = (typeof KINDS)[number] | 'payout_exceptions'

/** Every account that a payout may move. */
export const payoutAccounts = (merchantId: string): Account[] =>
  KINDS.map((kind) => account(kind, merchantId))

export const taxOf = ({
  cgstPaise,
  sgstPaise,
  igstPaise,
}: Pick<Payout, 'cgstPaise' | 'sgstPaise' | 'igstPaise'>) => (cgstPaise + sgstPaise + igstPaise) as Paise

/** Fees with their tax that a payout deducts, less those that were paid otherwise. */
export const feesDue = (payout: Payout): Paise =>
  (payout.feePaise + taxOf(payout) - payout.settledFeesPaise) as Paise
