import type { Readable } from 'node:stream'
import type { CardStatement, CardStatementLine } from '@svc/core/cards/card/card-statement'
import { calendarDay, plainTimestamp } from '@svc/kernel/time'
import { sentenceCase, sideText } from './card-account-pdf.ts'
import { rupeesText, StatementPdf } from './pdf.ts'

interface StatementOfCard {
  readonly svcCardId: string
  readonly period: { readonly from: string; readonly to: string }
  readonly statement: CardStatement
  readonly timeZone: string
  readonly now: Date
}

const shopOf = ({ merchantName, merchantPlace, rrn }: CardStatementLine): string =>
  [merchantName, merchantPlace, rrn].filter((text) => text !== null).join(', ')

/** The statement of a card: opening balance, every movement with the balance after it, closing balance. */
export function cardPdf({ svcCardId, period, statement, timeZone, now }: StatementOfCard): Readable {
  const pdf = new StatementPdf({
    title: 'Card statement',
    name: svcCardId,
    facts: [
      ['Period', `${period.from} to ${period.to}`],
      ['Opening balance', rupeesText(statement.opening)],
      ['Closing balance', rupeesText(statement.closing)],
    ],
    foot: `${svcCardId}, made on ${calendarDay(now, timeZone)}; times in ${timeZone}`,
    createdAt: now,
  })
  const write = async () => {
    await pdf.table<CardStatementLine>(
      'Movements',
      [
        { title: 'When', share: 0.195, cell: ({ createdAt }) => plainTimestamp(createdAt, timeZone) },
        { title: 'What', share: 0.135, cell: ({ kind }) => sentenceCase(kind) },
        { title: 'Merchant and reference', share: 0.31, cell: shopOf },
        {
          title: 'Paid',
          share: 0.12,
          align: 'right',
          cell: ({ movedPaise }) => sideText(movedPaise < 0n ? 0n - movedPaise : 0n),
        },
        {
          title: 'Received',
          share: 0.12,
          align: 'right',
          cell: ({ movedPaise }) => sideText(movedPaise > 0n ? movedPaise : 0n),
        },
        { title: 'Balance', share: 0.12, align: 'right', cell: ({ after }) => rupeesText(after) },
      ],
      statement.lines,
    )
    pdf.end()
  }
  write().catch((error: unknown) => pdf.stream.destroy(error as Error))
  return pdf.stream
}
