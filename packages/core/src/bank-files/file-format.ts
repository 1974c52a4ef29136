import type { ReferenceForm } from '@svc/kernel/bank-reference'
import type { StatedMove } from '@svc/kernel/outcome-beside'
import type { TimeForm } from '@svc/kernel/read-time'
import { isTimePattern } from '@svc/kernel/read-time'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { ENCODINGS, FileRejected } from './file-source.ts'

/** On which side a line of a kind is: `in` is money to us; `either`: also what was given back or corrected. */
type LineSide = 'in' | 'out' | 'either'

/** What a line of a settlement is, for each rail; `debit` where the file does not say what was taken. */
export const KINDS_OF_RAIL = {
  upi: {
    payment: 'in',
    refund: 'out',
    dispute: 'out',
    dispute_reversal: 'in',
    charge: 'either',
    charge_gst: 'either',
    adjustment: 'either',
    debit: 'out',
  },
  card: {
    capture: 'out',
    refund: 'in',
    chargeback: 'in',
    chargeback_reversal: 'out',
    interchange: 'in',
    charge: 'either',
    charge_gst: 'either',
    adjustment: 'either',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, LineSide>>>>
export type SettlementRail = keyof typeof KINDS_OF_RAIL
export type LineKind = keyof (typeof KINDS_OF_RAIL)['upi'] | keyof (typeof KINDS_OF_RAIL)['card']

export const LINE_KINDS = [
  ...new Set(Object.values(KINDS_OF_RAIL).flatMap((kinds) => Object.keys(kinds))),
] as readonly LineKind[]

/** Lines that need no reference: what the bank keeps or gives of its own. */
const WITHOUT_REFERENCE: ReadonlySet<LineKind> = new Set([
  'charge',
  'charge_gst',
  'interchange',
  'adjustment',
])
export const mayLackReference = (kind: LineKind): boolean => WITHOUT_REFERENCE.has(kind)

/** A payment has the UTR of its credit; of all else banks and networks have references of their own, of no common length. */
export const referenceFormOf = (kind: LineKind | undefined): ReferenceForm =>
  kind === undefined || kind === 'payment' ? {} : { min: 4, max: 64, digits: 'any' }

/** Why a line of a kind cannot have this amount; above zero it is money to us. */
export function sideProblem(rail: SettlementRail, kind: LineKind, amountPaise: bigint): string | undefined {
  const side = sideOf(rail, kind)
  if (side === 'in' && amountPaise < 0n) return `is below zero, and the line is a ${kind}`
  return side === 'out' && amountPaise > 0n ? `is above zero, and the line is a ${kind}` : undefined
}

/** `undefined`: transfers of the rail have no such lines. */
export const sideOf = (rail: SettlementRail, kind: LineKind): LineSide | undefined =>
  (KINDS_OF_RAIL[rail] as Partial<Record<LineKind, LineSide>>)[kind]

/** What a line states of its money: what stands beside it may not contradict that. */
export const moveOf = (kind: LineKind | undefined, amountPaise: bigint | undefined): StatedMove => ({
  of: kind === 'refund' ? 'refund' : 'settlement',
  outcome: 'success',
  side: amountPaise === undefined ? undefined : amountPaise < 0n ? 'debit' : 'credit',
  isReturn: kind === undefined ? (amountPaise ?? 0n) < 0n : /refund|dispute|chargeback/.test(kind),
  hasTexts: true,
})

const Word = Type.String({ minLength: 1, maxLength: 100 })
const Words = Type.Array(Word, { minItems: 1, maxItems: 50 })
const closed = { additionalProperties: false } as const

/** How a bank or payment service writes its files: what a JSON file of `--format` has. */
export const FileFormat = Type.Object(
  {
    columns: Type.Record(Type.String(), Type.Union([Word, Words]), {
      description:
        'Name of the column of each field, or several, of which the first that the heading has counts',
    }),
    optional: Type.Optional(
      Type.Array(Word, { description: 'Fields, or columns of charges and checks, that may be missing' }),
    ),
    unit: Type.Optional(Type.Enum(['rupees', 'paise'])),
    separator: Type.Optional(Type.String({ minLength: 1, maxLength: 1 })),
    encoding: Type.Optional(Type.Enum([...ENCODINGS])),
    skipLines: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 100, description: 'Lines above the heading' }),
    ),
    totals: Type.Optional(Type.Array(Word, { description: 'How lines begin that are totals' })),
    dates: Type.Optional(
      Type.Object({ pattern: Type.Optional(Word), utcOffset: Type.Optional(Word) }, closed),
    ),
    sign: Type.Optional(Type.Enum(['signed', 'debit-credit', 'by-kind', 'by-column'])),
    signs: Type.Optional(Type.Object({ credit: Words, debit: Words }, closed)),
    kinds: Type.Optional(Type.Record(Type.String(), Words)),
    where: Type.Optional(Type.Record(Type.String(), Words)),
    expand: Type.Optional(
      Type.Array(
        Type.Object(
          {
            kind: Type.Enum([...LINE_KINDS]),
            column: Word,
            less: Type.Optional(Word),
            sign: Type.Optional(Type.Literal('as-written')),
            givenBack: Type.Optional(
              Type.Boolean({ description: 'Payments may have it the other way round too' }),
            ),
          },
          closed,
        ),
        { maxItems: 20 },
      ),
    ),
    check: Type.Optional(Type.Record(Type.String(), Word)),
  },
  { title: 'FileFormat', ...closed },
)
export type FileFormat = Static<typeof FileFormat>

