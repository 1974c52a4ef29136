import { canonicalReference } from '@svc/kernel/bank-reference'
import { type Encoding, FileRejected, type FileSource, textOf } from './file-source.ts'
import type { ReadingDays } from './line-reader.ts'
import type { StatementEntry, StatementItem } from './statement-items.ts'
import {
  amountAt,
  dayAt,
  movedAt,
  narrationIn,
  referencesIn,
  requireRupees,
  unreadableAt,
} from './statement-values.ts'

/** A field has few lines of at most 65 characters; more is no SWIFT message. */
const FIELD_CHARS_MAX = 8_192

interface Field {
  readonly line: number
  /** `61`, `62F`. */
  readonly tag: string
  readonly text: string
}

/** Splits the text into fields; blocks around them and the `-` at their end are no fields. */
async function* fieldsOf(text: AsyncIterable<string>, name: string): AsyncGenerator<Field> {
  let field: { line: number; tag: string; text: string } | undefined
  for await (const { number, line } of linesOf(text, name)) {
    const [, tag, first] = /^(?:\{4:)?:(\d{2}[A-Z]?):(.*)$/.exec(line) ?? []
    if (tag !== undefined) {
      if (field) yield field
      field = { line: number, tag, text: first! }
    } else if (/^(?:-\}?|\{.*)$/.test(line)) {
      if (field) yield field
      field = undefined
    } else if (field) field.text += `\n${line}`
    if (field && field.text.length > FIELD_CHARS_MAX)
      throw new FileRejected(
        `${name} is no MT940 statement: field ${field.tag} of line ${field.line} does not end`,
      )
  }
  if (field) yield field
}

async function* linesOf(text: AsyncIterable<string>, name: string) {
  let rest = ''
  let number = 0
  for await (const part of text) {
    const lines = (rest + part).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop()!
    for (const line of lines) yield { number: ++number, line: line.trimEnd() }
    if (rest.length > FIELD_CHARS_MAX)
      throw new FileRejected(`${name} is no MT940 statement: it has no lines`)
  }
  if (rest !== '') yield { number: ++number, line: rest.trimEnd() }
}

/** Full stops only between groups of thousands. */
const NUMBER = '(?:\\d{1,3}(?:\\.\\d{3})+|\\d+),\\d{0,2}'
const BALANCE = new RegExp(`^([CD])(\\d{6})([A-Z]{3})(${NUMBER})(?!\\d)`)
// Value date, entry date, mark, funds code, amount, type; then the references of the customer and the bank.
const ENTRY = new RegExp(`^(\\d{6})(\\d{4})?(R?[CD])[A-Z]?(${NUMBER})[A-Z][A-Z0-9]{3}(.*)$`)

/** Amounts have a comma before their decimals, always. */
const decimal = (text: string): string => text.replaceAll('.', '').replace(',', '.').replace(/\.$/, '.0')
const dayOf = (text: string): string => `20${text.slice(0, 2)}-${text.slice(2, 4)}-${text.slice(4)}`

/** The day on which it was booked: of the year in which it is nearest to the value date. */
function bookedDay(value: string, entry: string | undefined): string {
  if (entry === undefined) return dayOf(value)
  const year = Number(value.slice(0, 2))
  const months = Number(entry.slice(0, 2)) - Number(value.slice(2, 4))
  const of = months > 6 ? year - 1 : months < -6 ? year + 1 : year
  return dayOf(`${String(of).padStart(2, '0')}${entry}`)
}

function entryOf({ line, text }: Field, days: ReadingDays): StatementEntry {
  const [head = '', ...supplement] = text.split('\n')
  const [, value, entry, mark, amount, references = ''] = ENTRY.exec(head) ?? []
  if (value === undefined)
    throw unreadableAt(line, 'field 61', `cannot be read: ${JSON.stringify(head.slice(0, 60))}`)
  const [reference = '', ...others] = referencesIn(references.split('//'))
  // A credit that is reversed is a debit.
  const isDebit = mark === 'D' || mark === 'RC'
  return {
    is: 'entry',
    line,
    bookedOn: dayAt(line, bookedDay(value, entry), days),
    amountPaise: movedAt(line, decimal(amount!), isDebit),
    reference,
    narration: narrationIn([...others, ...supplement].join(' ')),
    balancePaise: undefined,
  }
}

/** Structured narrations have a code and `?20` before each part. */
const plainNarration = (text: string): string =>
  /^\d{3}\?/.test(text)
    ? text
        .slice(3)
        .replace(/\n/g, '')
        .replace(/\?\d{2}/g, ' ')
    : text

const narrated = (entry: StatementEntry, text: string): StatementEntry => ({
  ...entry,
  narration: narrationIn(`${entry.narration} ${plainNarration(text)}`),
})

function balanceOf({ line, tag, text }: Field, days: ReadingDays): StatementItem {
  const [, mark, day, currency, amount] = BALANCE.exec(text) ?? []
  if (mark === undefined) throw unreadableAt(line, `field ${tag}`, 'is no balance')
  requireRupees(line, currency)
  return {
    is: tag.startsWith('60') ? 'opening' : 'closing',
    line,
    balancePaise: amountAt(line, decimal(amount!), mark === 'D'),
    day: dayAt(line, dayOf(day!), days),
  }
}

/** Reads customer statements of SWIFT, in bounded memory: fields 20, 25, 28C, 60, 61, 62 and 86. */
export async function* readMt940(
  source: FileSource,
  encoding: Encoding,
  days: ReadingDays,
): AsyncGenerator<StatementItem> {
  let entry: StatementEntry | undefined
  let isKnown = false
  for await (const field of fieldsOf(textOf(source, encoding), source.name)) {
    const { tag, text } = field
    if (entry && tag === '86') {
      entry = narrated(entry, text)
      continue
    }
    if (entry) yield entry
    entry = undefined
    const number = tag === '25' ? canonicalReference(text) : ''
    if (number !== '') yield { is: 'account', number }
    else if (/^6[02][FM]$/.test(tag)) yield balanceOf(field, days)
    else if (tag === '61') entry = entryOf(field, days)
    isKnown ||= tag === '20'
  }
  if (entry) yield entry
  if (!isKnown) throw new FileRejected(`${source.name} is no MT940 statement: it has no field 20`)
}
