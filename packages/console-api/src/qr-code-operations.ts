import { createHash } from 'node:crypto'
import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { type Payment, PaymentResponse, payments, paymentToWire } from '@svc/core/payments/payment'
import { cancelQrCode } from '@svc/core/qr-codes/cancel-qr-code'
import { createQrCode } from '@svc/core/qr-codes/create-qr-code'
import {
  type QrCode,
  QrCodeRecord,
  QrCodeResponse,
  qrCodes,
  recordToWire,
  toWire,
  toWireWithImage,
} from '@svc/core/qr-codes/qr-code'
import { findMerchant } from '@svc/core/tenants/merchant'
import { paiseToWire } from '@svc/kernel/money'
import { recordAudit } from '@svc/platform/audit'
import type { Database, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { Rupees, readInstant } from '@svc/server/http/fields'
import { Filters, type ListPlan, readList } from '@svc/server/http/list'
import { query } from '@svc/server/http/operation'
import { CreateQrCodeRequest, createQrCodeOperation, readQrCodeRequest } from '@svc/server/qr-codes/qr-codes'
import { payQrCode } from '@svc/server/sandbox/pay-qr-code'
import { Type } from 'typebox'
import { asOperator, auditOf, payloadOf } from './as-operator.ts'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  createdRange,
  exact,
  idParam,
  listOf,
  listQuery,
  oneOf,
  record,
  text,
} from './console-schema.ts'
import { keyedQuery, onceOnBehalf } from './once.ts'
import { TimelineEntry, timelineOf } from './qr-code-timeline.ts'

const TAG = 'QR codes'
const PATH = `${CONSOLE_API}/qr-codes`
const params = idParam('qrCodeId')

const QrCodeRow = record('QrCodeRow', {
  qrCode: QrCodeRecord,
  merchantId: text(),
  merchantName: text(),
  tr: text('Reference by which credits find the code'),
  acceptedCount: Type.Integer({ description: 'Payments accepted' }),
  acceptedAmount: Type.Number({ description: 'Rupees' }),
  expired: Type.Boolean(),
})

type ListedCode = QrCode & { readonly merchantName: string }

const rowOf = (row: ListedCode, timeZone: string, now: number, code: object) => ({
  qrCode: code,
  merchantId: row.merchantId,
  merchantName: row.merchantName,
  tr: row.tr,
  acceptedCount: row.acceptedCount,
  acceptedAmount: paiseToWire(row.acceptedPaise),
  expired: row.status === 'ACTIVE' && row.expiryAt !== null && row.expiryAt.getTime() <= now,
})

const FIND = statement<ListedCode>(
  'console_qr_code',
  `select ${qrCodes.columns}, m.name as "merchantName" from qr_codes q join merchants m using (merchant_id)
   where q.qr_code_id = $1`,
)
const PAYMENTS_SHOWN = 100
const PAYMENTS = statement<Payment>(
  'console_payments_of_code',
  `select ${payments.columns} from payments p where p.merchant_id = $1 and p.qr_code_id = $2
   order by p.created_at desc, p.payment_id desc limit ${PAYMENTS_SHOWN + 1}`,
)

const findCode = async (tx: Tx, qrCodeId: string): Promise<ListedCode> =>
  (await tx.query(FIND, [qrCodeId]))[0] ?? fail('qr_code_not_found')

const merchantOf = async (database: Database, qrCodeId: string): Promise<string> =>
  (await database.operate((tx) => findCode(tx, qrCodeId))).merchantId

