import { Type } from 'typebox'
import { fail } from '../errors.ts'
import { statement } from '../platform/db/statement.ts'
import { query, succeed } from '../platform/http/operation.ts'
import { Cursor, LIMIT_DEFAULT, LIMIT_MAX, PageOf, page, readCursor } from '../platform/http/page.ts'
import { qrCodeLookup } from './get-qr-code.ts'
import { PAYMENT_COLUMNS, PaymentResponse, type PaymentRow, paymentToWire, toPayment } from './payment.ts'
import { QrCodeParams } from './qr-code.ts'

const LIST = statement<PaymentRow>(
  'payments_of_code',
  `select ${PAYMENT_COLUMNS} from payments p
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
  family: 'response_code',
  params: QrCodeParams,
  query: Type.Object(
    {
      limit: Type.Optional(
        Type.String({
          pattern: '^[0-9]{1,3}$',
          'x-rule': `must be a whole number from 1 to ${LIMIT_MAX}`,
          description: `Records a page, ${LIMIT_DEFAULT} by default, ${LIMIT_MAX} at most`,
        }),
      ),
      after: Type.Optional(Cursor),
    },
    { additionalProperties: false },
  ),
  result: PageOf(PaymentResponse),
  errors: ['qr_code_not_found', 'access_key_mismatch'],

  mount({ database, config }) {
    const find = qrCodeLookup(database)
    return async ({ caller: { tenantId }, params: { qrCodeId }, query }) => {
      const limit = query.limit === undefined ? LIMIT_DEFAULT : Number(query.limit)
      if (limit < 1 || limit > LIMIT_MAX)
        fail('validation_failed', { description: `limit: must be a whole number from 1 to ${LIMIT_MAX}` })
      const after = readCursor(query.after)
      if (!(await find(tenantId, qrCodeId))) fail('qr_code_not_found')
      const rows = await database.read([tenantId], (tx) =>
        tx.query(LIST, [tenantId, qrCodeId, after?.at, after?.id, limit + 1]),
      )
      const positionOf = (row: PaymentRow) => ({ at: row.created_at, id: row.payment_id })
      return {
        body: succeed(
          page(rows, limit, positionOf, (row) => paymentToWire(toPayment(row), config.BUSINESS_TIME_ZONE)),
        ),
      }
    }
  },
})
