import { fail } from '@svc/contract/errors'
import { PaymentResponse, paymentToWire } from '@svc/core/payments/payment'
import { QrCodeParams } from '@svc/core/qr-codes/qr-code'
import { query, succeed } from '../http/operation.ts'
import { PageOf, PageQuery } from '../http/page.ts'
import { readRows } from '../http/resource.ts'
import { qrCodeLookup } from '../qr-codes/get-qr-code.ts'
import { type ListedPayment, payment } from './payment-resource.ts'

/** Ours (decision Q1): what was paid to a code, refused credits and their refunds included; newest first. */
export const listPayments = query({
  id: 'listPayments',
  method: 'GET',
  path: '/api/v0/qr-code/:qrCodeId/payments',
  tag: 'QR codes',
  summary: 'List payments of a UPI QR code',
  auth: 'merchant',
  scope: 'payments:read',
  envelope: 'response_code',
  params: QrCodeParams,
  query: PageQuery,
  result: PageOf(PaymentResponse),
  errors: ['qr_code_not_found', 'access_key_mismatch'],

  mount({ database, config }) {
    const find = qrCodeLookup(database)
    return async ({ caller: { tenantId }, params: { qrCodeId }, query }) => {
      if (!(await find(tenantId, qrCodeId))) fail('qr_code_not_found')
      const scope = { reader: 'tenant', tenantId } as const
      const { data, next } = await database.read([tenantId], (tx) =>
        readRows<ListedPayment>(tx, payment, scope, { ...query, qrCodeId }),
      )
      const wire = (row: ListedPayment) => paymentToWire(row, config.BUSINESS_TIME_ZONE)
      return { body: succeed({ recordsCount: data.length, data: data.map(wire), next }) }
    }
  },
})
