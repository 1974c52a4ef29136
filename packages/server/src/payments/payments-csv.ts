import { CODE_FACTS, type CodeFacts, correctedPaise, type Payment } from '@svc/core/payments/payment'
import { type CsvValue, csvLine } from '@svc/kernel/csv'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Database } from '@svc/platform/db/database'
import { filterValues, type PaymentFilter, paymentPages } from './payment-filters.ts'

/** Rows fetched at a time: enough to keep both ends busy, little enough to stay small in memory. */
const PAGE_ROWS = 2_000

type Written =
  | 'paymentId'
  | 'utr'
  | 'qrCodeId'
  | 'amountPaise'
  | 'status'
  | 'reason'
  | 'payerVpa'
  | 'createdAt'
  | 'refundedAt'
  | 'refundPaise'
  | 'adjustedPaise'
interface Row extends Pick<Payment, Written>, CodeFacts {
  /** As text: exact to the microsecond. */
  readonly at: string
}

// Without the bank's notices, which may be long.
const PAGE = paymentPages<Row>(
  'payments_csv',
  `p.payment_id as "paymentId", p.utr, p.qr_code_id as "qrCodeId", p.amount_paise as "amountPaise", p.status, p.reason,
   p.payer_vpa as "payerVpa", p.created_at as "createdAt", p.refunded_at as "refundedAt",
   p.refund_paise as "refundPaise", p.adjusted_paise as "adjustedPaise", p.created_at::text as at, ${CODE_FACTS}`,
  (rows) => `${rows} order by p.created_at desc, p.payment_id desc`,
)

type Column = readonly [name: string, value: (row: Row, timeZone: string) => CsvValue]
const COLUMNS: readonly Column[] = [
  ['paymentId', ({ paymentId }) => paymentId],
  ['utr', ({ utr }) => utr],
  ['qrCodeId', ({ qrCodeId }) => qrCodeId],
  ['referenceNumber', ({ referenceNumber }) => referenceNumber],
  ['amount', ({ amountPaise }) => formatRupees(amountPaise)],
  ['status', ({ status }) => status],
  ['reason', ({ reason }) => reason],
  ['payerVpa', ({ payerVpa }) => payerVpa],
  ['createdOn', ({ createdAt }, timeZone) => rfc3339(createdAt, timeZone)],
  ['refundedOn', ({ refundedAt }, timeZone) => refundedAt && rfc3339(refundedAt, timeZone)],
  ['customParams', ({ customParams }) => customParams && JSON.stringify(customParams)],
  ['refundedAmount', ({ refundPaise }) => formatRupees(refundPaise)],
  ['adjustedAmount', (row) => (row.adjustedPaise === 0n ? '' : formatRupees(correctedPaise(row)))],
]

/**
 * Every payment of the filter as CSV, newest first: short statements by key, so that no transaction stays open for a
 * slow reader, and memory stays flat. The next page is read while one is sent.
 */
export async function* paymentsCsv(
  database: Database,
  timeZone: string,
  merchantId: string,
  filter: PaymentFilter,
): AsyncGenerator<string> {
  const read = (after: Row | undefined): Promise<Row[]> => {
    const at = after && { at: after.at, id: after.paymentId }
    const reading = database.read(
      [merchantId],
      (tx) => tx.query(PAGE(filter), filterValues(merchantId, filter, at, PAGE_ROWS)),
      'silence',
    )
    // Reported when it is awaited; a reader who hangs up meanwhile never awaits it.
    reading.catch(() => undefined)
    return reading
  }
  yield csvLine(COLUMNS.map(([name]) => name))
  for (let reading: Promise<Row[]> | undefined = read(undefined); reading; ) {
    const rows: Row[] = await reading
    reading = rows.length === PAGE_ROWS ? read(rows.at(-1)) : undefined
    if (rows.length > 0)
      yield rows.map((row) => csvLine(COLUMNS.map(([, value]) => value(row, timeZone)))).join('')
  }
}
