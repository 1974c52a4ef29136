import { correctedPaise } from '@svc/core/payments/payment'
import { type CsvValue, csvLine } from '@svc/kernel/csv'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Database } from '@svc/platform/db/database'
import { LIMIT_MAX } from '../http/page.ts'
import { readRows, type Scope } from '../http/resource.ts'
import { type ListedPayment, payment } from './payment-resource.ts'

type Column = readonly [name: string, value: (row: ListedPayment, timeZone: string) => CsvValue]
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
  scope: Scope & { readonly tenantId: string },
  filter: Readonly<Record<string, string>>,
): AsyncGenerator<string> {
  const read = (after?: string) => {
    const wanted = { ...filter, limit: String(LIMIT_MAX), ...(after !== undefined && { after }) }
    const reading = database.read(
      [scope.tenantId],
      (tx) => readRows<ListedPayment>(tx, payment, scope, wanted),
      'silence',
    )
    // Reported when it is awaited; a reader who hangs up meanwhile never awaits it.
    reading.catch(() => undefined)
    return reading
  }
  yield csvLine(COLUMNS.map(([name]) => name))
  for (let reading: ReturnType<typeof read> | undefined = read(); reading; ) {
    const { data, next }: Awaited<ReturnType<typeof read>> = await reading
    reading = next === undefined ? undefined : read(next)
    if (data.length > 0)
      yield data.map((row) => csvLine(COLUMNS.map(([, value]) => value(row, timeZone)))).join('')
  }
}
