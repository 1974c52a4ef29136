import { fail } from '@svc/contract/errors'
import { PaymentResponse, paymentToWire } from '@svc/core/payments/payment'
import { QrCodeParams } from '@svc/core/qr-codes/qr-code'
import { findRow, listOf } from '../http/resource.ts'
import { ofCodes } from '../qr-codes/qr-codes.ts'
import { type ListedCode, qrCode } from '../qr-codes/search-qr-codes.ts'
import { type ListedPayment, payment } from './payment-resource.ts'

/** Without what the code says of itself. */
const paymentOfCode = {
  ...payment,
  titles: { tenant: 'Payment', operator: 'Payment' },
  record: { schema: PaymentResponse, toWire: paymentToWire },
  filters: { qrCodeId: payment.filters.qrCodeId },
}

/** Ours (decision Q1): what was paid to a code, refused credits and their refunds included; newest first. */
export const listPayments = listOf<ListedPayment>(paymentOfCode, {
  ...ofCodes('payments:read'),
  id: 'listPayments',
  path: '/api/v0/qr-code/:qrCodeId/payments',
  summary: 'List payments of a UPI QR code',
  params: QrCodeParams,
  errors: ['qr_code_not_found', 'access_key_mismatch'],
  async within(tx, scope, { qrCodeId = '' }) {
    if (!(await findRow<ListedCode>(tx, qrCode, scope, qrCodeId))) fail('qr_code_not_found')
  },
})
