import type pg from 'pg'
import { rfc3339, rupees } from './values.ts'

export interface QrCodeRow extends pg.QueryResultRow {
  readonly qr_code_id: string
  readonly merchant_id: string
  readonly tr: string
  readonly upi_uri: string
  readonly qr_name: string | null
  readonly multiple_use: boolean
  readonly fixed_amount: boolean
  readonly amount_paise: bigint | null
  readonly description: string | null
  readonly expiry_at: Date | null
  readonly custom_params: Record<string, string> | null
  readonly status: 'ACTIVE' | 'CANCELLED'
  readonly customer_name: string | null
  readonly customer_email: string | null
  readonly customer_mobile: string | null
  readonly customer_id: string | null
  readonly reference_number: string | null
  readonly holds_reference: boolean
  readonly request_hash: Buffer
  readonly accepted_count: number
  readonly accepted_paise: bigint
  readonly close_reason: string | null
  readonly created_at: Date
  readonly modified_at: Date
}

export const toWire = (code: QrCodeRow) => ({
  qrCodeId: code.qr_code_id,
  qrName: code.qr_name ?? undefined,
  multipleUse: code.multiple_use,
  fixedAmount: code.fixed_amount,
  amount: code.amount_paise === null ? undefined : rupees(code.amount_paise),
  description: code.description ?? undefined,
  expiry: code.expiry_at ? rfc3339(code.expiry_at) : undefined,
  customParams: code.custom_params ?? undefined,
  status: code.status,
  createdOn: rfc3339(code.created_at),
  modifiedOn: rfc3339(code.modified_at),
  customerName: code.customer_name ?? undefined,
  customerEmail: code.customer_email ?? undefined,
  customerMobile: code.customer_mobile ?? undefined,
  customerId: code.customer_id ?? undefined,
  referenceNumber: code.reference_number ?? undefined,
})

export const paymentsOf = (code: QrCodeRow) => ({
  count: code.accepted_count,
  amount: rupees(code.accepted_paise),
})

export const closedToWire = (code: QrCodeRow, actor: 'merchant' | 'payment') => ({
  ...toWire(code),
  reason: code.close_reason,
  actor,
  payments: paymentsOf(code),
})
