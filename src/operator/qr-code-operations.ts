import { Type } from 'typebox'
import { query } from '../platform/http/operation.ts'
import { createQrCode } from '../qr-codes/create-qr-code.ts'
import { PaymentResponse } from '../qr-codes/payment.ts'
import { QrCodeResponse } from '../qr-codes/qr-code.ts'
import { payQrCode } from '../sandbox/pay-qr-code.ts'
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
import { later } from './later.ts'

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
  mount: later,
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
  mount: later,
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
  mount: later,
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
  mount: later,
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
  mount: later,
})
