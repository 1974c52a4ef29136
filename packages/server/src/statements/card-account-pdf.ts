import type { Readable } from 'node:stream'
import type { CardAccount } from '@svc/core/cards/account/card-account'
import type { Statement, StatementLine } from '@svc/core/ledger/books'
import { calendarDay, plainTimestamp } from '@svc/kernel/time'
import { rupeesText, StatementPdf } from './pdf.ts'

interface CardAccountStatement {
  readonly account: Pick<CardAccount, 'cardAccountId' | 'companyName' | 'programme'>
  readonly period: { readonly from: string; readonly to: string }
  readonly statement: Statement
  readonly timeZone: string
  readonly now: Date
}

/** `card_back_to_source` as people read it: `Card back to source`. */
export const sentenceCase = (kind: string): string => {
  const words = kind.replaceAll('_', ' ')
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}
/** An amount in its column, and nothing in the other one. */
export const sideText = (amount: bigint): string => (amount === 0n ? '' : rupeesText(amount))

/** The statement of a card account: opening balance, every movement with the balance after it, closing balance. */
export function cardAccountPdf(requested: CardAccountStatement): Readable {
  const { account, period, statement, timeZone, now } = requested
  const { cardAccountId, companyName, programme } = account
  const pdf = new StatementPdf({
    title: 'Card account statement',
    name: companyName,
    facts: [
      ['Card account', `${cardAccountId}, ${programme}`],
      ['Period', `${period.from} to ${period.to}`],
      ['Opening balance', rupeesText(statement.opening)],
      ['Closing balance', rupeesText(statement.closing)],
    ],
    foot: `${cardAccountId}, made on ${calendarDay(now, timeZone)}; times in ${timeZone}`,
    createdAt: now,
  })
  const write = async () => {
    await pdf.table<StatementLine>(
      'Movements',
      [
        { title: 'When', share: 0.195, cell: ({ at }) => plainTimestamp(at, timeZone) },
        { title: 'What', share: 0.135, cell: ({ kind }) => sentenceCase(kind) },
        {
          title: 'Card or reference',
          share: 0.31,
          cell: ({ objectId, reference }) => reference ?? (objectId.startsWith('card_') ? objectId : ''),
        },
        { title: 'Paid', share: 0.12, align: 'right', cell: ({ debit }) => sideText(debit) },
        { title: 'Received', share: 0.12, align: 'right', cell: ({ credit }) => sideText(credit) },
        { title: 'Balance', share: 0.12, align: 'right', cell: ({ balance }) => rupeesText(balance) },
      ],
      statement.lines,
    )
    pdf.end()
  }
  write().catch((error: unknown) => pdf.stream.destroy(error as Error))
  return pdf.stream
}
