import { Type } from 'typebox'
import { findMerchant } from '../access/merchant.ts'
import { fail } from '../errors.ts'
import { formatRupees } from '../kernel/money.ts'
import { rfc3339 } from '../kernel/time.ts'
import { recordAudit } from '../platform/audit.ts'
import type { Database, Tx } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'
import { query } from '../platform/http/operation.ts'
import { cancelQrCode } from '../qr-codes/cancel-qr-code.ts'
import { createQrCode } from '../qr-codes/create-qr-code.ts'
import {
  PAYMENT_COLUMNS,
  type Payment,
  PaymentResponse,
  type PaymentRow,
  paymentToWire,
  toPayment,
} from '../qr-codes/payment.ts'
import {
  QR_CODE_COLUMNS,
  type QrCode,
  QrCodeResponse,
  type QrCodeRow as StoredCode,
  toQrCode,
  toWire,
  toWireWithImage,
} from '../qr-codes/qr-code.ts'
import { payQrCode } from '../sandbox/pay-qr-code.ts'
import { asOperator, onBehalfOf, payloadOf } from './as-operator.ts'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  createdRange,
  exact,
  idParam,
  instant,
  listOf,
  listQuery,
  maybe,
  oneOf,
  record,
  text,
} from './console-schema.ts'
import { Filters, type ListPlan, readList } from './list.ts'

const TAG = 'QR codes'
const PATH = `${CONSOLE_API}/qr-codes`
const params = idParam('qrCodeId')

const QrCodeRow = record('QrCodeRow', {
  qrCode: QrCodeResponse,
  merchantId: text(),
  merchantName: text(),
  tr: text('Reference by which credits find the code'),
  acceptedCount: Type.Integer({ description: 'Payments accepted' }),
  acceptedAmount: Type.Number({ description: 'Rupees' }),
  expired: Type.Boolean(),
})

type ListedCode = StoredCode & { merchant_name: string }

const rowOf = (row: ListedCode, timeZone: string, now: number, code: object) => ({
  qrCode: code,
  merchantId: row.merchant_id,
  merchantName: row.merchant_name,
  tr: row.tr,
  acceptedCount: row.accepted_count,
  acceptedAmount: Number(row.accepted_paise) / 100,
  expired: row.status === 'ACTIVE' && row.expiry_at !== null && row.expiry_at.getTime() <= now,
})

const FIND = statement<ListedCode>(
  'console_qr_code',
  `select ${QR_CODE_COLUMNS}, m.name as merchant_name from qr_codes q join merchants m using (merchant_id)
   where q.qr_code_id = $1`,
)
const PAYMENTS_SHOWN = 100
const PAYMENTS = statement<PaymentRow>(
  'console_payments_of_code',
  `select ${PAYMENT_COLUMNS} from payments p where p.merchant_id = $1 and p.qr_code_id = $2
   order by p.created_at desc, p.payment_id desc limit ${PAYMENTS_SHOWN + 1}`,
)

const findCode = async (tx: Tx, qrCodeId: string): Promise<ListedCode> =>
  (await tx.query(FIND, [qrCodeId]))[0] ?? fail('qr_code_not_found')

const merchantOf = async (database: Database, qrCodeId: string): Promise<string> =>
  (await database.operate((tx) => findCode(tx, qrCodeId))).merchant_id

