import { FileRejected } from './file-source.ts'
import type { SettlementRow } from './settlement-rows.ts'

/** What lines of a file state of their transfer as a whole, whichever of them does. */
export type StatedTransfer = Partial<Pick<SettlementRow, 'netPaise' | 'valueDate'>>

const NAMES = { netPaise: 'net amount', valueDate: 'value date' } as const

/** The transfers of a settlement file, as its first reading finds them. */
export class SettlementSummary {
  readonly #lines = new Map<string, number>()
  readonly #stated = new Map<string, StatedTransfer>()

  linesOf(batchUtr: string): number {
    return this.#lines.get(batchUtr) ?? 0
  }

  statedOf(batchUtr: string | undefined): StatedTransfer {
    return this.#stated.get(batchUtr ?? '') ?? {}
  }

  add(row: SettlementRow): void {
    const { batchUtr, line } = row
    if (batchUtr === undefined) return
    this.#lines.set(batchUtr, this.linesOf(batchUtr) + 1)
    for (const field of ['netPaise', 'valueDate'] as const) {
      const before = this.statedOf(batchUtr)
      if (row[field] === undefined) continue
      if (before[field] !== undefined && before[field] !== row[field])
        throw new FileRejected(
          `Line ${line} states another ${NAMES[field]} of ${batchUtr} than the lines before`,
        )
      this.#stated.set(batchUtr, { ...before, [field]: row[field] })
    }
  }
}
