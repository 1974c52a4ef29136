import type { StatedLine } from '../../test/harness/bank-statements.ts'
import type { Chance } from '../simulation/chance.ts'
import { sum } from './charges.ts'

/** A line of a transfer; above zero it is money to us. */
export interface NetLine {
  readonly kind: 'payment' | 'refund' | 'charge' | 'charge_gst'
  readonly reference: string
  readonly paise: number
}

/** What goes otherwise than planned with a transfer of the bank. */
type Fate =
  | 'plain'
  /** Its lines come in two files. */
  | 'split'
  /** Its file comes after the statement that has it. */
  | 'delayed'

const WEIGHTS: Readonly<Record<Fate, number>> = { plain: 80, split: 12, delayed: 8 }

/** A transfer of the bank: payments less refunds and its charges. */
export interface Transfer {
  readonly batchUtr: string
  readonly lines: readonly NetLine[]
  readonly fate: Fate
}

export const netOf = ({ lines }: Transfer): number => sum(lines.map(({ paise }) => paise))

export const inRupees = (paise: number): string => (paise / 100).toFixed(2)

const reference = (bank: string, number: number): string => `${bank}N${String(number).padStart(9, '0')}`

/** The bank of the merchants' escrow: it nets, charges, splits, delays, and merges what was paid at several tills. */
export class Escrow {
  readonly #chance: Chance
  #references = 0

  constructor(chance: Chance) {
    this.#chance = chance
  }

  newReference(bank: 'HDFC' | 'UTIB' | 'SBIN'): string {
    return reference(bank, ++this.#references)
  }

  /** Transfers of so many lines at most that have these payments and refunds, in an order of the bank's own. */
  transfersOf(movements: readonly NetLine[], most: number): Transfer[] {
    const left = [...movements]
    for (let i = left.length - 1; i > 0; i--) {
      const other = this.#chance.whole(0, i)
      ;[left[i], left[other]] = [left[other]!, left[i]!]
    }
    const transfers: Transfer[] = []
    while (left.length > 0) {
      const lines = left.splice(-this.#chance.whole(Math.ceil(most / 2), most))
      transfers.push({
        batchUtr: this.newReference('HDFC'),
        lines: [...lines, ...this.#charges()],
        fate: this.#chance.weighted(WEIGHTS),
      })
    }
    return transfers
  }

  #charges(): NetLine[] {
    if (!this.#chance.happens(0.5)) return []
    const paise = -this.#chance.whole(1, 500) * 100
    return [
      { kind: 'charge', reference: '', paise },
      { kind: 'charge_gst', reference: '', paise: Math.round(paise * 0.18) },
    ]
  }
}

/** Rows of a settlement file: the lines of each transfer that `part` names. */
export function* settlementFile(
  transfers: readonly Transfer[],
  day: string,
  part: (transfer: Transfer) => readonly NetLine[],
  netOfFile: (transfer: Transfer) => number = netOf,
): Generator<string> {
  yield 'batchUtr,valueDate,netAmount,kind,reference,amount,date,note\n'
  for (const transfer of transfers)
    for (const { kind, reference: of, paise } of part(transfer))
      yield `${transfer.batchUtr},${day},${inRupees(netOfFile(transfer))},${kind},${of},${inRupees(paise)},${day},\n`
}

/** The line of a statement that a transfer is. */
export const lineOf = (transfer: Transfer, date: string): StatedLine => ({
  date,
  paise: netOf(transfer),
  reference: transfer.batchUtr,
  narration: 'UPI SETTLEMENT',
})
