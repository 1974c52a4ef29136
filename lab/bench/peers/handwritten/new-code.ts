import { createHash } from 'node:crypto'
import { fail } from './failures.ts'
import type { QrCodeRow } from './qr-code.ts'
import { newId, paiseOf, rupees } from './values.ts'

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength })
export const CREATE_BODY = {
  type: 'object',
  additionalProperties: false,
  properties: {
    qrName: text(100),
    multipleUse: { type: 'boolean' },
    fixedAmount: { type: 'boolean' },
    amount: { type: 'number', minimum: 0.01 },
    description: text(255),
    expiry: { type: 'string', format: 'date-time' },
    customParams: {
      type: 'object',
      maxProperties: 15,
      propertyNames: { minLength: 1, maxLength: 40 },
      additionalProperties: { type: 'string', maxLength: 256 },
    },
    customerName: text(100),
    customerEmail: { ...text(254), pattern: '^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}$' },
    customerMobile: { type: 'string', pattern: '^[0-9]{10}$' },
    customerId: text(64),
    referenceNumber: text(64),
  },
}

export interface CreateRequest {
  readonly qrName?: string
  readonly multipleUse?: boolean
  readonly fixedAmount?: boolean
  readonly amount?: number
  readonly description?: string
  readonly expiry?: string
  readonly customParams?: Record<string, string>
  readonly customerName?: string
  readonly customerEmail?: string
  readonly customerMobile?: string
  readonly customerId?: string
  readonly referenceNumber?: string
}

const YEARS_MAX = 5

/** What the schema cannot say. */
export function requireConsistent({ fixedAmount, amount, expiry }: CreateRequest, now: Date): void {
  if (fixedAmount && amount === undefined)
    fail('validation_failed', 'amount: is required when fixedAmount is true')
  if (amount !== undefined && paiseOf(amount) === undefined)
    fail('validation_failed', 'amount: must have at most two decimals')
  const latest = new Date(now)
  latest.setUTCFullYear(latest.getUTCFullYear() + YEARS_MAX)
  // The schema has checked that it is a date.
  const expiryMs = expiry === undefined ? undefined : Date.parse(expiry)
  if (expiryMs !== undefined && (expiryMs <= now.getTime() || expiryMs > latest.getTime()))
    fail('validation_failed', 'expiry: must be in the future, at most 5 years ahead')
}

const encode = (value: string): string =>
  encodeURIComponent(value)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%40', '@')

interface Payee {
  readonly name: string
  readonly vpa: string
  readonly mcc: string
}

export function newCode(merchantId: string, request: CreateRequest, payee: Payee, now: Date): QrCodeRow {
  const { amount, expiry, multipleUse = false, qrName, ...rest } = request
  const tr = newId('svc').replace('_', '').toUpperCase()
  const amountPaise = amount === undefined ? null : (paiseOf(amount) ?? null)
  const parts = {
    pa: payee.vpa,
    pn: payee.name,
    mc: payee.mcc,
    tr,
    tn: qrName,
    am: amountPaise === null ? undefined : rupees(amountPaise).toFixed(2),
    mam: amountPaise === null || rest.fixedAmount ? undefined : '0.01',
    cu: 'INR',
    mode: multipleUse || amountPaise === null ? '01' : '15',
  }
  const query = Object.entries(parts).flatMap(([name, part]) =>
    part === undefined ? [] : [`${name}=${encode(part)}`],
  )
  return {
    qr_code_id: newId('qr'),
    merchant_id: merchantId,
    tr,
    upi_uri: `upi://pay?${query.join('&')}`,
    qr_name: qrName ?? null,
    multiple_use: multipleUse,
    fixed_amount: rest.fixedAmount ?? false,
    amount_paise: amountPaise,
    description: rest.description ?? null,
    expiry_at: expiry === undefined ? null : new Date(Date.parse(expiry)),
    custom_params: rest.customParams ?? null,
    status: 'ACTIVE',
    customer_name: rest.customerName ?? null,
    customer_email: rest.customerEmail ?? null,
    customer_mobile: rest.customerMobile ?? null,
    customer_id: rest.customerId ?? null,
    reference_number: rest.referenceNumber ?? null,
    holds_reference: rest.referenceNumber !== undefined,
    request_hash: createHash('sha256')
      .update(JSON.stringify({ ...request, expiry: undefined }))
      .digest(),
    accepted_count: 0,
    accepted_paise: 0n,
    close_reason: null,
    created_at: now,
    modified_at: now,
  }
}
