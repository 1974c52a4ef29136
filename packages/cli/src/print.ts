import { csvLine } from '@svc/kernel/csv'

type Row = Readonly<Record<string, string | number | boolean | Date | null | undefined>>

const show = (value: Row[string]): string =>
  value === null || value === undefined ? '-' : value instanceof Date ? value.toISOString() : String(value)

/** Rows for people, in columns; with `--json` the same as JSON for programs. */
export function printRows(rows: readonly Row[], json: boolean): void {
  if (json) return printJson(rows)
  if (rows.length === 0) return void process.stdout.write('none\n')
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const table = [names, ...rows.map((row) => names.map((name) => show(row[name])))]
  const widths = names.map((_, column) => Math.max(...table.map((cells) => cells[column]!.length)))
  for (const cells of table)
    process.stdout.write(
      `${cells
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd()}\n`,
    )
}

export interface Printed {
  readonly csv?: boolean
  readonly json?: boolean
}

/** Rows as a table for people, as CSV with a header, or as JSON. */
export function printTable(rows: readonly Row[], { csv = false, json = false }: Printed): void {
  if (csv) process.stdout.write(csvOf(rows))
  else printRows(rows, json)
}

/** Rows as a file with a header; nothing for no rows. */
export function csvOf(rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? {})
  const lines = rows.map((row) => csvLine(names.map((name) => row[name])))
  return rows.length === 0 ? '' : [csvLine(names), ...lines].join('')
}

/** One record for people, a field a line; with `--json` the same as JSON for programs. */
export function printRecord(record: Row, json: boolean): void {
  if (json) return printJson(record)
  const width = Math.max(...Object.keys(record).map((name) => name.length))
  for (const [name, value] of Object.entries(record))
    process.stdout.write(`${name.padEnd(width)}  ${show(value)}\n`)
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}
