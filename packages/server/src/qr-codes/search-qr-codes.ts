import {
  isExpired,
  looksLikeQrCodeId,
  type QrCode,
  QrCodeRecord,
  qrCodes,
  recordToWire,
  withShownStatus,
} from '@svc/core/qr-codes/qr-code'
import { required } from '@svc/kernel/invariant'
import { Type } from 'typebox'
import { amountFilters, ofFew } from '../http/amount-filters.ts'
import { Rupees } from '../http/fields.ts'
import {
  choiceFilter,
  createdFilters,
  exactFilter,
  type Filter,
  idFilter,
  listOf,
  merchantNameOf,
  type Resource,
  type Scope,
} from '../http/resource.ts'
import { ofCodes } from './qr-codes.ts'

/** A code as it stands now, and for operators whose it is. */
export type ListedCode = QrCode & { readonly expired: boolean; readonly merchantName: string }

type Given = Readonly<Record<string, unknown>>

/** The indexes of these columns begin with the merchant. */
const ofCustomer = (name: string, column: string, maxLength: number): Filter => ({
  schema: exactFilter('Exactly this', maxLength),
  sql: ofFew(['merchantId'], name, (filters, value) => filters.add(`${column} = ?`, value)),
})
// Ids are in the order of time.
const { amountFrom, amountTo } = amountFilters('q.amount_paise', ['merchantId', 'createdFrom'])

/** The instant at which codes have expired or not, and the status that those show which have. */
function expiryOf({ shownBy, tenantId }: Scope, given: Given) {
  const { clock, config } = required(shownBy, 'lists of codes say when')
  const merchantId = tenantId ?? (given['merchantId'] as string | undefined)
  const now = merchantId === undefined ? clock.now() : clock.of(merchantId).now()
  return { now: new Date(now), expiredStatus: config.EXPIRED_STATUS }
}

const EXPIRED = `(q.status = 'ACTIVE' and q.expiry_at is not null and q.expiry_at <= ?)`

const EXPIRED_FILTER = 'True: active codes whose expiry has passed; false: all others'

/** UPI QR codes, as every reader sees and finds them. */
export const qrCode = {
  titles: { tenant: 'QrCodeRecord', operator: 'QrCodeRow' },
  record: { schema: QrCodeRecord, toWire: recordToWire },
  looksLikeId: looksLikeQrCodeId,
  from: { columns: qrCodes.columns, table: 'qr_codes q', alias: 'q' },
  operatorFrom: merchantNameOf('q'),
  tenant: 'q.merchant_id',
  keys: [{ sql: 'q.qr_code_id', type: 'text' }],
  tenantKeys: [
    { sql: 'q.created_at', type: 'timestamptz' },
    { sql: 'q.qr_code_id', type: 'text' },
  ],
  shown(code, { clock, config }) {
    const now = new Date(clock.of(code.merchantId).now())
    return { ...withShownStatus(code, config.EXPIRED_STATUS, now), expired: isExpired(code, now) }
  },
  fields: {
    merchantId: { schema: Type.String(), of: ({ merchantId }) => merchantId, operatorOnly: true },
    merchantName: { schema: Type.String(), of: ({ merchantName }) => merchantName, operatorOnly: true },
    tr: {
      schema: Type.String({ description: 'Reference by which credits find the code' }),
      of: ({ tr }) => tr,
      operatorOnly: true,
    },
    expired: {
      schema: Type.Boolean({ description: 'Whether its expiry has passed while it was active' }),
      of: ({ expired }) => expired,
      operatorOnly: true,
    },
  },
  filters: {
    q: {
      schema: exactFilter('Id of the code, or its `tr`'),
      sql: (filters, q) => filters.add(q.startsWith('qr_') ? 'q.qr_code_id = ?' : 'q.tr = ?', q),
      operatorOnly: true,
    },
    merchantId: { schema: idFilter('Of this merchant'), sql: 'q.merchant_id = ?', operatorOnly: true },
    status: {
      schema: choiceFilter(['ACTIVE', 'CANCELLED'], '`ACTIVE`: payable codes, unless `expired` is true'),
      sql(filters, status, given, scope) {
        const { now, expiredStatus } = expiryOf(scope, given)
        // With `expired` the filter names the status that is stored.
        if (status === 'ACTIVE') {
          filters.conditions.push(`q.status = 'ACTIVE'`)
          // Decision Q4: a search for ACTIVE codes lists those that can be paid.
          if (given['expired'] === undefined) filters.add(`not ${EXPIRED}`, now)
        } else if (expiredStatus === 'CANCELLED' && given['expired'] !== 'true')
          filters.add(`(q.status = 'CANCELLED' or ${EXPIRED})`, now)
        else filters.conditions.push(`q.status = 'CANCELLED'`)
      },
    },
    expired: {
      schema: choiceFilter(['true', 'false'], EXPIRED_FILTER),
      sql: (filters, expired, given, scope) =>
        filters.add(`${expired === 'true' ? '' : 'not '}${EXPIRED}`, expiryOf(scope, given).now),
    },
    ...createdFilters('qr', 'q.qr_code_id', 'q.created_at', 'merchantId'),
    referenceNumber: { schema: exactFilter('Exactly this'), sql: 'q.reference_number = ?' },
    customerId: ofCustomer('customerId', 'q.customer_id', 64),
    customerName: ofCustomer('customerName', 'q.customer_name', 100),
    customerEmail: ofCustomer('customerEmail', 'q.customer_email', 254),
    customerMobile: ofCustomer('customerMobile', 'q.customer_mobile', 10),
    amountFrom,
    amountTo,
  },
} satisfies Resource<ListedCode>

/** In a body, amounts are numbers and `expired` is true or false. */
const TYPED_FILTERS = {
  expired: Type.Optional(Type.Boolean({ description: EXPIRED_FILTER })),
  amountFrom: Type.Optional(Rupees({ minimum: 0, description: 'Amount in rupees, this or more' })),
  amountTo: Type.Optional(Rupees({ minimum: 0, description: 'Amount in rupees, this or less' })),
}

/** Ours (decision Q8): the merchant's codes, newest first. */
export const searchQrCodes = listOf<ListedCode>(qrCode, {
  ...ofCodes('qr_codes:read'),
  id: 'searchQrCodes',
  inBody: TYPED_FILTERS,
  path: '/api/v0/qr-code/search',
  summary: 'Search UPI QR codes',
  description:
    'All filters are optional and must all match. Newest first; pass `next` back as `after` for the next page. Images are left out.',
  errors: ['access_key_mismatch'],
})
