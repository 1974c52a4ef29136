import type { Database, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { filterValues, type PaymentFilter, paymentPages } from './payment-filters.ts'

/** Rows fetched at a time: enough to keep both ends busy, little enough to stay small in memory. */
const PAGE_ROWS = 5_000

const COLUMNS =
  'paymentId,utr,qrCodeId,referenceNumber,amount,status,reason,payerVpa,createdOn,refundedOn,customParams,refundedAmount,adjustedAmount'

interface Page {
  readonly count: number
  readonly lines: string | null
  /** As text: exact to the microsecond. */
  readonly last_at: string | null
  readonly last_id: string | null
}

/** RFC 4180; with an apostrophe where a spreadsheet would take the text of others for a formula. */
const quoted = (sql: string) =>
  `coalesce('"' || case when ${sql} ~ '^[=+@\\t\\r-]' then '''' else '' end || replace(${sql}, '"', '""') || '"', '')`
const rupees = (sql: string) => `to_char(${sql} / 100.0, 'FM999999999999999990.00')`
const time = (sql: string) => `coalesce(to_char(${sql}, 'YYYY-MM-DD"T"HH24:MI:SS.MSTZH:TZM'), '')`

// The text is written where the rows are, and comes as one row for each page.
const PAGE = paymentPages<Page>(
  'payments_csv',
  `p.payment_id, p.created_at,
   p.payment_id || ',' || ${quoted('p.utr')} || ',' || coalesce(p.qr_code_id, '') || ','
     || ${quoted('q.reference_number')} || ',' || ${rupees('p.amount_paise')} || ','
     || p.status || ',' || coalesce(p.reason, '') || ',' || ${quoted('p.payer_vpa')} || ','
     || ${time('p.created_at')} || ',' || ${time('p.refunded_at')} || ',' || ${quoted('q.custom_params::text')}
     || ',' || ${rupees('p.refund_paise')} || ','
     || case when p.adjusted_paise = 0 then '' else ${rupees('(p.amount_paise + p.adjusted_paise)')} end || E'\\r\\n' as line`,
  (rows) => `select count(*)::int as count,
     string_agg(l.line, '' order by l.created_at desc, l.payment_id desc) as lines,
     (array_agg(l.created_at order by l.created_at, l.payment_id))[1]::text as last_at,
     (array_agg(l.payment_id order by l.created_at, l.payment_id))[1] as last_id
   from (${rows}) l`,
)
const IN_ZONE = statement('csv_time_zone', `select set_config('timezone', $1, true)`)

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
  const read = (after: Page | undefined): Promise<Page> => {
    const at = after && { at: after.last_at!, id: after.last_id! }
    const work = async (tx: Tx) => {
      const values = filterValues(merchantId, filter, at, PAGE_ROWS)
      const [, [page]] = await Promise.all([tx.query(IN_ZONE, [timeZone]), tx.query(PAGE(filter), values)])
      return page!
    }
    const reading = database.read([merchantId], work, 'silence')
    // Reported when it is awaited; a reader who hangs up meanwhile never awaits it.
    reading.catch(() => undefined)
    return reading
  }
  yield `${COLUMNS}\r\n`
  for (let reading: Promise<Page> | undefined = read(undefined); reading; ) {
    const page: Page = await reading
    reading = page.count === PAGE_ROWS ? read(page) : undefined
    if (page.lines) yield page.lines
  }
}