/** What became of a code, from the code and its payments. */
function timelineOf(code: QrCode, payments: readonly Payment[], now: Date, timeZone: string) {
  const entries: { at: Date; what: string; detail?: string; paymentId?: string }[] = [
    { at: code.createdAt, what: 'created' },
  ]
  for (const { paymentId, amountPaise, payerVpa, reason, createdAt, refundedAt } of payments) {
    const detail = `${formatRupees(amountPaise)} from ${payerVpa}${reason ? `: ${reason}` : ''}`
    entries.push({ at: createdAt, what: reason ? 'payment_refused' : 'payment_accepted', detail, paymentId })
    if (refundedAt)
      entries.push({ at: refundedAt, what: 'refunded', detail: formatRupees(amountPaise), paymentId })
  }
  if (code.status === 'CANCELLED') {
    const usedUp = !code.multipleUse && code.acceptedCount > 0
    entries.push({ at: code.modifiedAt, what: usedUp ? 'used_up' : 'cancelled' })
  } else if (code.expiryAt && code.expiryAt <= now) entries.push({ at: code.expiryAt, what: 'expired' })
  return entries
    .map((entry, i) => ({ entry, i }))
    .sort((a, b) => a.entry.at.getTime() - b.entry.at.getTime() || a.i - b.i)
    .map(({ entry: { at, ...rest } }) => ({ at: rfc3339(at, timeZone), ...rest }))
}

