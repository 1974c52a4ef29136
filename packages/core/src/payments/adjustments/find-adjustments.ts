import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type PaymentAdjustment, paymentAdjustments } from './payment-adjustment.ts'

/** Adjustments of one payment that are shown. */
export const ADJUSTMENTS_SHOWN = 100

const OF_PAYMENT = statement<PaymentAdjustment>(
  'payment_adjustments_of',
  `select ${paymentAdjustments.columns} from payment_adjustments a
   where a.merchant_id = $1 and a.payment_id = $2 and ($3::timestamptz is null or a.created_at <= $3)
   order by a.created_at desc, a.adjustment_id desc limit ${ADJUSTMENTS_SHOWN}`,
)

/** The newest adjustments of a payment, until an instant. */
export const adjustmentsOf = (
  tx: Tx,
  { merchantId, paymentId }: { readonly merchantId: string; readonly paymentId: string },
  until?: Date,
): Promise<PaymentAdjustment[]> => tx.query(OF_PAYMENT, [merchantId, paymentId, until ?? null])
