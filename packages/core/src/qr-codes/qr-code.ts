import { paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import {
  bytes,
  flag,
  generated,
  instant,
  integer,
  json,
  nullable,
  paise,
  type RowOf,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import type { OutboxEvent } from '@svc/platform/outbox'
import { qrPng } from '@svc/upi-qr/qr-image'
import { Type } from 'typebox'

/** Which end a code came to. An expired code is closed once the rail's grace has passed. */
export type CloseReason = 'cancelled' | 'paid' | 'expired'

/** UPI QR codes of merchants (spec section 2.3). */
export const qrCodes = table('qr_codes', 'q', ['merchantId', 'qrCodeId'], {
  qrCodeId: text,
  merchantId: text,
  /** UPI transaction reference: by it a credit finds its code (decision Q12). */
  tr: text,
  upiUri: text,
  qrName: nullable(text),
  multipleUse: flag,
  fixedAmount: flag,
  amountPaise: nullable(paise),
  /** Of a suggested amount, the least that may be paid; never in the specified record. */
  minimumPaise: nullable(paise),
  description: nullable(text),
  expiryAt: nullable(instant),
  customParams: nullable(json<Readonly<Record<string, string>>>()),
  status: textOf<'ACTIVE' | 'CANCELLED'>(),
  customerName: nullable(text),
  customerEmail: nullable(text),
  customerMobile: nullable(text),
  customerId: nullable(text),
  referenceNumber: nullable(text),
  /** True on the one code that a repeat of its reference number returns (decision Q9). */
  holdsReference: flag,
  /** SHA-256 of the request that created it. */
  requestHash: bytes,
  acceptedCount: generated(integer),
  acceptedPaise: generated(paise),
  /** The bank's reference of the last accepted payment. */
  lastUtr: generated(nullable(text)),
  /** Counts accepted payments and the closing, under the row lock: a receipt names it. */
  revision: generated(integer),
  /** Why it accepts no payment any more; `null` while it may. */
  closeReason: generated(nullable(textOf<CloseReason>())),
  closedAt: generated(nullable(instant)),
  /** What the merchant said with the cancellation; never in the specified record. */
  cancelReason: generated(nullable(text)),
  createdAt: instant,
  modifiedAt: instant,
})
export type QrCode = RowOf<typeof qrCodes>

/** Writes what may change of codes: locked before in this transaction. */
export const updateQrCodes = qrCodes.updates([
  'status',
  'holdsReference',
  'acceptedCount',
  'acceptedPaise',
  'lastUtr',
  'revision',
  'closeReason',
  'closedAt',
  'cancelReason',
  'modifiedAt',
])

/** Spec §2.3: every field is optional; those that have no value are left out. */
export const QrCodeResponse = Type.Object(
  {
    qrCodeId: Type.Optional(Type.String()),
    qrName: Type.Optional(Type.String()),
    multipleUse: Type.Optional(Type.Boolean()),
    fixedAmount: Type.Optional(Type.Boolean()),
    amount: Type.Optional(Type.Number({ description: 'Rupees' })),
    description: Type.Optional(Type.String({ 'x-personal': 'text' })),
    expiry: Type.Optional(Type.String({ description: 'RFC 3339 with milliseconds and zone offset' })),
    customParams: Type.Optional(Type.Record(Type.String(), Type.String(), { 'x-personal': 'text' })),
    status: Type.Optional(Type.Enum(['ACTIVE', 'CANCELLED'])),
    qrCodeBase64: Type.Optional(
      Type.String({ description: 'PNG in base64; returned by create and get only' }),
    ),
    createdOn: Type.Optional(Type.String({ description: 'RFC 3339 with milliseconds and zone offset' })),
    modifiedOn: Type.Optional(Type.String({ description: 'RFC 3339 with milliseconds and zone offset' })),
    customerName: Type.Optional(Type.String({ 'x-personal': 'name' })),
    customerEmail: Type.Optional(Type.String({ 'x-personal': 'address' })),
    customerMobile: Type.Optional(Type.String({ 'x-personal': 'mobile' })),
    customerId: Type.Optional(Type.String({ 'x-personal': 'text' })),
    referenceNumber: Type.Optional(Type.String()),
  },
  { title: 'QrCode', additionalProperties: false },
)

const Payments = Type.Object(
  { count: Type.Integer(), amount: Type.Number({ description: 'Rupees' }) },
  { additionalProperties: false, description: 'Accepted payments' },
)

const CancelReason = Type.Optional(
  Type.String({ description: 'The `reason` of the cancellation, if it had one', 'x-personal': 'text' }),
)

/** What every code has, of the fields that the specification leaves optional. */
const ALWAYS = ['qrCodeId', 'multipleUse', 'fixedAmount', 'status', 'createdOn', 'modifiedOn'] as const

/** The record of our own operations: the specified fields, and how the code stands (decision Q5). */
export const QrCodeRecord = Type.Object(
  {
    ...QrCodeResponse.properties,
    ...Type.Required(Type.Pick(QrCodeResponse, ALWAYS)).properties,
    minimumAmount: Type.Optional(
      Type.Number({ description: 'Rupees: the least that may be paid of a suggested amount' }),
    ),
    upiUri: Type.Optional(
      Type.String({
        description: 'What the image says, also an intent link; returned by create and get only',
      }),
    ),
    closeReason: Type.Optional(
      Type.Enum(['cancelled', 'paid', 'expired'], {
        description: 'Why it accepts no payment any more; absent while it may',
      }),
    ),
    cancelReason: CancelReason,
    payments: Payments,
  },
  { title: 'QrCodeRecord', additionalProperties: false },
)

/** What `qr_code.cancelled` carries. */
export const ClosedQrCode = Type.Object(
  {
    ...QrCodeResponse.properties,
    reason: Type.Enum(['cancelled', 'paid', 'expired'], { description: 'Which end the code came to' }),
    actor: Type.Enum(['merchant', 'operator', 'payment'], { description: 'Who ended it' }),
    cancelReason: CancelReason,
    payments: Payments,
  },
  { title: 'ClosedQrCode', additionalProperties: false },
)

export const QrCodeParams = Type.Object({
  qrCodeId: Type.String({ description: 'The id that the create operation returned' }),
})

const present = <T, W>(value: T | null, wire: (value: T) => W): W | undefined =>
  value === null ? undefined : wire(value)
const same = <T>(value: T | null): T | undefined => value ?? undefined

/** The record as callers see it; `undefined` fields are left out of the JSON text. */
export function toWire(code: QrCode, timeZone: string) {
  return {
    qrCodeId: code.qrCodeId,
    qrName: same(code.qrName),
    multipleUse: code.multipleUse,
    fixedAmount: code.fixedAmount,
    amount: present(code.amountPaise, paiseToWire),
    description: same(code.description),
    expiry: present(code.expiryAt, (at) => rfc3339(at, timeZone)),
    customParams: same(code.customParams),
    status: code.status,
    createdOn: rfc3339(code.createdAt, timeZone),
    modifiedOn: rfc3339(code.modifiedAt, timeZone),
    customerName: same(code.customerName),
    customerEmail: same(code.customerEmail),
    customerMobile: same(code.customerMobile),
    customerId: same(code.customerId),
    referenceNumber: same(code.referenceNumber),
  }
}

const paymentsToWire = ({ acceptedCount, acceptedPaise }: QrCode) => ({
  count: acceptedCount,
  amount: paiseToWire(acceptedPaise),
})

/** The record of our own operations. */
export const recordToWire = (code: QrCode, timeZone: string) => ({
  ...toWire(code, timeZone),
  minimumAmount: present(code.minimumPaise, paiseToWire),
  closeReason: same(code.closeReason),
  cancelReason: same(code.cancelReason),
  payments: paymentsToWire(code),
})

/** As `recordToWire`, with the image and what it says (decision Q1). */
export const toWireWithImage = (code: QrCode, timeZone: string, image = qrPng(code.upiUri)) => ({
  ...recordToWire(code, timeZone),
  upiUri: code.upiUri,
  qrCodeBase64: image.toString('base64'),
})

export const qrCodeEvent = (
  type: 'created' | 'expired',
  code: QrCode,
  eventId: string,
  timeZone: string,
  createdAt = code.modifiedAt,
): OutboxEvent => ({
  eventId,
  tenantId: code.merchantId,
  type: `qr_code.${type}`,
  objectId: code.qrCodeId,
  payload: toWire(code, timeZone),
  createdAt,
})

/** `qr_code.cancelled`: the code accepts no payment any more, and this is why. */
export const closedEvent = (
  code: QrCode,
  actor: 'merchant' | 'operator' | 'payment',
  eventId: string,
  timeZone: string,
): OutboxEvent => ({
  eventId,
  tenantId: code.merchantId,
  type: 'qr_code.cancelled',
  objectId: code.qrCodeId,
  payload: {
    ...toWire(code, timeZone),
    reason: code.closeReason,
    actor,
    cancelReason: same(code.cancelReason),
    payments: paymentsToWire(code),
  },
  createdAt: code.modifiedAt,
})

/** Whether its expiry has passed while it was active. */
export const isExpired = ({ expiryAt, status }: QrCode, now: Date): boolean =>
  status === 'ACTIVE' && expiryAt !== null && expiryAt <= now

/** The code with the `status` that callers see: an expired one as `EXPIRED_STATUS` says (decision Q4). */
export const withShownStatus = (code: QrCode, expiredStatus: QrCode['status'], now: Date): QrCode =>
  isExpired(code, now) ? { ...code, status: expiredStatus } : code

const ID = /^qr_[0-9a-z]{26}$/
/** Whether the id has the form of our ids; any other gets the response for a missing one (decision A12). */
export const looksLikeQrCodeId = (text: string): boolean => ID.test(text)