/** The fields that a purpose knows: required ones first. */
export interface FieldsOf {
  readonly required: readonly string[]
  readonly optional: readonly string[]
}

/** Reads a format out of JSON. Throws `FileRejected` with all that is wrong. */
export function readFormat(json: unknown, fields: FieldsOf): FileFormat {
  const problems = [...Value.Errors(FileFormat, json)].map(
    ({ instancePath, message }) => `${instancePath === '' ? 'the format' : instancePath.slice(1)} ${message}`,
  )
  if (problems.length > 0) throw new FileRejected(`The format is not valid: ${problems.join('; ')}`)
  const format = json as FileFormat
  const wrong = problemsOf(format, fields)
  if (wrong.length > 0) throw new FileRejected(`The format is not valid: ${wrong.join('; ')}`)
  return format
}

function* problemsIn(format: FileFormat, { required, optional }: FieldsOf): Generator<string> {
  const { columns, sign = 'signed', signs, kinds = {}, dates } = format
  const needed = required.filter((field) => field !== 'amount' || sign !== 'debit-credit')
  if (sign === 'debit-credit') needed.push('debit', 'credit')
  if (sign === 'by-column') needed.push('sign')
  if (sign === 'by-kind') needed.push('kind')
  for (const field of needed) if (!Object.hasOwn(columns, field)) yield `columns has no ${field}`
  for (const field of Object.keys(columns))
    if (![...needed, ...optional].includes(field)) yield `columns has ${field}, which no line has`
  for (const kind of Object.keys(kinds))
    if (!LINE_KINDS.some((known) => known === kind) && kind !== 'ignored')
      yield `kinds has ${kind}; it is one of ${LINE_KINDS.join(', ')} or ignored`
  if (sign === 'by-column' && !signs) yield 'signs must say which words are credit and debit'
  if (dates?.pattern !== undefined && !isTimePattern(dates.pattern))
    yield 'dates.pattern is no pattern such as dd/MM/yyyy'
  if (dates?.utcOffset !== undefined && !/^[+-]\d{2}:\d{2}$/.test(dates.utcOffset))
    yield 'dates.utcOffset must be such as +05:30'
  for (const equation of Object.values(format.check ?? {}))
    if (equation.split('=').length !== 2)
      yield `check: ${equation} is no equation such as credit = amount - fee`
}
const problemsOf = (format: FileFormat, fields: FieldsOf): string[] => [...problemsIn(format, fields)]

export const timeFormOf = ({ dates }: FileFormat): TimeForm => ({
  pattern: dates?.pattern,
  utcOffset: dates?.utcOffset,
})

/** Words of banks are one whatever their case and separators. */
export const canonicalWord = (word: string): string => word.replace(/[^\p{L}\p{N}]/gu, '').toUpperCase()

/** Columns that the format names besides those of its fields: of charges, and in equations. */
export const otherColumnsOf = ({ expand = [], check = {} }: FileFormat): readonly string[] => [
  ...expand.flatMap(({ column, less }) => (less === undefined ? [column] : [column, less])),
  ...Object.values(check).flatMap((equation) => equation.split(/=|\s[+-]\s/).map((name) => name.trim())),
]

export const namesOf = (format: FileFormat, field: string): readonly string[] => {
  const names = format.columns[field]
  return names === undefined ? [] : typeof names === 'string' ? [names] : names
}
