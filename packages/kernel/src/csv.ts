/** Begins of texts that spreadsheets run as formulas, full-width forms included. */
const FORMULA = /^\s*[=+@＝＋－＠-]/u
/** A sign before a number alone, or before a mobile number, runs nothing. */
const NUMBER = /^[+-]?\d+(?:\.\d+)?$/
/** Needs no quotation marks under any separator. */
const BARE = /^[\w.:+-]*$/
/** Readers that go by lines would take what follows for a line of the file. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu

export const CSV_MEDIA_TYPE = 'text/csv'

export type CsvValue = string | number | bigint | boolean | Date | null | undefined

/**
 * A text as a file contains it: on one line, with a space in place of control characters, and with an apostrophe before
 * what a spreadsheet would run as a formula.
 */
export function csvText(text: string): string {
  const line = text.replace(BREAKS, ' ')
  return FORMULA.test(line) && !NUMBER.test(line) ? `'${line}` : line
}

function csvField(value: CsvValue): string {
  if (value === null || value === undefined) return ''
  const text = csvText(value instanceof Date ? value.toISOString() : String(value))
  return BARE.test(text) ? text : `"${text.replaceAll('"', '""')}"`
}

/** A row of a file (RFC 4180), with its end of line. */
export const csvLine = (values: readonly CsvValue[]): string => `${values.map(csvField).join(',')}\r\n`
