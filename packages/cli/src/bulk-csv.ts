import { Failure } from '@svc/contract/errors'
import { requireAtMost } from '@svc/core/cards/load-limits'
import type { Paise } from '@svc/kernel/money'
import { parseStrictJson } from '@svc/kernel/strict-json'
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
  let names: string[] = []
  const readNames = (header: string[]) => (names = header.map((name) => name.trim()))
  let rows: Parsed[]
  try {
    rows = parse(text, { columns: readNames, bom: true, info: true, skip_empty_lines: true }) as never
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return { orders: [], problems: [`line ${String(error['lines'])}: is not CSV (${error.code})`] }
  }
  const unknown = names.filter((name) => !Object.hasOwn(FIELDS, name))
  const problems = unknown.map((name) => `line 1: ${name} is not a known field`)
  for (const name of new Set(names.filter((name, i) => names.indexOf(name) !== i)))
    problems.push(`line 1: ${name} appears more than once`)
  if (rows.length === 0)
    problems.push('The file must have a line with the names of the fields, then one line for each order')
  const orders = rows.map(({ record, info }) => {
    const order = toOrder(record, defaults, unknown)
    problems.push(
      ...problemsOf(order, check, loadMaxPaise).map((problem) => `line ${info.lines}: ${problem}`),
    )
    return { line: info.lines, order: order as GiftCardRequest }
  })
  return { orders, problems }
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
  const hidden = Object.entries(order).filter(([, value]) => !isStrict(value))
  if (hidden.length > 0)
    return hidden.map(([name]) => `${name} contains a character that is not allowed, such as a line break`)
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

/** Whether the service's own reader of JSON takes the text (decision C14). */
function isStrict(value: unknown): boolean {
  try {
    parseStrictJson(Buffer.from(JSON.stringify(value)))
    return true
  } catch {
    return false
  }
}
