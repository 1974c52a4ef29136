import { readFields } from './emv.ts'
import { UPI_PAY } from './upi-uri.ts'

/** What the text of a scanned code is. */
export type CodeKind =
  | 'upi-pay'
  | 'upi-mandate'
  | 'upi-other'
  | 'bharat-qr'
  | 'emv-qr'
  | 'app-link'
  | 'web-address'
  | 'other'

/** What people call it; nothing for a payment string and for what is unknown. */
export const KIND_NAMES: Readonly<Record<CodeKind, string | undefined>> = {
  'upi-pay': undefined,
  'upi-mandate': 'a UPI mandate, which authorizes later debits and pays nothing by itself',
  'upi-other': 'a UPI link of another kind than a payment',
  'bharat-qr': 'a BharatQR code',
  'emv-qr': 'an EMVCo merchant code of another country than India, which UPI apps do not pay',
  'app-link': 'a link for one app only; upi://pay? opens in each',
  'web-address': 'a web address, which no UPI app pays',
  other: undefined,
}

const APPS = /^(?:phonepe|paytmmp|paytm|tez|gpay|bhim|credpay|mobikwik|amazonpay|whatsapp|navi|kiwi):/i

/** Recognizes the text of a code by how it begins. */
export function kindOf(text: string): CodeKind {
  if (UPI_PAY.test(text)) return 'upi-pay'
  if (/^upi(?:global)?:\/\/mandate\b/i.test(text)) return 'upi-mandate'
  if (/^upi(?:global)?:/i.test(text)) return 'upi-other'
  if (APPS.test(text)) return 'app-link'
  if (/^https?:/i.test(text)) return 'web-address'
  // EMVCo merchant-presented mode, section 4.7.1: the payload format indicator comes first and is 01.
  if (!/^000201\d{4}/.test(text)) return 'other'
  const country = readFields(text).find(({ id }) => id === '58')?.value
  return country === undefined || country.toUpperCase() === 'IN' ? 'bharat-qr' : 'emv-qr'
}
