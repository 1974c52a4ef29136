import type { FileFormat } from '@svc/core/bank-files/file-format'
import { FileRejected, type FileSource } from '@svc/core/bank-files/file-source'
import type { ReadingDays } from '@svc/core/bank-files/line-reader'
import { OPENING_FORMAT, readOpeningLine } from '@svc/core/bank-files/opening-rows'
import { problemText, type ReadLine, readBankFile } from '@svc/core/bank-files/read-bank-file'
import { responseReader } from '@svc/core/bank-files/response-rows'
import { SettlementReader } from '@svc/core/bank-files/settlement-rows'
import { SETTLEMENT_FORMATS } from '@svc/core/bank-files/shipped-formats'

export const DAYS: ReadingDays = { zone: 'Asia/Kolkata', today: '2026-11-27' }

export const sourceOf = (bytes: string | Uint8Array): FileSource => ({
  name: 'file.csv',
  async *bytes() {
    yield typeof bytes === 'string' ? Buffer.from(bytes) : bytes
  },
})

/** A sort of file, with a line that can be read. */
export interface FileKind {
  readonly name: string
  readonly format: FileFormat
  readonly read: ReadLine<object>
  /** Field by which rows are told apart. */
  readonly reference: string
  /** By column. */
  readonly row: Readonly<Record<string, string>>
  /** Columns that may say anything, and whose text is passed on or not read at all. */
  readonly free: readonly string[]
}

const settlement = (name: string, row: Readonly<Record<string, string>>, format: string): FileKind => {
  const of = SETTLEMENT_FORMATS[format]!
  const reader = new SettlementReader(of)
  return { name, format: of, read: (line) => reader.read(line), reference: 'reference', row, free: ['note'] }
}

const RESPONSE: FileFormat = {
  columns: { id: 'payoutId', status: 'status', utr: 'utr', reason: 'reason', amount: 'amount' },
  optional: ['utr', 'reason', 'amount'],
}

export const FILE_KINDS: readonly FileKind[] = [
  settlement(
    'settlement of three columns',
    { utr: '432198765009', amount: '249.50', date: '2026-11-26', status: 'SUCCESS', currency: 'INR' },
    'svc',
  ),
  settlement(
    'settlement of a transfer',
    {
      reference: '432198765009',
      amount: '249.50',
      date: '2026-11-26',
      kind: 'payment',
      batchUtr: 'HDFCN526001',
      valueDate: '2026-11-27',
      netAmount: '249.50',
      note: 'counter',
    },
    'svc',
  ),
  settlement(
    'razorpay',
    {
      entity_id: 'pay_29QQoUBi66xm2f',
      type: 'payment',
      debit: '0',
      credit: '24361',
      amount: '24950',
      currency: 'INR',
      fee: '589',
      tax: '90',
      settlement_id: 'setl_49KKoUBi66xm2f',
      settled_at: '1795689000',
    },
    'razorpay',
  ),
  settlement(
    'cashfree',
    {
      event_type: 'PAYMENT',
      sale_type: 'CREDIT',
      event_amount: '249.50',
      payment_utr: '432198765009',
      payment_service_charge: '4.99',
      payment_service_tax: '0.90',
      settlement_utr: 'HDFCN526001',
      settlement_date: '2026-11-27 10:00:00',
    },
    'cashfree',
  ),
  settlement(
    'phonepe',
    {
      PaymentType: 'PAYMENT',
      PhonePeReferenceId: 'P1705261123456789',
      Amount: '249.50',
      Fee: '-4.99',
      IGST: '-0.90',
      CGST: '0',
      SGST: '0',
      SettlementDate: '27-11-2026',
      BankReferenceNo: 'YESBN526001',
    },
    'phonepe',
  ),
  settlement(
    'paytm',
    {
      transactionId: '20221118111212800110168',
      transactionType: 'ACQUIRING',
      status: 'SUCCESS',
      amount: '249.50',
      commission: '4.99',
      gst: '0.90',
      utr: 'AXISN526001',
      settledDate: '2026-11-27T11:14:13+05:30',
    },
    'paytm',
  ),
  {
    name: 'response',
    format: RESPONSE,
    read: responseReader('payout', new Map([['PAID', 'done']])),
    reference: 'utr',
    row: { payoutId: 'pyo_1', status: 'PAID', utr: 'AXISN526001', reason: 'none', amount: '249.50' },
    free: ['payoutId', 'reason'],
  },
  {
    name: 'opening balances',
    format: OPENING_FORMAT,
    read: readOpeningLine,
    reference: 'account',
    row: { tenantId: 'mer_1', account: 'acc_1', amount: '249.50', effectiveDate: '2026-03-31' },
    free: ['tenantId'],
  },
]

export const csvOf = (row: Readonly<Record<string, string>>): string => {
  const line = (cells: readonly string[]) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')
  return `${line(Object.keys(row))}\n${line(Object.values(row))}\n`
}

/** What a file says, or why it does not: as text, to compare. */
export async function saidBy(kind: FileKind, bytes: string | Uint8Array): Promise<string> {
  const { format, read, reference } = kind
  try {
    const file = await readBankFile(sourceOf(bytes), { format, days: DAYS, read, reference })
    if (file.problems.length > 0) return `problem: ${file.problems.map(problemText).join('; ')}`
    const rows: object[] = []
    for await (const row of file.rows()) rows.push(row)
    return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
  } catch (error) {
    if (error instanceof FileRejected) return `rejected: ${error.message}`
    throw error
  }
}
