import type { Paise } from '@svc/kernel/money'
import { FileRejected } from './file-source.ts'
import type { SettlementRow } from './settlement-rows.ts'

const OTHERS_MAX = 1_000

/** One transfer of the bank. */
export interface Batch {
  readonly batchUtr: string
  readonly valueDate: string
  readonly lines: number
  readonly totalPaise: Paise
  /** As the file states it. */
  readonly netPaise: Paise | undefined
}

/** What a settlement file says beside payments: recognized, listed and not booked. */
export class SettlementSummary {
  readonly #batches = new Map<string, Batch>()
  readonly others: SettlementRow[] = []
  #notBooked = 0

  get notBooked(): number {
    return this.#notBooked
  }

  get batches(): readonly Batch[] {
    return [...this.#batches.values()]
  }

  add(row: SettlementRow): void {
    if (row.kind !== 'payment') {
      this.#notBooked++
      if (this.others.length < OTHERS_MAX) this.others.push(row)
    }
    const { amountPaise, batchUtr, netPaise, settledOn } = row
    if (batchUtr === undefined) return
    const batch = this.#batches.get(batchUtr)
    if (batch?.netPaise !== undefined && netPaise !== undefined && batch.netPaise !== netPaise)
      throw new FileRejected(
        `Line ${row.line} states another net amount of ${batchUtr} than the lines before`,
      )
    this.#batches.set(batchUtr, {
      batchUtr,
      valueDate: batch?.valueDate ?? settledOn,
      lines: (batch?.lines ?? 0) + 1,
      totalPaise: ((batch?.totalPaise ?? 0n) + amountPaise) as Paise,
      netPaise: batch?.netPaise ?? netPaise,
    })
  }
}
