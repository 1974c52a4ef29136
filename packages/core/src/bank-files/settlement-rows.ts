import { type Paise, paise } from '@svc/kernel/money'
import {
  canonicalWord,
  type FieldsOf,
  type FileFormat,
  LINE_KINDS,
  type LineKind,
  mayLackReference,
  moveOf,
  referenceFormOf,
  type SettlementRail,
  sideOf,
  sideProblem,
} from './file-format.ts'
import type { LineReader } from './line-reader.ts'

export const SETTLEMENT_FIELDS: FieldsOf = {
  required: ['reference', 'amount', 'date'],
  optional: ['kind', 'sign', 'debit', 'credit', 'batchUtr', 'valueDate', 'netAmount', 'note'],
}

/** What a line of a settlement file says of money; positive is money to us. */
export interface SettlementRow {
  readonly line: number
  readonly kind: LineKind
  /** Absent of charges that name none. */
  readonly reference: string | undefined
  readonly amountPaise: Paise
  /** The day of the transfer: its value date, or the day of the line. */
  readonly settledOn: string
  readonly valueDate: string | undefined
  /** The day of what the line is of, where the file has both. */
  readonly date: string | undefined
  readonly note: string | undefined
  readonly batchUtr: string | undefined
  /** Of the whole transfer. */
  readonly netPaise: Paise | undefined
}

/** Below zero where only the kind says the sign. */
const TAKEN: ReadonlySet<LineKind> = new Set(['charge', 'charge_gst'])

type Words<T> = ReadonlyMap<string, T>
const wordsOf = <T extends string>(lists: Readonly<Record<string, readonly string[]>>): Words<T> =>
  new Map(
    Object.entries(lists).flatMap(([value, words]) => words.map((word) => [canonicalWord(word), value as T])),
  )

/** Reads lines of settlement files as one format has them. */
export class SettlementReader {
  readonly #format: FileFormat
  readonly #rail: SettlementRail
  readonly #kinds: Words<LineKind | 'ignored'>
  readonly #signs: Words<'credit' | 'debit'>

  constructor(format: FileFormat, rail: SettlementRail = 'upi') {
    this.#format = format
    this.#rail = rail
    this.#kinds = wordsOf(format.kinds ?? Object.fromEntries(LINE_KINDS.map((kind) => [kind, [kind]])))
    this.#signs = wordsOf(format.signs ?? {})
  }

