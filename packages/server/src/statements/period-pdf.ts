import type { Readable } from 'node:stream'
import { calendarDay, plainTimestamp } from '@svc/kernel/time'
import { type Heading, rupeesText, statementPdf } from './pdf.ts'

export interface Days {
  readonly from: string
  readonly to: string
}

/** The days of a statement, and when and where it is made. */
export interface Period {
  readonly days: Days
  readonly from: Date
  /** The first instant after it. */
  readonly to: Date
  readonly now: Date
  readonly timeZone: string
}

/** A movement of the balance, in every form of the statement. */
export interface Movement {
  readonly at: Date
  readonly kind: string
  /** With or for whom it was, for people. */
  readonly about: string
  /** Negative for what was paid. */
  readonly movedPaise: bigint
  /** The balance after it. */
  readonly after: bigint
  /** The line of JSON, and of CSV but for its amount, which is what was moved. */
  readonly record: Readonly<Record<string, string | number | undefined>>
}

/** A statement of whole days: of whom, from which balance to which, and by what. */
export interface PeriodStatement {
  readonly id: string
  readonly title: string
  readonly name: string
  readonly facts: readonly (readonly [label: string, value: string])[]
  /** What `about` of its movements is. */
  readonly about: string
  readonly period: Period
  readonly opening: bigint
  readonly closing: bigint
  readonly movements: readonly Movement[]
}

/** `card_back_to_source` as people read it: `Card back to source`. */
const sentenceCase = (kind: string): string => {
  const words = kind.replaceAll('_', ' ')
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}
/** An amount in its column, and nothing in the other one. */
const sideText = (amount: bigint): string => (amount > 0n ? rupeesText(amount) : '')

/** A statement of whole days: opening balance, every movement with the balance after it, closing balance. */
export function periodPdf(statement: PeriodStatement): Readable {
  const { id, title, name, about, period, opening, closing, movements } = statement
  const { days, now, timeZone } = period
  const heading: Heading = {
    title,
    name,
    facts: [
      ...statement.facts,
      ['Period', `${days.from} to ${days.to}`],
      ['Opening balance', rupeesText(opening)],
      ['Closing balance', rupeesText(closing)],
    ],
    foot: `${id}, made on ${calendarDay(now, timeZone)}; times in ${timeZone}`,
    createdAt: now,
  }
  return statementPdf(heading, (pdf) =>
    pdf.table<Movement>(
      'Movements',
      [
        { title: 'When', share: 0.195, cell: ({ at }) => plainTimestamp(at, timeZone) },
        { title: 'What', share: 0.135, cell: ({ kind }) => sentenceCase(kind) },
        { title: about, share: 0.31, cell: (movement) => movement.about },
        {
          title: 'Paid',
          share: 0.12,
          align: 'right',
          cell: ({ movedPaise }) => sideText(0n - movedPaise),
        },
        { title: 'Received', share: 0.12, align: 'right', cell: ({ movedPaise }) => sideText(movedPaise) },
        { title: 'Balance', share: 0.12, align: 'right', cell: ({ after }) => rupeesText(after) },
      ],
      movements,
    ),
  )
}
