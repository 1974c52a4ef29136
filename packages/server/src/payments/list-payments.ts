import { fail } from '@svc/contract/errors'
import { type Payment, PaymentResponse, payments, paymentToWire } from '@svc/core/payments/payment'
import { QrCodeParams } from '@svc/core/qr-codes/qr-code'
import { statement } from '@svc/platform/db/statement'
import { query, succeed } from '../http/operation.ts'
import { PageOf, PageQuery, page, readPage } from '../http/page.ts'
import { qrCodeLookup } from '../qr-codes/get-qr-code.ts'

const LIST = statement<Payment>(
  'payments_of_code',
  `select ${payments.columns} from payments p
   where p.merchant_id = $1 and p.qr_code_id = $2
     and ($3::timestamptz is null or (p.created_at, p.payment_id) < ($3, $4::text))
   order by p.created_at desc, p.payment_id desc limit $5`,
)

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
      const { limit, after } = readPage(query)
      if (!(await find(tenantId, qrCodeId))) fail('qr_code_not_found')
      const rows = await database.read([tenantId], (tx) =>
        tx.query(LIST, [tenantId, qrCodeId, after?.at, after?.id, limit + 1]),
      )
      const positionOf = (payment: Payment) => ({ at: payment.createdAt, id: payment.paymentId })
      return {
        body: succeed(
          page(rows, limit, positionOf, (payment) => paymentToWire(payment, config.BUSINESS_TIME_ZONE)),
        ),
      }
    }
  },
})
