import { Type } from 'typebox'
import { type Paise, paise, paiseToWire } from '../kernel/money.ts'
import { rfc3339 } from '../kernel/time.ts'
import type { Writes } from '../platform/db/database.ts'
import { columns, statement } from '../platform/db/statement.ts'
import type { OutboxEvent } from '../platform/outbox.ts'
import { qrPng } from './qr-image.ts'

/** A UPI QR code of a merchant (spec section 2.3). */
export interface QrCode {
  readonly qrCodeId: string
  readonly merchantId: string
  /** UPI transaction reference: by it a credit finds its code (decision Q12). */
  readonly tr: string
  readonly upiUri: string
  readonly qrName: string | null
  readonly multipleUse: boolean
  readonly fixedAmount: boolean
  readonly amountPaise: Paise | null
  readonly description: string | null
  readonly expiryAt: Date | null
  readonly customParams: Readonly<Record<string, string>> | null
  readonly status: 'ACTIVE' | 'CANCELLED'
  readonly customerName: string | null
  readonly customerEmail: string | null
  readonly customerMobile: string | null
  readonly customerId: string | null
  readonly referenceNumber: string | null
  /** True on the one code that a repeat of its reference number would answer (decision Q9). */
  readonly holdsReference: boolean
  /** SHA-256 of the request that made it. */
  readonly requestHash: Buffer
  readonly acceptedCount: number
  readonly acceptedPaise: Paise
  readonly createdAt: Date
  readonly modifiedAt: Date
}

/** Spec §2.3: every field is optional; those that have no value are left out. */
export const QrCodeResponse = Type.Object(
  {
    qrCodeId: Type.Optional(Type.String()),
    qrName: Type.Optional(Type.String()),
    multipleUse: Type.Optional(Type.Boolean()),
    fixedAmount: Type.Optional(Type.Boolean()),
    amount: Type.Optional(Type.Number({ description: 'Rupees' })),
    description: Type.Optional(Type.String()),
    expiry: Type.Optional(Type.String({ description: 'RFC 3339 with milliseconds and zone offset' })),
    customParams: Type.Optional(Type.Record(Type.String(), Type.String())),
    status: Type.Optional(Type.Enum(['ACTIVE', 'CANCELLED'])),
    qrCodeBase64: Type.Optional(
      Type.String({ description: 'PNG in base64; answered by create and get only' }),
    ),
    createdOn: Type.Optional(Type.String({ description: 'RFC 3339 with milliseconds and zone offset' })),
    modifiedOn: Type.Optional(Type.String({ description: 'RFC 3339 with milliseconds and zone offset' })),
    customerName: Type.Optional(Type.String()),
    customerEmail: Type.Optional(Type.String()),
    customerMobile: Type.Optional(Type.String()),
    customerId: Type.Optional(Type.String()),
    referenceNumber: Type.Optional(Type.String()),
  },
  { title: 'QrCode', additionalProperties: false },
)

export const QrCodeParams = Type.Object({
  qrCodeId: Type.String({ description: 'The id that the create operation answered' }),
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

/** As `toWire`, with the image (decision Q1). */
export const toWireWithImage = (code: QrCode, timeZone: string, image = qrPng(code.upiUri)) => ({
  ...toWire(code, timeZone),
  qrCodeBase64: image.toString('base64'),
})

export const qrCodeEvent = (
  type: 'created' | 'cancelled' | 'expired',
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

const ID = /^qr_[0-9a-z]{26}$/
/** Whether the id can be one of ours; any other is answered like a missing one (decision A12). */
export const looksLikeQrCodeId = (text: string): boolean => ID.test(text)

export interface QrCodeRow {
  qr_code_id: string
  merchant_id: string
  tr: string
  upi_uri: string
  qr_name: string | null
  multiple_use: boolean
  fixed_amount: boolean
  amount_paise: bigint | null
  description: string | null
  expiry_at: Date | null
  custom_params: Record<string, string> | null
  status: 'ACTIVE' | 'CANCELLED'
  customer_name: string | null
  customer_email: string | null
  customer_mobile: string | null
  customer_id: string | null
  reference_number: string | null
  holds_reference: boolean
  request_hash: Buffer
  accepted_count: number
  accepted_paise: bigint
  created_at: Date
  modified_at: Date
}

export const QR_CODE_COLUMNS = `q.qr_code_id, q.merchant_id, q.tr, q.upi_uri, q.qr_name, q.multiple_use, q.fixed_amount,
  q.amount_paise, q.description, q.expiry_at, q.custom_params, q.status, q.customer_name, q.customer_email,
  q.customer_mobile, q.customer_id, q.reference_number, q.holds_reference, q.request_hash, q.accepted_count,
  q.accepted_paise, q.created_at, q.modified_at`

export const toQrCode = (row: QrCodeRow): QrCode => ({
  qrCodeId: row.qr_code_id,
  merchantId: row.merchant_id,
  tr: row.tr,
  upiUri: row.upi_uri,
  qrName: row.qr_name,
  multipleUse: row.multiple_use,
  fixedAmount: row.fixed_amount,
  amountPaise: row.amount_paise === null ? null : paise(row.amount_paise),
  description: row.description,
  expiryAt: row.expiry_at,
  customParams: row.custom_params,
  status: row.status,
  customerName: row.customer_name,
  customerEmail: row.customer_email,
  customerMobile: row.customer_mobile,
  customerId: row.customer_id,
  referenceNumber: row.reference_number,
  holdsReference: row.holds_reference,
  requestHash: row.request_hash,
  acceptedCount: row.accepted_count,
  acceptedPaise: paise(row.accepted_paise),
  createdAt: row.created_at,
  modifiedAt: row.modified_at,
})

const UPDATE = statement(
  'qr_codes_update',
  `update qr_codes q set status = new.status, holds_reference = new.holds_reference,
     accepted_count = new.accepted_count, accepted_paise = new.accepted_paise, modified_at = new.modified_at
   from unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::integer[], $6::bigint[], $7::timestamptz[])
     as new (qr_code_id, merchant_id, status, holds_reference, accepted_count, accepted_paise, modified_at)
   where q.qr_code_id = new.qr_code_id and q.merchant_id = new.merchant_id`,
)

/** Writes what may change of codes: locked before in this transaction, each at most once in the list. */
export function updateQrCodes(tx: Writes, codes: readonly QrCode[]): void {
  if (codes.length === 0) return
  tx.write(
    UPDATE,
    columns(
      codes,
      (code) => code.qrCodeId,
      (code) => code.merchantId,
      (code) => code.status,
      (code) => code.holdsReference,
      (code) => code.acceptedCount,
      (code) => code.acceptedPaise,
      (code) => code.modifiedAt,
    ),
  )
}