export const listQrCodes = query({
  ...consoleOperation,
  id: 'console.listQrCodes',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List QR codes of all merchants',
  permission: 'view',
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
          failField(name, 'not_allowed', 'can only be sent together with merchantId', 'query')
      const filters = new Filters()
        .add('q.merchant_id = ?', merchantId)
        .add('q.status = ?', status)
        .add('q.reference_number = ?', referenceNumber)
        .add('q.customer_id = ?', customerId)
        .created(
          'q.qr_code_id',
          'qr',
          readInstant('createdFrom', createdFrom),
          readInstant('createdTo', createdTo),
        )
      if (q !== undefined) filters.add(q.startsWith('qr_') ? 'q.qr_code_id = ?' : 'q.tr = ?', q)
      const byId = { sql: 'q.qr_code_id', type: 'text' } as const
      const plan: ListPlan = {
        columns: `${qrCodes.columns}, m.name as "merchantName"`,
        table: 'qr_codes q',
        alias: 'q',
        joins: 'join merchants m on m.merchant_id = q.merchant_id',
        filters,
        keys: merchantId === undefined ? [byId] : [{ sql: 'q.created_at', type: 'timestamptz' }, byId],
        descending: sort !== 'created',
      }
      const page = await database.report((tx) =>
        readList(tx, plan, query, (row: ListedCode) =>
          rowOf(row, timeZone, clock.of(row.merchantId).now(), recordToWire(row, timeZone)),
        ),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const showQrCode = query({
  ...consoleOperation,
  id: 'console.showQrCode',
  method: 'GET',
  path: `${PATH}/:qrCodeId`,
  tag: TAG,
  summary: 'Show QR code with image, UPI string, payments and timeline',
  permission: 'view',
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
        return { row, paid: await tx.query(PAYMENTS, [row.merchantId, qrCodeId]) }
      })
      const payments = paid.slice(0, PAYMENTS_SHOWN)
      return {
        body: JSON.stringify({
          row: rowOf(row, timeZone, clock.of(row.merchantId).now(), toWireWithImage(row, timeZone)),
          upiUri: row.upiUri,
          payments: payments.map((payment) => paymentToWire(payment, timeZone)),
          morePayments: paid.length > PAYMENTS_SHOWN,
          timeline: timelineOf(row, payments, new Date(clock.of(row.merchantId).now()), timeZone),
        }),
      }
    }
  },
})

export const createQrCodeInConsole = keyedQuery({
  ...consoleOperation,
  id: 'console.createQrCode',
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Create QR code for a merchant',
  description: '`qrCode` is what the merchant itself would send. Returns the record with the image.',
  permission: 'support',
  body: closed({ merchantId: Type.String({ maxLength: 128 }), qrCode: CreateQrCodeRequest }),
  result: QrCodeRecord,
  errors: ['merchant_not_found', 'tenant_disabled', ...createQrCodeOperation.errors],
  mount(services) {
    const { respond } = services.commands.open(createQrCode)
    const timeZone = services.config.BUSINESS_TIME_ZONE
    return async (input) => {
      const { merchantId, qrCode } = input.body
      const merchant = await asOperator(services, input, (tx) => findMerchant(tx, merchantId))
      if ((merchant ?? fail('merchant_not_found')).disabledAt) fail('tenant_disabled')
      return respond(
        { merchantId, request: readQrCodeRequest(qrCode) },
        {
          reply: ({ code, isNew, create }) => {
            const image = isNew ? create.image : undefined
            return { status: 200, body: JSON.stringify(toWireWithImage(code, timeZone, image)) }
          },
          ...onceOnBehalf(merchantId, { method: 'POST', path: PATH }, input, {
            action: 'qr_code.created',
            target: ({ code }: { code: QrCode }) => code.qrCodeId,
          }),
        },
      )
    }
  },
})

export const cancelQrCodeInConsole = query({
  ...consoleOperation,
  id: 'console.cancelQrCode',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:qrCodeId/cancel`,
  tag: TAG,
  summary: 'Cancel QR code',
  permission: 'support',
  params,
  result: QrCodeResponse,
  errors: ['qr_code_not_found'],
  mount(services) {
    const { run } = services.commands.open(cancelQrCode)
    return async (input) => {
      const { qrCodeId } = input.params
      const merchantId = await merchantOf(services.database, qrCodeId)
      const { code } = await run(
        { merchantId, qrCodeId, actor: 'operator' },
        auditOf(merchantId, input, { action: 'qr_code.cancelled', target: qrCodeId }),
      )
      return { body: JSON.stringify(toWire(code, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})

/** The payer's bank reference, the same for each request with one key: the rail accepts a credit once. */
const referenceOf = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) => {
  const key = headers['idempotency-key']
  if (typeof key !== 'string') return {}
  return { utr: `SBX${createHash('sha256').update(key).digest('hex').slice(0, 24)}`.toUpperCase() }
}

export const payQrCodeInConsole = keyedQuery({
  ...consoleOperation,
  id: 'console.payQrCode',
  method: 'POST',
  path: `${PATH}/:qrCodeId/pay`,
  tag: TAG,
  summary: 'Pay this code (sandbox)',
  permission: 'support',
  sandboxOnly: true,
  params,
  body: closed({
    amount: Type.Optional(
      Rupees({ minimum: 0.01, maximum: 1e10, description: 'Rupees; by default the amount in the code' }),
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
      const paid = await pay({ ...input, body: { ...input.body, ...referenceOf(input), qrCodeId } })
      await asOperator(services, input, async (tx) =>
        recordAudit(tx, [{ action: 'sandbox.paid', target: qrCodeId, tenantId: merchantId }]),
      )
      return { body: JSON.stringify(payloadOf(paid.body)) }
    }
  },
})
