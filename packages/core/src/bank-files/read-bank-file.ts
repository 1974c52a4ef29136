import { type FileFormat } from './file-format.ts'
import { FileRejected, type FileSource, inspectFile } from './file-source.ts'
import { findHeading, readRows } from './file-table.ts'
import { type LineProblem, LineReader, type ReadingDays } from './line-reader.ts'

const PROBLEMS_MAX = 1_000
const SPREADSHEET_DIGITS = 15
/** So many long numbers that all end in zero are no chance. */
const ROUNDED_MIN = 3

/** Reads what one line says; problems go to the reader. */
export type ReadLine<T> = (line: LineReader) => readonly T[]

/** A file that was read once, whole. */
export interface ReadFile<T> {
  /** SHA-256 of its bytes, in hex. */
  readonly hash: string
  /** Lines below the heading that are not empty. */
  readonly lines: number
  /** Totals, blank lines and headings that are repeated. */
  readonly skipped: number
  /** Lines that cannot be read, and why; the first thousand problems. */
  readonly problems: readonly LineProblem[]
  readonly unreadable: number
  /** What the readable lines say, once more from the start, in bounded memory. */
  readonly rows: () => AsyncGenerator<T>
}

export interface BankFileReading<T> {
  readonly format: FileFormat
  readonly days: ReadingDays
  readonly read: ReadLine<T>
  /** Field whose column is checked for numbers that a spreadsheet rounded. */
  readonly reference: string
  /** Of each thing that is read, in the first pass. */
  readonly seen?: (row: T) => void
}

/**
 * Reads a file of a bank by its format (decision Q11): the one reader of settlements, responses and opening balances.
 * Throws `FileRejected` for what is no such file, and for one that a spreadsheet changed.
 */
export async function readBankFile<T>(source: FileSource, reading: BankFileReading<T>): Promise<ReadFile<T>> {
  const { format, days, read, seen } = reading
  const { hash, encoding } = await inspectFile(source, format.encoding)
  const heading = await findHeading(source, encoding, format)
  const line = new LineReader(heading, format, days)
  const counts = { lines: 0, skipped: 0, unreadable: 0 }
  const problems: LineProblem[] = []
  const rounded = { long: 0, zeros: 0 }
  for await (const row of readRows(source, encoding, { heading, format })) {
    counts.lines++
    if (row.is !== 'line') {
      counts.skipped++
      continue
    }
    line.begin(row)
    const rows = line.problems.length > 0 ? [] : read(line)
    if (line.problems.length > 0) counts.unreadable++
    else if (seen) rows.forEach(seen)
    countRounded(rounded, line.stated(reading.reference))
    const damage = line.problems.find(({ isDamage }) => isDamage)
    if (damage) throw new FileRejected(whyDamaged(source, damage))
    problems.push(...line.problems.slice(0, PROBLEMS_MAX - problems.length))
  }
  if (rounded.long >= ROUNDED_MIN && rounded.zeros === rounded.long)
    throw new FileRejected(
      whyDamaged(source, {
        line: 0,
        column: line.columnOf(reading.reference),
        reason: 'has numbers of more than 15 digits that all end in zero',
      }),
    )
  const rowsAgain = async function* () {
    const again = new LineReader(heading, format, days)
    for await (const row of readRows(source, encoding, { heading, format })) {
      if (row.is !== 'line') continue
      again.begin(row)
      const rows = again.problems.length > 0 ? [] : read(again)
      if (again.problems.length === 0) yield* rows
    }
  }
  return { hash, ...counts, problems, rows: rowsAgain }
}

function countRounded(rounded: { long: number; zeros: number }, reference: string | undefined): void {
  if (reference === undefined || !/^\d+$/.test(reference) || reference.length <= SPREADSHEET_DIGITS) return
  rounded.long++
  if (reference.endsWith('0')) rounded.zeros++
}

const whyDamaged = ({ name }: FileSource, { line, column, reason }: LineProblem): string =>
  `A spreadsheet changed the column ${column} of ${name}: ${line > 0 ? `line ${line}: it ` : 'it '}${reason}. ` +
  'Other lines of it may be wrong without looking so. Export the file from the bank again and import it as it is: do not open and save it in a spreadsheet, or import its columns there as text first'

/** A line that cannot be read, in words. */
export const problemText = ({ line, column, reason }: LineProblem): string =>
  `line ${line}: ${column} ${reason}`

/** Lines that cannot be read, as operators see them. */
export const problemsToWire = (problems: readonly LineProblem[]) =>
  problems.map(({ line, column, reason }) => ({ line, column, reason }))
