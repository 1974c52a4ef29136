import { SettlementSummary } from '@svc/core/bank-files/settlement-summary'
import { importSettlement, type SettlementImport } from '@svc/core/payments/settlements/import-settlement'
import { recordBatch } from '@svc/core/payments/settlements/record-batch'
import type { FileLine } from '@svc/core/payments/settlements/settlement-line'
import { calendarDay } from '@svc/kernel/time'
import type { Commands } from '@svc/platform/command'

/** Records lines of a file of three columns, as the command line does. */
export function recordSettlement(
  commands: Commands,
  fileId: string,
  lines: readonly FileLine[],
): Promise<SettlementImport> {
  async function* rows() {
    for (const { utr, line, amountPaise, settledOn } of lines)
      yield {
        line,
        kind: 'payment' as const,
        reference: utr,
        amountPaise,
        settledOn,
        date: settledOn,
        note: undefined,
        batchUtr: undefined,
        valueDate: undefined,
        netPaise: undefined,
      }
  }
  const record = commands.open(recordBatch)
  return importSettlement(
    (batch) => record.run(batch),
    { rail: 'upi', fileId, summary: new SettlementSummary() },
    rows(),
  )
}

interface LineOfFile {
  readonly kind: string
  readonly reference?: string
  readonly amount: string
}

/** A settlement file of our own columns with one transfer of today. */
export function transferFile(batchUtr: string, lines: readonly LineOfFile[], netAmount = ''): Buffer {
  const day = calendarDay(new Date(), 'Asia/Kolkata')
  const rows = lines.map(({ kind, reference = '', amount }) =>
    [batchUtr, day, netAmount, kind, reference, amount, '', ''].join(','),
  )
  return Buffer.from(
    `${['batchUtr,valueDate,netAmount,kind,reference,amount,date,note', ...rows].join('\n')}\n`,
  )
}
