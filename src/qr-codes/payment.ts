import { Type } from 'typebox'
import { type Paise, paise, paiseToWire } from '../kernel/money.ts'
import { rfc3339 } from '../kernel/time.ts'

export type PaymentStatus = 'ACCEPTED' | 'REFUND_PENDING' | 'REFUNDED' | 'SUSPENSE'

/** Why a credit could not be taken. */
export type RefusalReason =
  | 'qr_code_cancelled'
  | 'qr_code_expired'
  | 'qr_code_used'
  | 'amount_mismatch'
  | 'amount_over_limit'
  | 'merchant_disabled'
  | 'unknown_code'

/** A credit that the rail told us of, whatever became of it (decision Q11). */
export interface Payment {
  readonly paymentId: string
  /** The merchant, or the house for a credit that fits no code. */
  readonly merchantId: string
  readonly qrCodeId: string | null
  /** The bank's reference: one names one credit, ever. */
  readonly utr: string
  /** The code's reference as the rail sent it. */
  readonly tr: string
  readonly amountPaise: Paise
  readonly payerVpa: string
  readonly status: PaymentStatus
  readonly reason: RefusalReason | null
  readonly createdAt: Date
  readonly refundedAt: Date | null
}

export interface PaymentRow {
  payment_id: string
  merchant_id: string
  qr_code_id: string | null
  utr: string
  tr: string
  amount_paise: bigint
  payer_vpa: string
  status: PaymentStatus
  reason: RefusalReason | null
  created_at: Date
  refunded_at: Date | null
}

export const PAYMENT_COLUMNS = `p.payment_id, p.merchant_id, p.qr_code_id, p.utr, p.tr, p.amount_paise, p.payer_vpa,
  p.status, p.reason, p.created_at, p.refunded_at`

export const toPayment = (row: PaymentRow): Payment => ({
  paymentId: row.payment_id,
  merchantId: row.merchant_id,
  qrCodeId: row.qr_code_id,
  utr: row.utr,
  tr: row.tr,
  amountPaise: paise(row.amount_paise),
  payerVpa: row.payer_vpa,
  status: row.status,
  reason: row.reason,
  createdAt: row.created_at,
  refundedAt: row.refunded_at,
})

export const PaymentResponse = Type.Object(
  {
    paymentId: Type.String(),
    utr: Type.String({ description: 'The bank’s reference' }),
    amount: Type.Number({ description: 'Rupees' }),
    payerVpa: Type.String(),
    status: Type.Enum(['ACCEPTED', 'REFUND_PENDING', 'REFUNDED', 'SUSPENSE']),
    reason: Type.Optional(
      Type.Enum(
        [
          'qr_code_cancelled',
          'qr_code_expired',
          'qr_code_used',
          'amount_mismatch',
          'amount_over_limit',
          'merchant_disabled',
          'unknown_code',
        ],
        { description: 'Why the credit was not accepted; absent when it was' },
      ),
    ),
    createdOn: Type.String({ description: 'RFC 3339 with milliseconds and zone offset' }),
    refundedOn: Type.Optional(Type.String({ description: 'When the rail confirmed the refund' })),
  },
  { title: 'Payment', additionalProperties: false },
)

export const paymentToWire = (payment: Payment, timeZone: string) => ({
  paymentId: payment.paymentId,
  utr: payment.utr,
  amount: paiseToWire(payment.amountPaise),
  payerVpa: payment.payerVpa,
  status: payment.status,
  reason: payment.reason ?? undefined,
  createdOn: rfc3339(payment.createdAt, timeZone),
  refundedOn: payment.refundedAt ? rfc3339(payment.refundedAt, timeZone) : undefined,
})
