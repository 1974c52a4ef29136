import { type ReferenceForm, readReference } from '@svc/kernel/bank-reference'
import { type AmountForm, CURRENCY_NAME, type Paise, readAmount, readCurrency } from '@svc/kernel/money'
import { contradicts, type StatedMove, saysMove } from '@svc/kernel/outcome-beside'
import { readDay } from '@svc/kernel/read-time'
import { damaged, isStated, type Reading, unreadable, valueIn, visible } from '@svc/kernel/reading'
import { implausibleDay } from '../ledger/plausible-day.ts'
import { canonicalWord, type FileFormat, namesOf, timeFormOf } from './file-format.ts'
import { type FileHeading, type FileRow, nameKey } from './file-table.ts'

/** Why a line cannot be read. */
export interface LineProblem {
  readonly line: number
  readonly column: string
  /** A predicate of the column: `has more than two decimals: "3.001"`. */
  readonly reason: string
  /** A spreadsheet changed the column: the whole file is refused. */
  readonly isDamage?: true
}

/** The days of a file are held against this. */
export interface ReadingDays {
  readonly zone: string
  /** `YYYY-MM-DD`. */
  readonly today: string
}

const SHOWN_CHARS = 40
const quoted = (text: string): string =>
  JSON.stringify(text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text)

/** What a spreadsheet shows in the place of a value. */
const SPREADSHEET_ERROR = /^#(?:REF|N\/A|VALUE|NAME|DIV\/0|NUM|NULL)[!?]?$|^#{3,}$/i
/** A day as a spreadsheet keeps it: since 1900, of 1982 to 2064. */
const SPREADSHEET_DAY = /^[3-5]\d{4}(?:\.\d+)?$/
const MONTH_FIRST = /^(\d{1,2})[-/.](\d{1,2})[-/.](?:\d{2}|\d{4})\b/

/** Reads the cells of one line; what cannot be read is a problem, never a value that was not stated. */
export class LineReader {
  readonly #heading: FileHeading
  readonly #format: FileFormat
  readonly #days: ReadingDays
  /** Columns that say something of each line, whatever the format says. */
  readonly #guarded: readonly { readonly place: number; readonly name: string }[]
  /** What was read last in each column: lines of a file repeat their transfer, its day and its amount. */
  readonly #last = new Map<string, { readonly text: string; readonly reading: Reading<unknown> }>()
  #row: FileRow = { line: 0, cells: [], is: 'blank' }
  #problems: LineProblem[] = []

  constructor(heading: FileHeading, format: FileFormat, days: ReadingDays) {
    this.#heading = heading
    this.#format = format
    this.#days = days
    this.#guarded = heading.names
      .map((name, place) => ({ place, name }))
      .filter(({ name }) => CURRENCY_NAME.test(name) || saysMove(name))
  }

