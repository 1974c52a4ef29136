import type { Merchant } from './merchants.ts'
import { ensure, type HttpResponse } from './world.ts'

export interface QrCode {
  readonly qrCodeId: string
  readonly merchant: Merchant
  readonly multipleUse: boolean
  readonly fixedPaise: number | undefined
  readonly expiryMs: number | undefined
  readonly referenceNumber: string | undefined
  /** The transaction reference in the code; empty until it is read from the database. */
  tr: string
  /** Round in which a cancellation was first sent. */
  cancelSentIn: number | undefined
  /** The response to the first cancellation that was acknowledged, and its round. */
  cancelled: { readonly text: string; readonly round: number; readonly receipt: Receipt } | undefined
  /** References (UTR) of the payments that were accepted, by the responses. */
  readonly accepted: Set<string>
  /** Notices of credits for this code that the bank has prepared. */
  noticeCount: number
}

type Terms = Pick<QrCode, 'multipleUse' | 'fixedPaise' | 'expiryMs' | 'referenceNumber'>

/** A code that has just been created. */
export const newQrCode = (qrCodeId: string, merchant: Merchant, terms: Terms): QrCode => ({
  qrCodeId,
  merchant,
  ...terms,
  tr: '',
  cancelSentIn: undefined,
  cancelled: undefined,
  accepted: new Set(),
  noticeCount: 0,
})

/** What a receipt states: final for the code, whatever happens later. */
interface Receipt {
  readonly text: string
  readonly acceptedCount: number
}

export function receiptOf({ headers }: HttpResponse): Receipt {
  const text = Buffer.from(String(headers['svc-receipt']).split('.')[1] ?? '', 'base64url').toString()
  return { text, acceptedCount: JSON.parse(text || '{}').acceptedCount }
}

/** A receipt is never followed by a different one, nor by a payment that it does not count. */
export function ensureFinal(code: QrCode, { text, acceptedCount }: Receipt): void {
  const first = code.cancelled?.receipt.text ?? text
  ensure(first === text, () => `${describe(code)} has two receipts: ${first} then ${text}`)
  ensure(
    code.accepted.size <= acceptedCount,
    () => `${describe(code)}: ${code.accepted.size} payments accepted, its receipt says ${text}`,
  )
}

export const describe = ({ merchant, accepted, ...code }: QrCode): string =>
  JSON.stringify({ ...code, accepted: [...accepted].slice(0, 5), merchant: merchant.id })
