import type { BankHoliday } from '../ledger/bank-holidays.ts'
import type { FieldsOf, FileFormat } from './file-format.ts'
import type { LineReader } from './line-reader.ts'

export const HOLIDAY_FIELDS: FieldsOf = { required: ['date', 'name'], optional: [] }

/** Our own file of bank holidays. */
export const HOLIDAY_FORMAT: FileFormat = { columns: { date: 'date', name: 'name' } }

/** Lists are published for a year, some months before it begins. */
const DAYS_AHEAD = 1_000
const NAME_CHARS_MAX = 100

/** A reader of the lines of a file of holidays; a day that two lines name differently is refused. */
export function holidayReader(): (line: LineReader) => readonly BankHoliday[] {
  const seen = new Map<string, { readonly name: string; readonly line: number }>()
  return (line) => {
    const day = line.day('date', DAYS_AHEAD)
    const name = line.word('name')
    if (name !== undefined && name.length > NAME_CHARS_MAX)
      line.problem(line.columnOf('name'), `must have at most ${NAME_CHARS_MAX} characters`)
    if (day === undefined || name === undefined || line.problems.length > 0) return []
    const before = seen.get(day)
    if (before && before.line !== line.line && before.name !== name)
      line.problem(
        line.columnOf('name'),
        `is ${JSON.stringify(name)}, and line ${before.line} names the same day ${JSON.stringify(before.name)}: keep one of the two lines`,
      )
    else if (!before) seen.set(day, { name, line: line.line })
    return line.problems.length > 0 ? [] : [{ day, name }]
  }
}
