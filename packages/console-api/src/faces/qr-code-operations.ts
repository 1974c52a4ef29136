import { createHash } from 'node:crypto'
import { fail } from '@svc/contract/errors'
import { cancelQrCode } from '@svc/core/qr-codes/cancel-qr-code'
import { createQrCode } from '@svc/core/qr-codes/create-qr-code'
import {
  type QrCode,
  QrCodeRecord,
  QrCodeResponse,
  toWire,
  toWireWithImage,
} from '@svc/core/qr-codes/qr-code'
import { findMerchant } from '@svc/core/tenants/merchant'
import { recordAudit } from '@svc/platform/audit'
import type { Database, Tx } from '@svc/platform/db/database'
import { Rupees } from '@svc/server/http/fields'
import { query } from '@svc/server/http/operation'
import { findRow, listOf, recordOf, type ShownBy, toRecord } from '@svc/server/http/resource'
import {
  CancelQrCodeRequest,
  CreateQrCodeRequest,
  createQrCodeOperation,
  readQrCodeRequest,
} from '@svc/server/qr-codes/qr-codes'
import { type ListedCode, qrCode } from '@svc/server/qr-codes/search-qr-codes'
import { payQrCode } from '@svc/server/sandbox/pay-qr-code'
import { Type } from 'typebox'
import { asOperator, auditOf, payloadOf } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam, record } from '../console-schema.ts'
import { keyedQuery, onceOnBehalf } from '../once.ts'

const TAG = 'QR codes'
const PATH = `${CONSOLE_API}/qr-codes`
const params = idParam('qrCodeId')

const QrCodeRow = recordOf(qrCode, 'operator')
const rowToWire = toRecord<ListedCode>(qrCode, 'operator')

async function findCode(tx: Tx, qrCodeId: string, shownBy?: ShownBy): Promise<ListedCode> {
  const scope = { reader: 'operator', ...(shownBy && { shownBy }) } as const
  return (await findRow<ListedCode>(tx, qrCode, scope, qrCodeId)) ?? fail('qr_code_not_found')
}

const merchantOf = async (database: Database, qrCodeId: string): Promise<string> =>
  (await database.operate((tx) => findCode(tx, qrCodeId))).merchantId

export const listQrCodes = listOf<ListedCode>(qrCode, {
  ...consoleOperation,
  id: 'console.listQrCodes',
  path: PATH,
  tag: TAG,
  summary: 'List QR codes of all merchants',
  permission: 'view',
})

export const showQrCode = query({
  ...consoleOperation,
  id: 'console.showQrCode',
  method: 'GET',
  path: `${PATH}/:qrCodeId`,
  tag: TAG,
  summary: 'Show QR code with image and UPI string',
  permission: 'view',
  params,
  result: record('QrCodeDetail', { qrCode: QrCodeRow }),
  errors: ['qr_code_not_found'],
  mount(services) {
    const timeZone = services.config.BUSINESS_TIME_ZONE
    return async ({ params: { qrCodeId } }) => {
      const row = await services.database.operate((tx) => findCode(tx, qrCodeId, services))
      return {
        body: JSON.stringify({ qrCode: { ...rowToWire(row, timeZone), ...toWireWithImage(row, timeZone) } }),
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
      const { merchantId, qrCode: wanted } = input.body
      const merchant = await asOperator(services, input, (tx) => findMerchant(tx, merchantId))
      if ((merchant ?? fail('merchant_not_found')).disabledAt) fail('tenant_disabled')
      return respond(
        { merchantId, request: readQrCodeRequest(wanted) },
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
  body: CancelQrCodeRequest,
  mayLackBody: true,
  result: QrCodeResponse,
  errors: ['qr_code_not_found'],
  mount(services) {
    const { run } = services.commands.open(cancelQrCode)
    return async (input) => {
      const { qrCodeId } = input.params
      const merchantId = await merchantOf(services.database, qrCodeId)
      const { code } = await run(
        { merchantId, qrCodeId, reason: input.body.reason, actor: 'operator' },
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
