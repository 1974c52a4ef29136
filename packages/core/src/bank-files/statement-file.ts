import { type Paise, paise } from '@svc/kernel/money'
import { readCamt053 } from './camt053.ts'
import { canonicalWord, type FieldsOf, type FileFormat, moveOf } from './file-format.ts'
import { FileRejected, type FileSource, inspectFile } from './file-source.ts'
import type { LineReader, ReadingDays } from './line-reader.ts'
import { readMt940 } from './mt940.ts'
import { problemText, readBankFile } from './read-bank-file.ts'
import {
  type StatementEntry,
  type StatementItem,
  type StatementRow,
  type StatementSummary,
  StatementWalk,
} from './statement-items.ts'
import { narrationIn, referenceIn } from './statement-values.ts'

export const STATEMENT_FIELDS: FieldsOf = {
  required: ['date', 'amount', 'balance'],
  optional: ['reference', 'narration', 'sign', 'debit', 'credit'],
}

/** Our own file of a bank statement: the balance is that after the line. */
const CSV: FileFormat = {
  columns: {
    date: 'date',
    amount: 'amount',
    reference: 'reference',
    narration: 'narration',
    balance: 'balance',
  },
  optional: ['reference', 'narration'],
}

/** By the name that `--format` accepts. */
export const STATEMENT_CSV_FORMATS: Readonly<Record<string, FileFormat>> = { csv: CSV }
export const STATEMENT_MESSAGES = ['mt940', 'camt053'] as const
export type StatementFormat = (typeof STATEMENT_MESSAGES)[number] | FileFormat

/** A statement that was read once, whole: its balances follow one another. */
export interface StatementFile extends StatementSummary {
  /** SHA-256 of its bytes, in hex. */
  readonly hash: string
  /** Its lines, once more from the start, in bounded memory. */
  readonly rows: () => AsyncGenerator<StatementRow>
}

/**
 * Reads a bank statement. Throws `FileRejected` for what is none, and for one of which a line cannot be read or a balance
 * does not follow: what a bank says of an account is read whole or not at all.
 */
export async function readStatement(
  source: FileSource,
  format: StatementFormat | undefined,
  days: ReadingDays,
): Promise<StatementFile> {
  const { hash, encoding } = await inspectFile(source)
  const chosen = format ?? (await messageFormat(source)) ?? CSV
  const items =
    chosen === 'mt940'
      ? () => readMt940(source, encoding, days)
      : chosen === 'camt053'
        ? () => readCamt053(source, encoding, days)
        : await csvItems(source, chosen, days)
  const walk = new StatementWalk()
  for await (const item of items()) walk.next(item)
  const rows = async function* () {
    const again = new StatementWalk()
    for await (const item of items()) {
      const row = again.next(item)
      if (row) yield row
    }
  }
  return { hash, ...walk.summary, rows }
}

/** By how it begins: XML and SWIFT messages look like nothing else. */
export async function messageFormat({
  bytes,
}: FileSource): Promise<(typeof STATEMENT_MESSAGES)[number] | undefined> {
  for await (const part of bytes()) {
    const start = Buffer.from(part).subarray(0, 512).toString('latin1').replaceAll('\0', '')
    if (/^[^\w\n]*<(?:\?xml|\w*:?Document)/.test(start)) return 'camt053'
    return /^(?:\{\d:|:20:)/m.test(start) ? 'mt940' : undefined
  }
  return undefined
}

async function csvItems(
  source: FileSource,
  format: FileFormat,
  days: ReadingDays,
): Promise<() => AsyncGenerator<StatementItem>> {
  const read = (line: LineReader) => readEntry(line, format)
  const file = await readBankFile(source, { format, days, read, reference: 'reference' })
  if (file.problems.length > 0) {
    const shown = file.problems.slice(0, PROBLEMS_SHOWN).map(problemText).join('\n')
    throw new FileRejected(`${file.unreadable} lines of ${source.name} cannot be read:\n${shown}`)
  }
  return file.rows
}
const PROBLEMS_SHOWN = 20

function readEntry(line: LineReader, format: FileFormat): readonly StatementEntry[] {
  const bookedOn = line.day('date')
  const amountPaise = readMoved(line, format)
  line.guard({ ...moveOf(undefined, amountPaise), isReturn: true })
  const balancePaise = line.amount('balance', { signed: true })
  const reference = referenceIn(line.anyReference('reference'))
  if (amountPaise === 0n) line.problem(line.columnOf('amount'), 'must not be zero')
  if (!bookedOn || !amountPaise || balancePaise === undefined || line.problems.length > 0) return []
  return [
    {
      is: 'entry',
      line: line.line,
      bookedOn,
      amountPaise,
      balancePaise,
      reference,
      narration: narrationIn(line.stated('narration')),
    },
  ]
}

/** What the line moves; above zero it is money to us. */
function readMoved(line: LineReader, { sign, signs }: FileFormat): Paise | undefined {
  if (sign === 'debit-credit') {
    const [credit, debit] = (['credit', 'debit'] as const).map((field) =>
      line.stated(field) === undefined ? paise(0n) : line.amount(field),
    )
    if (credit === undefined || debit === undefined) return undefined
    if (credit !== 0n && debit !== 0n)
      return line.problem(line.columnOf('debit'), 'is stated beside a credit')
    return paise(credit - debit)
  }
  if (sign !== 'by-column') return line.amount('amount', { signed: true })
  const words = new Map(
    (['credit', 'debit'] as const).flatMap((mark) =>
      (signs?.[mark] ?? []).map((word) => [canonicalWord(word), mark] as const),
    ),
  )
  const mark = line.oneOf('sign', words)
  const amount = line.amount('amount')
  return amount !== undefined && mark === 'debit' ? paise(0n - amount) : mark && amount
}