  /** What the line says: several things where it has charges beside its money, none where the format ignores it. */
  read(line: LineReader): readonly SettlementRow[] {
    const kind =
      line.stated('kind') === undefined ? this.#unstatedKind(line) : line.oneOf('kind', this.#kinds)
    if (kind === 'ignored') return []
    if (kind !== undefined && sideOf(this.#rail, kind) === undefined)
      line.problem(line.columnOf('kind'), `is ${kind}, which no transfer of this rail has; see --rail`)
    const amountPaise = this.#amount(line, kind)
    line.guard(moveOf(kind, amountPaise))
    const reference =
      kind !== undefined && mayLackReference(kind) && line.stated('reference') === undefined
        ? undefined
        : line.reference('reference', referenceFormOf(kind))
    const date = line.stated('date') === undefined && line.stated('valueDate') ? undefined : line.day('date')
    const valueDate = line.stated('valueDate') === undefined ? undefined : line.day('valueDate')
    const batchUtr =
      line.stated('batchUtr') === undefined ? undefined : line.reference('batchUtr', { digits: 'any' })
    const netPaise =
      line.stated('netAmount') === undefined ? undefined : line.amount('netAmount', { signed: true })
    const settledOn = valueDate ?? date
    if (amountPaise === undefined || settledOn === undefined || line.problems.length > 0) return []
    const of = { line: line.line, settledOn, valueDate, date, note: line.stated('note'), batchUtr, netPaise }
    const said = kind ?? (amountPaise < 0n ? 'debit' : 'payment')
    const own = { ...of, kind: said, reference, amountPaise }
    const charges = this.#charges(line, said).map((charge) => ({ ...of, ...charge, reference }))
    this.#check(line, said)
    return line.problems.length > 0 ? [] : [own, ...charges]
  }

  /** A file with a column of kinds states one in each line. */
  #unstatedKind(line: LineReader): undefined {
    const { sign = 'signed' } = this.#format
    if (sign === 'by-kind' || this.#format.kinds) line.problem(line.columnOf('kind'), 'must not be empty')
  }

  #amount(line: LineReader, kind: LineKind | undefined): Paise | undefined {
    const amount = this.#signed(line, kind)
    if (amount === undefined) return undefined
    const column = line.columnOf(this.#format.sign === 'debit-credit' ? 'credit' : 'amount')
    if (amount === 0n)
      return line.problem(column, 'must be rupees above 0, with at most two decimals: it is zero')
    const problem = kind && sideProblem(this.#rail, kind, amount)
    return problem === undefined ? amount : line.problem(column, problem)
  }

  #signed(line: LineReader, kind: LineKind | undefined): Paise | undefined {
    switch (this.#format.sign) {
      case 'debit-credit':
        return this.#debitOrCredit(line)
      case 'by-kind': {
        const amount = line.amount('amount', { signed: kind === 'adjustment' })
        return amount !== undefined && kind !== undefined && this.#isTaken(kind) ? paise(0n - amount) : amount
      }
      case 'by-column': {
        const sign = line.oneOf('sign', this.#signs)
        const amount = line.amount('amount')
        return amount !== undefined && sign === 'debit' ? paise(0n - amount) : sign && amount
      }
      default:
        return line.amount('amount', { signed: true })
    }
  }

  #isTaken(kind: LineKind): boolean {
    return TAKEN.has(kind) || sideOf(this.#rail, kind) === 'out'
  }

  #debitOrCredit(line: LineReader): Paise | undefined {
    const columns = ['credit', 'debit'] as const
    const [credit, debit] = columns.map((field) =>
      line.stated(field) === undefined ? 0n : line.amount(field),
    )
    if (credit === undefined || debit === undefined) return undefined
    if (credit > 0n && debit > 0n) return line.problem(line.columnOf('debit'), 'is stated beside a credit')
    return paise(credit - debit)
  }

  #charges(line: LineReader, of: LineKind): Pick<SettlementRow, 'kind' | 'amountPaise'>[] {
    return (this.#format.expand ?? []).flatMap(({ kind, column, less, sign, givenBack }) => {
      const [whole, part] = [line.amountIn(column), less === undefined ? 0n : line.amountIn(less)]
      if (whole === undefined || part === undefined || whole - part === 0n) return []
      const amount = sign === 'as-written' ? whole - part : part - whole
      if (amount < 0n || of !== 'payment' || givenBack) return [{ kind, amountPaise: paise(amount) }]
      const charge = less === undefined ? 'is a charge' : `less ${less} is a charge`
      return line.problem(column, `${charge} that a payment gives back; see givenBack of the format`) ?? []
    })
  }

  /** The equation of the format: what it does not hold for was read in the wrong columns. */
  #check(line: LineReader, kind: LineKind): void {
    const equation = this.#format.check?.[kind]
    if (equation === undefined) return
    const [left = '', right = ''] = equation.split('=')
    const [one, other] = [sumOf(left, line), sumOf(right, line)]
    if (one !== undefined && other !== undefined && one !== other)
      line.problem('the line', `does not add up: ${equation.trim()} does not hold`)
  }
}

/** `amount - fee`; a minus is a word of its own, since columns have dashes. */
function sumOf(expression: string, line: LineReader): bigint | undefined {
  let sum = 0n
  const terms = ` + ${expression.trim()}`.split(/\s([+-])\s/).slice(1)
  for (let i = 0; i < terms.length; i += 2) {
    const amount = line.amountIn(terms[i + 1]!.trim())
    if (amount === undefined) return undefined
    sum += terms[i] === '-' ? 0n - amount : amount
  }
  return sum
}
