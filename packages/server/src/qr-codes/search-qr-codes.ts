import { type QrCode, QrCodeRecord, qrCodes, recordToWire, withShownStatus } from '@svc/core/qr-codes/qr-code'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { Instant, Rupees, readInstant, readRupees } from '../http/fields.ts'
import { query, succeed } from '../http/operation.ts'
import { PAGE_IN_BODY, PageOf, page, readPage } from '../http/page.ts'

const exact = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }))

const SearchRequest = Type.Object(
  {
    status: Type.Optional(
      Type.Enum(['ACTIVE', 'CANCELLED'], {
        description: '`ACTIVE`: payable codes, unless `expired` is true',
      }),
    ),
    expired: Type.Optional(
      Type.Boolean({ description: 'True: active codes whose expiry has passed; false: all others' }),
    ),
    createdFrom: Type.Optional(Instant('Created at this instant or later')),
    createdTo: Type.Optional(Instant('Created before this instant')),
    referenceNumber: exact(64),
    customerId: exact(64),
    customerName: exact(100),
    customerEmail: exact(254),
    customerMobile: exact(10),
    amountFrom: Type.Optional(Rupees({ minimum: 0, description: 'Amount in rupees, this or more' })),
    amountTo: Type.Optional(Rupees({ minimum: 0, description: 'Amount in rupees, this or less' })),
    ...PAGE_IN_BODY,
  },
  { additionalProperties: false },
)

const SEARCH = statement<QrCode>(
  'qr_codes_search',
  `select ${qrCodes.columns} from qr_codes q
   where q.merchant_id = $1
     and ($2::text is null
       or $2 = case when q.status = 'ACTIVE' and q.expiry_at <= $13 then $17 else q.status end)
     and ($3::timestamptz is null or q.created_at >= $3)
     and ($4::timestamptz is null or q.created_at < $4)
     and ($5::text is null or q.reference_number = $5)
     and ($6::text is null or q.customer_id = $6)
     and ($7::text is null or q.customer_name = $7)
     and ($8::text is null or q.customer_email = $8)
     and ($9::text is null or q.customer_mobile = $9)
     and ($10::bigint is null or q.amount_paise >= $10)
     and ($11::bigint is null or q.amount_paise <= $11)
     and ($12::boolean is null
       or $12 = (q.status = 'ACTIVE' and q.expiry_at is not null and q.expiry_at <= $13))
     and ($14::timestamptz is null or (q.created_at, q.qr_code_id) < ($14, $15::text))
   order by q.created_at desc, q.qr_code_id desc limit $16`,
)

/** Ours (decision Q8): the merchant's codes, newest first. */
export const searchQrCodes = query({
  id: 'searchQrCodes',
  method: 'POST',
  safe: true,
  path: '/api/v0/qr-code/search',
  tag: 'QR codes',
  summary: 'Search UPI QR codes',
  description:
    'All filters are optional and must all match. Newest first; pass `next` back as `after` for the next page. Images are left out.',
  auth: 'merchant',
  scope: 'qr_codes:read',
  envelope: 'response_code',
  body: SearchRequest,
  result: PageOf(QrCodeRecord),
  errors: ['access_key_mismatch'],

  mount({ clock, database, config }) {
    return async ({ caller: { tenantId }, body }) => {
      const { limit, after } = readPage(body)
      const { status, referenceNumber, customerId, customerName, customerEmail, customerMobile } = body
      const created = [readInstant('createdFrom', body.createdFrom), readInstant('createdTo', body.createdTo)]
      const filters = [status, ...created, referenceNumber, customerId]
      filters.push(customerName, customerEmail, customerMobile)
      const amounts = [readRupees('amountFrom', body.amountFrom), readRupees('amountTo', body.amountTo)]
      // Decision Q4: a search for ACTIVE codes lists those that can be paid.
      const expired = body.expired ?? (status === 'ACTIVE' ? false : undefined)
      const now = new Date(clock.of(tenantId).now())
      const expiry = [expired, now]
      // With `expired` the filter names the status that is stored.
      const expiredFilter = body.expired === true ? 'ACTIVE' : config.EXPIRED_STATUS
      const rows = await database.read([tenantId], (tx) =>
        tx.query(SEARCH, [
          tenantId,
          ...filters,
          ...amounts,
          ...expiry,
          after?.at,
          after?.id,
          limit + 1,
          expiredFilter,
        ]),
      )
      const shown = (code: QrCode) =>
        recordToWire(withShownStatus(code, config.EXPIRED_STATUS, now), config.BUSINESS_TIME_ZONE)
      const positionOf = (code: QrCode) => ({ at: code.createdAt, id: code.qrCodeId })
      return {
        body: succeed(page(rows, limit, positionOf, shown)),
      }
    }
  },
})