  /** A reading of a text, which is read again only where the line before has another one in this column. */
  #once<T>(column: string, text: string, read: (text: string) => Reading<T>): Reading<T> {
    const last = this.#last.get(column)
    if (last?.text === text) return last.reading as Reading<T>
    const reading = read(text)
    this.#last.set(column, { text, reading })
    return reading
  }

  /** Begins the next line. */
  begin(row: FileRow): void {
    this.#row = row
    this.#problems = []
    const { cells, line } = row
    const { names, separator } = this.#heading
    if (cells.length === names.length || cells.slice(names.length).every((cell) => !isStated(cell))) {
      if (cells.length >= names.length) return
    }
    const mark = JSON.stringify(separator === '\t' ? 'tab' : separator)
    this.#problems.push({
      line,
      column: 'the line',
      reason: `has ${cells.length} values and the heading ${names.length}: a value with ${mark} in it must be in quotation marks`,
    })
  }

  get line(): number {
    return this.#row.line
  }

  get problems(): readonly LineProblem[] {
    return this.#problems
  }

  /** The name of a field's column, as the file has it. */
  columnOf(field: string): string {
    const place = this.#heading.places.get(field)
    return place === undefined ? field : this.#heading.names[place]!
  }

  /** What a line states in a field; `undefined` where its column is missing or its cell is empty. */
  stated(field: string): string | undefined {
    const place = this.#heading.places.get(field)
    const cell = place === undefined ? undefined : this.#row.cells[place]
    return isStated(cell) ? visible(cell!) : undefined
  }

  /** What a line states in a column by its name. */
  statedIn(name: string): string | undefined {
    const wanted = nameKey(name)
    const place = this.#heading.names.findIndex((candidate) => nameKey(candidate) === wanted)
    const cell = this.#row.cells[place]
    return isStated(cell) ? visible(cell!) : undefined
  }

  problem(column: string, reason: string, isDamage?: true): undefined {
    this.#problems.push({ line: this.#row.line, column, reason, ...(isDamage && { isDamage }) })
  }

  /** The value of a reading of a field, or a problem; `rule` says what the field must be. */
  #value<T>(column: string, text: string, reading: Reading<T>, rule?: string): T | undefined {
    const read = SPREADSHEET_ERROR.test(text) ? damaged('is an error of a spreadsheet') : reading
    if ('value' in read) return read.value
    const { unreadable: why, isDamage } = read
    const reason =
      rule === undefined || isDamage ? `${why}: ${quoted(text)}` : `${rule}: ${quoted(text)} ${why}`
    return this.problem(column, reason, isDamage)
  }

  #required(field: string): string | undefined {
    const text = this.stated(field)
    if (text === undefined) this.problem(this.columnOf(field), 'must not be empty')
    return text
  }

  reference(field: string, form?: ReferenceForm): string | undefined {
    const text = this.#required(field)
    if (text === undefined) return undefined
    const reading = this.#once(field, text, () => readReference(text, form))
    return this.#value(this.columnOf(field), text, reading)
  }

  /** A reference in whatever form, where one is stated: a problem is only what a spreadsheet did to it. */
  anyReference(field: string): string | undefined {
    const text = this.stated(field)
    if (text === undefined) return undefined
    const reading = readReference(text, { min: 1, digits: 'any' })
    const isDamage = 'unreadable' in reading && reading.isDamage
    return this.#value(this.columnOf(field), text, isDamage ? reading : { value: text })
  }

  /** A word of our own making, such as an id: as it stands. */
  word(field: string): string | undefined {
    const text = this.#required(field)
    return text === undefined ? undefined : this.#value(this.columnOf(field), text, { value: text })
  }

  amount(field: string, form: Pick<AmountForm, 'signed'> = {}): Paise | undefined {
    const text = this.#required(field)
    return text === undefined ? undefined : this.#amountOf(this.columnOf(field), text, form)
  }

  /** Of a column by its name; 0 where nothing is stated. */
  amountIn(name: string): Paise | undefined {
    const text = this.statedIn(name)
    return text === undefined ? (0n as Paise) : this.#amountOf(name, text, { signed: true })
  }

  #amountOf(column: string, text: string, form: Pick<AmountForm, 'signed'>): Paise | undefined {
    const { unit = 'rupees' } = this.#format
    const rule = `must be ${unit}${form.signed ? '' : ' above 0'}${unit === 'rupees' ? ', with at most two decimals' : ''}`
    const reading = this.#once(`${column} ${form.signed}`, text, () => readAmount(text, { unit, ...form }))
    return this.#value(column, text, reading, rule)
  }

  day(field: string, daysAhead = 1): string | undefined {
    const text = this.#required(field)
    if (text === undefined) return undefined
    const rule = 'must be a day, such as 2026-04-01 or 01-04-2026'
    const day = this.#value(
      this.columnOf(field),
      text,
      this.#once(field, text, () => this.#readDay(text)),
      rule,
    )
    const why = day === undefined ? undefined : this.#implausible(day, daysAhead)
    return why === undefined ? day : this.problem(this.columnOf(field), `is refused: ${why}`)
  }

  #implausible(day: string, daysAhead: number): string | undefined {
    const { today } = this.#days
    const read = () => ({ value: implausibleDay(day, today, daysAhead) })
    return valueIn(this.#once(`plausible ${daysAhead}`, day, read))
  }

  #readDay(text: string): Reading<string> {
    if (SPREADSHEET_DAY.test(text)) return damaged('is the number by which a spreadsheet keeps a day')
    const read = readDay(text, this.#days.zone, timeFormOf(this.#format))
    const [, first, second] = MONTH_FIRST.exec(text) ?? []
    // Of such a column the other lines are read as other days than they mean.
    return 'unreadable' in read && Number(first) <= 12 && Number(second) > 12
      ? damaged('is written month first')
      : read
  }

  /** Which of several words a field has; `undefined` and a problem for any other. */
  oneOf<T extends string>(field: string, words: ReadonlyMap<string, T>): T | undefined {
    const text = this.#required(field)
    if (text === undefined) return undefined
    const known = words.get(canonicalWord(text))
    const reading = known === undefined ? unreadable('is not a word that the format names') : { value: known }
    return this.#value(this.columnOf(field), text, reading)
  }

  /** What the file states beside the fields of the format: what contradicts the line, another currency. */
  guard(move: StatedMove | undefined): void {
    const where = this.#format.where ?? {}
    for (const [column, words] of Object.entries(where)) {
      const text = this.statedIn(column)
      const known = new Set(words.map(canonicalWord))
      if (!known.has(canonicalWord(text ?? '')))
        this.problem(column, `must be ${words.join(' or ')}: ${quoted(text ?? '')}`)
    }
    const read = READ_BY_WORDS.flatMap((field) => namesOf(this.#format, field))
    const chosen = new Set([...Object.keys(where), ...read].map((name) => name.toLowerCase()))
    for (const { place, name } of this.#guarded) {
      const cell = this.#row.cells[place]
      if (!isStated(cell) || chosen.has(name.toLowerCase())) continue
      const text = visible(cell!)
      if (CURRENCY_NAME.test(name)) this.#value(name, text, readCurrency(text))
      else if (move) this.#value(name, text, fitting(name, text, move))
    }
  }
}

/** Fields of formats that name the words of their columns. */
const READ_BY_WORDS = ['status', 'kind', 'sign']

/** A status that only settlements have is that of each line of a file. */
function fitting(name: string, text: string, move: StatedMove): Reading<true> {
  const why = contradicts(name, text, move) ?? contradicts(name, text, { ...move, of: 'settlement' })
  return why === undefined ? { value: true } : unreadable(why.slice(JSON.stringify(text).length + 1))
}
