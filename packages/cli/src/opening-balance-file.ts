import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { OpeningLine, OpeningLineError } from '@svc/core/ledger/import-opening-balances'
import { readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { isDay } from '@svc/kernel/time'
import { CsvError, parse } from 'csv-parse/sync'
import { UsageError } from './usage-error.ts'

const COLUMNS = ['tenantId', 'account', 'amount', 'effectiveDate'] as const
type Row = Readonly<Record<(typeof COLUMNS)[number], string>>

const LINES_MAX = 100_000
/** Below it, sums of money stay exact wherever they are added up. */
const AMOUNT_MAX_PAISE = 1_000_000_000_000_00n

export interface OpeningFile {
  /** Depends on the bytes of the file alone. */
  readonly fileId: string
  readonly lines: readonly OpeningLine[]
  /** Lines that cannot be read. */
  readonly problems: readonly OpeningLineError[]
}

function readLine(
  { tenantId, account, amount, effectiveDate }: Row,
  line: number,
): OpeningLine | OpeningLineError {
  const amountPaise = valueIn(readAmount(amount))
  if (!tenantId) return { line, problem: 'tenantId must not be empty' }
  if (account !== 'payable' && !account.startsWith('acc_'))
    return { line, problem: 'account must be payable, or the id of a card account' }
  if (!amountPaise || amountPaise > AMOUNT_MAX_PAISE)
    return { line, problem: 'amount must be rupees above 0, with at most two decimals' }
  if (!isDay(effectiveDate)) return { line, problem: 'effectiveDate must be a day, such as 2026-03-31' }
  return account === 'payable'
    ? { line, tenantId, kind: 'payable', ownerId: tenantId, amountPaise, effectiveDate }
    : { line, tenantId, kind: 'card_funding', ownerId: account, amountPaise, effectiveDate }
}

/** Reads a file of opening balances with everything that is wrong with its lines. */
export async function readOpeningFile(file: string): Promise<OpeningFile> {
  const text = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`Cannot read ${file} (${error.code}).`)
  })
  const rows = rowsOf(file, text)
  if (rows.length === 0) throw new UsageError(`${file} has no line below its heading.`)
  if (rows.length > LINES_MAX) throw new UsageError(`${file} has more than ${LINES_MAX} lines: split it.`)
  const missing = COLUMNS.find((name) => !(name in rows[0]!))
  if (missing)
    throw new UsageError(`The file has no column ${missing}. Its heading must be ${COLUMNS.join(',')}`)
  const read = rows.map((row, i) => readLine(row, i + 1))
  return {
    fileId: `opb_${createHash('sha256').update(text).digest('hex').slice(0, 26)}`,
    lines: read.flatMap((each) => ('problem' in each ? [] : [each])),
    problems: read.flatMap((each) => ('problem' in each ? [each] : [])),
  }
}

function rowsOf(file: string, text: Buffer): Row[] {
  try {
    return parse(text, { columns: true, bom: true, trim: true, skip_empty_lines: true })
  } catch (error) {
    if (error instanceof CsvError) throw new UsageError(`${file} is not a CSV file: ${error.message}`)
    throw error
  }
}