export const listQrCodes = query({
  ...consoleOperation,
  id: 'listQrCodes',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List QR codes of all merchants',
  role: 'viewer',
  query: listQuery(BY_TIME, {
    q: exact('Id of the code, or its `tr`', 64),
    merchantId: exact('Of this merchant'),
    status: oneOf(['ACTIVE', 'CANCELLED'], 'Only these'),
    referenceNumber: exact('The merchant’s own reference; needs `merchantId`'),
    customerId: exact('The merchant’s id of the customer; needs `merchantId`'),
    ...createdRange,
  }),
  result: listOf(QrCodeRow),
  errors: [],
  mount({ clock, config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const { q, createdFrom, createdTo, customerId, merchantId, referenceNumber, sort, status } = query
      for (const [name, value] of Object.entries({ referenceNumber, customerId }))
        if (value !== undefined && merchantId === undefined)
          fail('validation_failed', { description: `${name}: needs merchantId` })
      const filters = new Filters()
        .add('q.merchant_id = ?', merchantId)
        .add('q.status = ?', status)
        .add('q.reference_number = ?', referenceNumber)
        .add('q.customer_id = ?', customerId)
        .created('q.qr_code_id', 'qr', createdFrom, createdTo)
      if (q !== undefined) filters.add(q.startsWith('qr_') ? 'q.qr_code_id = ?' : 'q.tr = ?', q)
      const byId = { sql: 'q.qr_code_id', type: 'text' } as const
      const plan: ListPlan = {
        columns: `${QR_CODE_COLUMNS}, m.name as merchant_name`,
        table: 'qr_codes q',
        alias: 'q',
        joins: 'join merchants m on m.merchant_id = q.merchant_id',
        filters,
        keys: merchantId === undefined ? [byId] : [{ sql: 'q.created_at', type: 'timestamptz' }, byId],
        descending: sort !== 'created',
      }
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: ListedCode) =>
          rowOf(row, timeZone, clock.now(), toWire(toQrCode(row), timeZone)),
        ),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

const TimelineEntry = record('TimelineEntry', {
  at: instant,
  what: Type.Enum([
    'created',
    'payment_accepted',
    'payment_refused',
    'refunded',
    'cancelled',
    'used_up',
    'expired',
  ]),
  detail: maybe(),
  paymentId: maybe(),
})

export const showQrCode = query({
  ...consoleOperation,
  id: 'showQrCode',
  method: 'GET',
  path: `${PATH}/:qrCodeId`,
  tag: TAG,
  summary: 'Show QR code with image, UPI string, payments and timeline',
  role: 'viewer',
  params,
  result: record('QrCodeDetail', {
    row: QrCodeRow,
    upiUri: text('What the image says'),
    payments: Type.Array(PaymentResponse, { description: 'The newest 100' }),
    morePayments: Type.Boolean(),
    timeline: Type.Array(TimelineEntry, { description: 'Oldest first' }),
  }),
  errors: ['qr_code_not_found'],
  mount({ clock, config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { qrCodeId } }) => {
      const { row, paid } = await database.operate(async (tx) => {
        const row = await findCode(tx, qrCodeId)
        return { row, paid: await tx.query(PAYMENTS, [row.merchant_id, qrCodeId]) }
      })
      const code = toQrCode(row)
      const payments = paid.slice(0, PAYMENTS_SHOWN).map(toPayment)
      return {
        body: JSON.stringify({
          row: rowOf(row, timeZone, clock.now(), toWireWithImage(code, timeZone)),
          upiUri: code.upiUri,
          payments: payments.map((payment) => paymentToWire(payment, timeZone)),
          morePayments: paid.length > PAYMENTS_SHOWN,
          timeline: timelineOf(code, payments, new Date(clock.now()), timeZone),
        }),
      }
    }
  },
})

export const createQrCodeInConsole = query({
  ...consoleOperation,
  id: 'createQrCode',
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Create QR code for a merchant',
  description: '`qrCode` is what the merchant itself would send. Answers the record with the image.',
  role: 'operator',
  body: closed({ merchantId: Type.String({ maxLength: 128 }), qrCode: createQrCode.body! }),
  result: QrCodeResponse,
  errors: ['merchant_not_found', ...createQrCode.errors],
  mount(services) {
    const { submit } = createQrCode.open(services)
    return async (input) => {
      const { merchantId, qrCode } = input.body
      const merchant = await asOperator(services, input, (tx) => findMerchant(tx, merchantId))
      if (!merchant) fail('merchant_not_found')
      const caller = onBehalfOf(merchantId, input, {
        action: 'qr_code.created',
        target: ({ body }) => payloadOf<{ qrCodeId: string }>(body).qrCodeId,
      })
      const made = await submit({ ...input, caller, params: {}, query: {}, body: qrCode as never })
      return { body: JSON.stringify(payloadOf(made.body)) }
    }
  },
})

export const cancelQrCodeInConsole = query({
  ...consoleOperation,
  id: 'cancelQrCode',
  method: 'POST',
  path: `${PATH}/:qrCodeId/cancel`,
  tag: TAG,
  summary: 'Cancel QR code',
  role: 'operator',
  params,
  result: QrCodeResponse,
  errors: ['qr_code_not_found'],
  mount(services) {
    const { submit } = cancelQrCode.open(services)
    return async (input) => {
      const { qrCodeId } = input.params
      const merchantId = await merchantOf(services.database, qrCodeId)
      const caller = onBehalfOf(merchantId, input, { action: 'qr_code.cancelled', target: qrCodeId })
      const cancelled = await submit({ ...input, caller, params: { qrCodeId }, query: {}, body: {} })
      return { body: JSON.stringify(payloadOf(cancelled.body)) }
    }
  },
})

export const payQrCodeInConsole = query({
  ...consoleOperation,
  id: 'payQrCode',
  method: 'POST',
  path: `${PATH}/:qrCodeId/pay`,
  tag: TAG,
  summary: 'Pay this code (sandbox)',
  role: 'operator',
  sandboxOnly: true,
  params,
  body: closed({
    amount: Type.Optional(
      Type.Number({
        minimum: 0.01,
        maximum: 1e10,
        format: 'rupees',
        'x-rule': 'must be an amount in rupees with at most two decimals',
        description: 'Rupees; by default the amount in the code',
      }),
    ),
    payerVpa: Type.Optional(Type.String({ maxLength: 255, description: 'Default `payer@sandbox`' })),
  }),
  result: payQrCode.result,
  errors: payQrCode.errors,
  mount(services) {
    const pay = payQrCode.mount(services)
    return async (input) => {
      const { qrCodeId } = input.params
      const merchantId = await merchantOf(services.database, qrCodeId)
      const paid = await pay({ ...input, body: { ...input.body, qrCodeId } })
      await asOperator(services, input, async (tx) =>
        recordAudit(tx, [{ action: 'sandbox.paid', target: qrCodeId, tenantId: merchantId }]),
      )
      return { body: JSON.stringify(payloadOf(paid.body)) }
    }
  },
})
