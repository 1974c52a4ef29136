import { EMAIL_CHARS_MAX, EMAIL_PATTERN, MOBILE_PATTERN } from '@svc/contract/contact-fields'
import { fail } from '@svc/contract/errors'
import { cancelQrCode } from '@svc/core/qr-codes/cancel-qr-code'
import { createQrCode, EXPIRY_YEARS_MAX, type QrCodeRequest } from '@svc/core/qr-codes/create-qr-code'
import { outcomeHeaders } from '@svc/core/qr-codes/outcome'
import {
  QrCodeParams,
  QrCodeRecord,
  QrCodeResponse,
  toWire,
  toWireWithImage,
} from '@svc/core/qr-codes/qr-code'
import { type Static, Type } from 'typebox'
import { Instant, Rupees, readInstant, readRupees } from '../http/fields.ts'
import { ok, operation, tenantOperations } from '../http/operation.ts'

export const ofCodes = tenantOperations({ tag: 'QR codes', auth: 'merchant', envelope: 'response_code' })

/** Of operations that show one code. */
export const OUTCOME_HEADERS = { 'svc-outcome': 'SvcOutcome', 'svc-receipt': 'SvcReceipt' } as const

const text = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }))

export const CreateQrCodeRequest = Type.Object(
  {
    qrName: text(100, 'Shown to the payer as the note'),
    multipleUse: Type.Optional(Type.Boolean({ description: 'Default false: the code takes one payment' })),
    fixedAmount: Type.Optional(
      Type.Boolean({ description: 'Default false. True: `amount` is required and payments must match it' }),
    ),
    amount: Type.Optional(
      Rupees({
        minimum: 0.01,
        description: 'Rupees, at most two decimals. The fixed amount, or a suggestion',
      }),
    ),
    minimumAmount: Type.Optional(
      Rupees({
        minimum: 0.01,
        description: 'Rupees: the least that may be paid of an `amount` that is not fixed; 0.01 without it',
      }),
    ),
    description: text(255, 'For the merchant’s own use'),
    expiry: Type.Optional(
      Instant(`RFC 3339 with a zone; in the future, at most ${EXPIRY_YEARS_MAX} years ahead`),
    ),
    customParams: Type.Optional(
      // Not a `Type.Record`: its pattern for names passes over those with U+2028, whose values then go unchecked.
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        additionalProperties: Type.String({ maxLength: 256 }),
        maxProperties: 15,
        propertyNames: { minLength: 1, maxLength: 40 },
        description: 'At most 15 pairs; keys of 1 to 40 characters, values of at most 256',
      }),
    ),
    customerName: text(100, 'Name of the customer'),
    customerEmail: Type.Optional(
      Type.String({
        maxLength: EMAIL_CHARS_MAX,
        pattern: EMAIL_PATTERN,
        'x-rule': 'must be an e-mail address',
      }),
    ),
    customerMobile: Type.Optional(
      Type.String({ pattern: MOBILE_PATTERN, 'x-rule': 'must be exactly 10 digits' }),
    ),
    customerId: text(64, 'The merchant’s id of the customer'),
    referenceNumber: text(64, 'The merchant’s own reference: repeating it returns the same active code'),
  },
  { additionalProperties: false },
)

/** The request as the command has it: amounts in paise, dates as instants. */
export function readQrCodeRequest(body: Static<typeof CreateQrCodeRequest>): QrCodeRequest {
  const { amount, expiry, minimumAmount, ...rest } = body
  return {
    ...rest,
    amountPaise: readRupees('amount', amount),
    minimumPaise: readRupees('minimumAmount', minimumAmount),
    expiryAt: readInstant('expiry', expiry),
  }
}

/** Not in the specification (decision Q1). */
export const createQrCodeOperation = operation({
  ...ofCodes('qr_codes:write'),
  id: 'createQrCode',
  method: 'POST',
  path: '/api/v0/qr-code',
  summary: 'Create UPI QR code',
  description:
    'Returns the QR code with its image. Without an amount the payer enters one. The same `referenceNumber` with the same request, whatever its `expiry`, returns the same code while it is active.',
  body: CreateQrCodeRequest,
  result: QrCodeRecord,
  responseHeaders: OUTCOME_HEADERS,
  errors: ['mcc_not_allowed', 'reference_in_use', 'reference_paid'],
  run: createQrCode,
  args: ({ caller, body }) => ({ merchantId: caller.tenantId, request: readQrCodeRequest(body) }),
  reply: ({ code, isNew, create, now }, { timeZone, keyring }) => ({
    ...ok(toWireWithImage(code, timeZone, isNew ? create.image : undefined)),
    headers: outcomeHeaders(code, keyring, now),
  }),
})

export const CancelQrCodeRequest = Type.Object(
  {
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Why: returned as `cancelReason` by the event, get and search, not by this operation',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Spec section 4.2. */
export const cancelQrCodeOperation = operation({
  ...ofCodes('qr_codes:write'),
  id: 'cancelQrCode',
  method: 'PATCH',
  path: '/api/v0/qr-code/:qrCodeId/cancel',
  summary: 'Cancel UPI QR code',
  description:
    'A cancelled code accepts no payment: a credit that arrives later is recorded and refunded. Cancelling again returns the first response. The header `svc-outcome` says which end the code came to and what was paid through it, `svc-receipt` the same, signed. Send `{}` or no body at all. A client that cannot send PATCH, such as Java’s HttpURLConnection, sends POST with `X-HTTP-Method-Override: PATCH`.',
  developing: true,
  headers: {
    merchantAccessKey: 'The merchant’s access key; when sent, it must belong to the merchant of the token',
  },
  params: QrCodeParams,
  body: CancelQrCodeRequest,
  mayLackBody: true,
  result: QrCodeResponse,
  responseHeaders: OUTCOME_HEADERS,
  errors: ['qr_code_not_found', 'access_key_mismatch', 'qr_code_already_cancelled'],
  acceptsAccessKeyAlone: true,
  ignores: ['query'],
  run: cancelQrCode,
  args: ({ caller, params, body: { reason } }) => ({
    merchantId: caller.tenantId,
    qrCodeId: params.qrCodeId,
    reason,
  }),
  reply({ code, changed, now }, { config, timeZone, keyring }) {
    if (!changed && config.SECOND_CANCEL === 'conflict') fail('qr_code_already_cancelled')
    return { ...ok(toWire(code, timeZone)), headers: outcomeHeaders(code, keyring, now, !changed) }
  },
})
