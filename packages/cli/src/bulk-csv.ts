import { Failure } from '@svc/contract/errors'
import { requireAtMost } from '@svc/core/cards/card/load-limits'
import { type Paise, paiseToWire, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { parseStrictJson } from '@svc/kernel/strict-json'
import { BulkLoadLine } from '@svc/server/cards/bulk-loads'
import { GiftCardRequest, readGiftCardOrder } from '@svc/server/cards/gift-card-order'
import { bodyCheck } from '@svc/server/http/validator'
import { CsvError, parse } from 'csv-parse/sync'

/** An order, and the line of the CSV that it ends on. */
export interface CsvOrder {
  readonly line: number
  readonly order: GiftCardRequest
}

export interface CsvOrders {
  readonly orders: readonly CsvOrder[]
  /** One for each problem, with its line and field. */
  readonly problems: readonly string[]
}

/** A load, and the line of the CSV that it ends on. */
export interface CsvLoad {
  readonly line: number
  readonly load: BulkLoadLine
}

export interface CsvLoads {
  readonly loads: readonly CsvLoad[]
  readonly problems: readonly string[]
}

interface Parsed {
  readonly record: Readonly<Record<string, string>>
  readonly info: { readonly lines: number }
}

/** For rows that do not name their own. */
type Defaults = Partial<Pick<GiftCardRequest, 'companyId' | 'cardAccountId'>>

const FIELDS = GiftCardRequest.properties
const isFlag = (name: string): boolean =>
  (FIELDS as Record<string, { type?: string }>)[name]?.type === 'boolean'

/**
 * Reads orders out of a CSV whose first line names fields of the wire. Empty cells are fields that are left out. Every
 * row is held to the rules of the service, so that a mistake is reported before the first card is issued.
 */
export function readCsvOrders(text: string, defaults: Defaults, loadMaxPaise: Paise): CsvOrders {
  const check = bodyCheck(GiftCardRequest)
  const { rows, unknown, problems } = readCsvRows(text, FIELDS, 'order')
  const orders = rows.map(({ record, info }) => {
    const order = toOrder(record, defaults, unknown)
    problems.push(
      ...problemsOf(order, check, loadMaxPaise).map((problem) => `line ${info.lines}: ${problem}`),
    )
    return { line: info.lines, order: order as GiftCardRequest }
  })
  return { orders, problems }
}

/** The same of loads. A reference that is used twice in the file is a mistake too: it names one load. */
export function readCsvLoads(text: string): CsvLoads {
  const check = bodyCheck(BulkLoadLine)
  const { rows, unknown, problems } = readCsvRows(text, BulkLoadLine.properties, 'load')
  const lineOf = new Map<string, number>()
  const loads = rows.map(({ record, info: { lines: line } }) => {
    const load = toLoad(record, unknown)
    const reference = String(load['referenceNumber'])
    const first = lineOf.get(reference)
    if (first === undefined) lineOf.set(reference, line)
    else problems.push(`line ${line}: referenceNumber is that of line ${first}`)
    problems.push(...problemsOfLoad(load, check).map((problem) => `line ${line}: ${problem}`))
    return { line, load: load as BulkLoadLine }
  })
  return { loads, problems }
}

interface CsvRows {
  readonly rows: readonly Parsed[]
  /** Columns whose name is no field. */
  readonly unknown: readonly string[]
  readonly problems: string[]
}

/** The rows of a CSV, and what is wrong with its first line. */
function readCsvRows(text: string, fields: object, noun: string): CsvRows {
  let names: string[] = []
  const readNames = (header: string[]) => (names = header.map((name) => name.trim()))
  let rows: Parsed[]
  try {
    rows = parse(text, { columns: readNames, bom: true, info: true, skip_empty_lines: true }) as never
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return { rows: [], unknown: [], problems: [`line ${String(error['lines'])}: is not CSV (${error.code})`] }
  }
  const unknown = names.filter((name) => !Object.hasOwn(fields, name))
  const problems = unknown.map((name) => `line 1: ${name} is not a known field`)
  for (const name of new Set(names.filter((name, i) => names.indexOf(name) !== i)))
    problems.push(`line 1: ${name} appears more than once`)
  if (rows.length === 0)
    problems.push(`The file must have a line with the names of the fields, then one line for each ${noun}`)
  return { rows, unknown, problems }
}

/** The amount as the number that it is on the wire; one that cannot be read stays a text, which no rule accepts. */
function toLoad(record: Parsed['record'], unknown: readonly string[]): Record<string, unknown> {
  const cells = Object.entries(record).filter(([name, cell]) => cell !== '' && !unknown.includes(name))
  return Object.fromEntries(
    cells.map(([name, cell]) => {
      const paise = name === 'amount' ? valueIn(readAmount(cell)) : undefined
      return [name, paise === undefined ? cell : paiseToWire(paise)]
    }),
  )
}

function problemsOfLoad(load: Record<string, unknown>, check: ReturnType<typeof bodyCheck>): string[] {
  return hiddenIn(load) ?? check(load)?.errors.map(({ message }) => message) ?? []
}

function toOrder(
  record: Parsed['record'],
  defaults: Defaults,
  unknown: readonly string[],
): Record<string, unknown> {
  const order: Record<string, unknown> = { ...defaults }
  for (const [name, cell] of Object.entries(record)) {
    if (cell === '' || unknown.includes(name)) continue
    const flag = isFlag(name) ? { true: true, false: false }[cell.toLowerCase()] : undefined
    order[name] = flag ?? cell
  }
  return order
}

function problemsOf(
  order: Record<string, unknown>,
  check: ReturnType<typeof bodyCheck>,
  loadMaxPaise: Paise,
): string[] {
  const hidden = hiddenIn(order)
  if (hidden) return hidden
  const invalid = check(order)
  if (invalid) return invalid.errors.map(({ message }) => message)
  try {
    requireAtMost(loadMaxPaise, readGiftCardOrder(order as GiftCardRequest).loadPaise, 'A card')
    return []
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return error.code === 'load_over_limit'
      ? [`loadAmount: ${error.description}`]
      : error.errors.map(({ message }) => message)
  }
}

/** Fields with a character that the service rejects; `undefined` where there is none. */
function hiddenIn(row: Record<string, unknown>): string[] | undefined {
  const hidden = Object.entries(row).filter(([, value]) => !isStrict(value))
  if (hidden.length === 0) return undefined
  return hidden.map(([name]) => `${name} contains a character that is not allowed, such as a line break`)
}

/** Whether the service's own reader of JSON takes the text (decision C14). */
function isStrict(value: unknown): boolean {
  try {
    parseStrictJson(Buffer.from(JSON.stringify(value)))
    return true
  } catch {
    return false
  }
}
