import { correctedPaise } from '@svc/core/payments/payment'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { RowColumn } from '../http/list-csv.ts'
import type { ListedPayment } from './payment-resource.ts'

/** Amounts stand in every line, also where nothing was refunded. */
export const PAYMENT_COLUMNS: readonly RowColumn<ListedPayment>[] = [
  ['paymentId', ({ paymentId }) => paymentId],
  ['utr', ({ utr }) => utr],
  ['qrCodeId', ({ qrCodeId }) => qrCodeId],
  ['referenceNumber', ({ referenceNumber }) => referenceNumber],
  ['amount', ({ amountPaise }) => formatRupees(amountPaise)],
  ['status', ({ status }) => status],
  ['reason', ({ reason }) => reason],
  ['payerVpa', ({ payerVpa }) => payerVpa],
  ['createdOn', ({ createdAt }, timeZone) => rfc3339(createdAt, timeZone)],
  ['refundedOn', ({ refundedAt }, timeZone) => refundedAt && rfc3339(refundedAt, timeZone)],
  ['customParams', ({ customParams }) => customParams && JSON.stringify(customParams)],
  ['refundedAmount', ({ refundPaise }) => formatRupees(refundPaise)],
  ['adjustedAmount', (row) => (row.adjustedPaise === 0n ? '' : formatRupees(correctedPaise(row)))],
]
