import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { FileLine } from '@svc/core/payments/settlement-line'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { type Paise, paise, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { parseRfc3339 } from '@svc/kernel/time'
import { CsvError, parse } from 'csv-parse'
import { UsageError } from './usage-error.ts'

/** How a bank writes its settlement files. */
export interface SettlementFormat {
  /** The names of the columns. */
  readonly columns: { readonly utr: string; readonly amount: string; readonly date: string }
  readonly unit: 'rupees' | 'paise'
}

const PROBLEMS_MAX = 20

const ISO_DAY = /^(\d{4})-(\d{2})-(\d{2})$/
const INDIAN_DAY = /^(\d{2})[-/](\d{2})[-/](\d{4})$/

/** `2026-04-01`, `01-04-2026` or `01/04/2026` as `YYYY-MM-DD`; `undefined` for what is no day of the calendar. */
function readDay(text: string): string | undefined {
  const [, year, month, date] = ISO_DAY.exec(text) ?? []
  const [, d, m, y] = INDIAN_DAY.exec(text) ?? []
  const day = year ? `${year}-${month}-${date}` : y ? `${y}-${m}-${d}` : undefined
  return day !== undefined && parseRfc3339(`${day}T00:00:00Z`) ? day : undefined
}

function statedAmount(text: string, unit: SettlementFormat['unit']): Paise | undefined {
  const plain = text.replaceAll(',', '')
  const amount =
    unit === 'rupees'
      ? valueIn(readAmount(plain))
      : /^\d{1,17}$/.test(plain)
        ? paise(BigInt(plain))
        : undefined
  return amount === undefined || amount === 0n ? undefined : amount
}

type Read = { readonly line: FileLine } | { readonly problem: string }

async function* readLines(file: string, { columns, unit }: SettlementFormat): AsyncGenerator<Read> {
  const rows = createReadStream(file).pipe(
    parse({ columns: true, bom: true, trim: true, skip_empty_lines: true }),
  )
  let number = 0
  for await (const row of rows as AsyncIterable<Record<string, string>>) {
    number++
    const at = (name: string) => row[name] ?? ''
    const missing = Object.values(columns).find((name) => !(name in row))
    if (missing !== undefined)
      throw new UsageError(
        `The file has no column ${missing}, but ${Object.keys(row).join(', ')}. Name its columns with --utr, --amount and --date.`,
      )
    const utr = canonicalReference(at(columns.utr))
    const amountPaise = statedAmount(at(columns.amount), unit)
    const settledOn = readDay(at(columns.date))
    if (utr.length < 6 || utr.length > 35)
      yield { problem: `line ${number}: ${columns.utr} must be a reference of 6 to 35 letters and digits` }
    else if (amountPaise === undefined)
      yield {
        problem: `line ${number}: ${columns.amount} must be ${unit} above 0${unit === 'rupees' ? ', with at most two decimals' : ''}`,
      }
    else if (settledOn === undefined)
      yield { problem: `line ${number}: ${columns.date} must be a day, such as 2026-04-01 or 01-04-2026` }
    else yield { line: { utr, line: number, amountPaise, settledOn } }
  }
}

/** Reads the whole file once: its id, which depends on its bytes alone. Throws when a line cannot be read. */
export async function checkSettlementFile(file: string, format: SettlementFormat): Promise<string> {
  const problems: string[] = []
  const hash = createHash('sha256')
  try {
    for await (const part of createReadStream(file)) hash.update(part as Buffer)
    for await (const read of readLines(file, format)) {
      if ('problem' in read) problems.push(read.problem)
      if (problems.length === PROBLEMS_MAX) break
    }
  } catch (error) {
    if (error instanceof CsvError) throw new UsageError(`${file} is no CSV file: ${error.message}`)
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new UsageError(`There is no file ${file}`)
    throw error
  }
  if (problems.length > 0)
    throw new UsageError(
      `Nothing was imported. ${file} has lines that cannot be read:\n${problems.join('\n')}`,
    )
  return `stf_${hash.digest('hex').slice(0, 26)}`
}

/** The lines of a file that was checked. */
export async function* settlementLinesOf(file: string, format: SettlementFormat): AsyncGenerator<FileLine> {
  for await (const read of readLines(file, format)) if ('line' in read) yield read.line
}
