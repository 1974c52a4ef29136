import { FileRejected } from './file-source.ts'
import type { SettlementRow } from './settlement-rows.ts'

/** The transfers of a settlement file, as its first reading finds them. */
export class SettlementSummary {
  readonly #lines = new Map<string, number>()
  readonly #nets = new Map<string, bigint>()

  linesOf(batchUtr: string): number {
    return this.#lines.get(batchUtr) ?? 0
  }

  add({ batchUtr, netPaise, line }: SettlementRow): void {
    if (batchUtr === undefined) return
    this.#lines.set(batchUtr, this.linesOf(batchUtr) + 1)
    if (netPaise === undefined) return
    const before = this.#nets.get(batchUtr) ?? netPaise
    if (before !== netPaise)
      throw new FileRejected(`Line ${line} states another net amount of ${batchUtr} than the lines before`)
    this.#nets.set(batchUtr, netPaise)
  }
}
