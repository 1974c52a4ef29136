import { pipeline } from 'node:stream/promises'
import { isStated, visible } from '@svc/kernel/reading'
import { CsvError, type Options, parse } from 'csv-parse'
import { parse as parseAll } from 'csv-parse/sync'
import { type FileFormat, namesOf, otherColumnsOf } from './file-format.ts'
import { ColumnMissing, type Encoding, FileRejected, type FileSource, textOf } from './file-source.ts'

/** Of the text, where the heading is looked for. */
const SAMPLE_CHARS = 65_536
const ROWS_ABOVE_MAX = 30
const SEPARATORS = [',', ';', '\t', '|'] as const

/** How lines begin that carry no money of their own. */
const TOTALS =
  /^(?:(?:grand|sub|net|page|overall)?[\s_-]*(?:total|sum)s?\b|(?:no|number|count)\.? of\b|(?:record|row|line|transaction)s? count\b|end of (?:file|report|statement)\b|(?:generated|downloaded|printed|exported) (?:on|at|by)\b|(?:opening|closing) balance\b|summary\b|\*+$)/i

/** The heading, and where the columns of the format are. */
export interface FileHeading {
  readonly separator: string
  /** How many lines that are not empty are above its end. */
  readonly rows: number
  readonly names: readonly string[]
  /** Place of each field that the file has. */
  readonly places: ReadonlyMap<string, number>
}

/** A line below the heading. */
export interface FileRow {
  /** The first below the heading is 1; empty lines do not count. */
  readonly line: number
  readonly cells: readonly string[]
  /** Why it is no line of the table. */
  readonly is: 'line' | 'blank' | 'total' | 'heading'
}

export const nameKey = (name: string): string => visible(name).replace(/\s+/g, ' ').toLowerCase()

/** Where the columns of the fields are in a row, or which of the required ones it has not. */
function placesIn(row: readonly string[], format: FileFormat) {
  const keys = row.map(nameKey)
  const places = new Map<string, number>()
  const missing: string[] = []
  for (const field of Object.keys(format.columns)) {
    const name = namesOf(format, field).find((candidate) => keys.includes(nameKey(candidate)))
    if (name !== undefined) places.set(field, keys.indexOf(nameKey(name)))
    else if (!format.optional?.includes(field)) missing.push(namesOf(format, field)[0]!)
  }
  const others = otherColumnsOf(format)
  for (const name of others)
    if (!keys.includes(nameKey(name)) && !format.optional?.includes(name)) missing.push(name)
  return {
    places,
    missing,
    read: [...[...places.values()].map((place) => keys[place]!), ...others.map(nameKey)],
  }
}

/** Finds the heading: the first row that has all columns, whatever separates them and is above it. */
export async function findHeading(
  source: FileSource,
  encoding: Encoding,
  format: FileFormat,
): Promise<FileHeading> {
  const sample = await sampleOf(source, encoding)
  let closest: { readonly row: readonly string[]; readonly missing: readonly string[] } | undefined
  for (const separator of format.separator ? [format.separator] : SEPARATORS) {
    for (const [i, row] of rowsOf(sample, separator).entries()) {
      if (i < (format.skipLines ?? 0)) continue
      const { places, missing, read } = placesIn(row, format)
      if (missing.length === 0) {
        requireOnce(source, row, read)
        return { separator, rows: i + 1, names: row.map(visible), places }
      }
      if (row.length > 1 && (!closest || missing.length < closest.missing.length)) closest = { row, missing }
    }
  }
  const found = closest ?? { row: rowsOf(sample, ',')[0] ?? [], missing: ['of the format'] }
  if (found.row.length === 0) throw new FileRejected(`${source.name} is empty`)
  throw new ColumnMissing(
    `The file has no column ${found.missing[0]}, but ${found.row.map(visible).join(', ')}`,
  )
}

/** Of two columns of one name either may count. */
function requireOnce(source: FileSource, row: readonly string[], read: readonly string[]): void {
  const keys = row.map(nameKey)
  for (const key of read)
    if (keys.indexOf(key) !== keys.lastIndexOf(key))
      throw new FileRejected(`${source.name} has the column ${visible(row[keys.indexOf(key)]!)} twice`)
}

async function sampleOf(source: FileSource, encoding: Encoding): Promise<string> {
  let sample = ''
  for await (const part of textOf(source, encoding)) {
    sample += part
    if (sample.length >= SAMPLE_CHARS) return sample.slice(0, sample.lastIndexOf('\n') + 1)
  }
  return sample
}

function rowsOf(sample: string, separator: string): string[][] {
  try {
    return parseAll(sample, {
      ...READING,
      delimiter: separator,
      skip_records_with_error: true,
      to: ROWS_ABOVE_MAX,
    })
  } catch (error) {
    if (error instanceof CsvError) return []
    throw error
  }
}

/** Quotation marks within a value that has none around it are part of it, such as in a line above the heading. */
const READING = {
  // Programs that put a heading above another one's lines mix both.
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  relax_quotes: true,
  trim: true,
  skip_empty_lines: true,
} satisfies Options

/** The lines below the heading, in bounded memory. Throws `FileRejected` where the file is no CSV. */
export async function* readRows(
  source: FileSource,
  encoding: Encoding,
  { heading, format }: { readonly heading: FileHeading; readonly format: FileFormat },
): AsyncGenerator<FileRow> {
  const parser = parse({ ...READING, delimiter: heading.separator })
  const feeding = pipeline(textOf(source, encoding), parser)
  feeding.catch(() => undefined)
  const header = heading.names.map(nameKey).join('\n')
  let row = 0
  try {
    for await (const cells of parser as AsyncIterable<string[]>) {
      if (++row <= heading.rows) continue
      const is = kindOf(cells, header, heading, format)
      yield { line: row - heading.rows, cells, is }
    }
    await feeding
  } catch (error) {
    if (error instanceof CsvError) throw new FileRejected(`${source.name} is no CSV file: ${error.message}`)
    throw error
  }
}

function kindOf(
  cells: readonly string[],
  header: string,
  { places }: FileHeading,
  format: FileFormat,
): FileRow['is'] {
  const first = cells.find(isStated)
  if (first === undefined) return 'blank'
  if (header.startsWith(nameKey(cells[0]!)) && cells.map(nameKey).join('\n') === header) return 'heading'
  const id = cells[places.values().next().value ?? 0]
  const hasId = isStated(id) && id !== first
  const begins = visible(first)
  const isTotal =
    TOTALS.test(begins) || (format.totals ?? []).some((word) => nameKey(begins).startsWith(nameKey(word)))
  return isTotal && !hasId ? 'total' : 'line'
}
