import { Type } from 'typebox'
import { paiseFromWire } from '../kernel/money.ts'
import { statement } from '../platform/db/statement.ts'
import { query, succeed } from '../platform/http/operation.ts'
import { Cursor, LIMIT_DEFAULT, LIMIT_MAX, PageOf, page, readCursor } from '../platform/http/page.ts'
import { QR_CODE_COLUMNS, QrCodeResponse, type QrCodeRow, toQrCode, toWire } from './qr-code.ts'

const instant = (description: string) =>
  Type.Optional(
    Type.String({ format: 'date-time', 'x-rule': 'must be an RFC 3339 date-time with a zone', description }),
  )
const rupees = (description: string) =>
  Type.Optional(
    Type.Number({
      minimum: 0,
      format: 'rupees',
      'x-rule': 'must be an amount in rupees with at most two decimals',
      description,
    }),
  )
const exact = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }))

const SearchRequest = Type.Object(
  {
    status: Type.Optional(Type.Enum(['ACTIVE', 'CANCELLED'])),
    createdFrom: instant('Created at this instant or later'),
    createdTo: instant('Created before this instant'),
    referenceNumber: exact(64),
    customerId: exact(64),
    customerName: exact(100),
    customerEmail: exact(254),
    customerMobile: exact(10),
    amountFrom: rupees('Amount in rupees, this or more'),
    amountTo: rupees('Amount in rupees, this or less'),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIMIT_MAX,
        description: `Records a page, ${LIMIT_DEFAULT} by default`,
      }),
    ),
    after: Type.Optional(Cursor),
  },
  { additionalProperties: false },
)

const SEARCH = statement<QrCodeRow>(
  'qr_codes_search',
  `select ${QR_CODE_COLUMNS} from qr_codes q
   where q.merchant_id = $1
     and ($2::text is null or q.status = $2)
     and ($3::timestamptz is null or q.created_at >= $3)
     and ($4::timestamptz is null or q.created_at < $4)
     and ($5::text is null or q.reference_number = $5)
     and ($6::text is null or q.customer_id = $6)
     and ($7::text is null or q.customer_name = $7)
     and ($8::text is null or q.customer_email = $8)
     and ($9::text is null or q.customer_mobile = $9)
     and ($10::bigint is null or q.amount_paise >= $10)
     and ($11::bigint is null or q.amount_paise <= $11)
     and ($12::timestamptz is null or (q.created_at, q.qr_code_id) < ($12, $13::text))
   order by q.created_at desc, q.qr_code_id desc limit $14`,
)

/** Ours (decision Q8): the merchant's codes, newest first. */
export const searchQrCodes = query({
  id: 'searchQrCodes',
  method: 'POST',
  path: '/api/v0/qr-code/search',
  tag: 'QR codes',
  summary: 'Search UPI QR codes',
  description:
    'All filters are optional and must all match. Newest first; pass `next` back as `after` for the next page. Images are left out.',
  auth: 'merchant',
  family: 'response_code',
  body: SearchRequest,
  result: PageOf(QrCodeResponse),
  errors: ['access_key_mismatch'],

  mount({ database, config }) {
    const paiseOf = (amount: number | undefined) => (amount === undefined ? null : paiseFromWire(amount))
    const dateOf = (text: string | undefined) => (text === undefined ? null : new Date(text))
    return async ({ caller: { tenantId }, body }) => {
      const limit = body.limit ?? LIMIT_DEFAULT
      const after = readCursor(body.after)
      const { status, referenceNumber, customerId, customerName, customerEmail, customerMobile } = body
      const filters = [status, dateOf(body.createdFrom), dateOf(body.createdTo), referenceNumber, customerId]
      filters.push(customerName, customerEmail, customerMobile)
      const amounts = [paiseOf(body.amountFrom), paiseOf(body.amountTo)]
      const rows = await database.read([tenantId], (tx) =>
        tx.query(SEARCH, [tenantId, ...filters, ...amounts, after?.at, after?.id, limit + 1]),
      )
      const positionOf = (row: QrCodeRow) => ({ at: row.created_at, id: row.qr_code_id })
      return {
        body: succeed(
          page(rows, limit, positionOf, (row) => toWire(toQrCode(row), config.BUSINESS_TIME_ZONE)),
        ),
      }
    }
  },
})
