import { fail } from '@svc/contract/errors'
import { looksLikeCardId } from '@svc/core/cards/card/card'
import { type CardStatementLine, readCardStatement } from '@svc/core/cards/card/card-statement'
import { CardTransactionRecord, cardTransactionToWire } from '@svc/core/cards/card/card-transaction'
import { paiseToWire } from '@svc/kernel/money'
import { Type } from 'typebox'
import type { Movement } from '../statements/period-pdf.ts'
import {
  type FindStatement,
  readPeriod,
  requireAllLines,
  STATEMENT_LINES_MAX,
  statementOperation,
  statementPdfOperation,
  statementRecord,
} from '../statements/period-statement.ts'
import { CardParams, ofCards } from './get-card.ts'

const COLUMNS = [
  'createdOn',
  'transmissionTime',
  'kind',
  'amount',
  'balance',
  'merchantName',
  'merchantPlace',
  'mcc',
  'channel',
  'rrn',
  'acquirerId',
  'cardTransactionId',
  'transactionId',
]

function movementOf(line: CardStatementLine, timeZone: string): Movement {
  const { createdAt: at, kind, movedPaise, after, merchantName, merchantPlace, rrn } = line
  const about = [merchantName, merchantPlace, rrn].filter((text) => text !== null).join(', ')
  const record = { ...cardTransactionToWire(line, timeZone), balance: paiseToWire(after) }
  return { at, kind, about, movedPaise, after, record }
}

const FACE = {
  ...ofCards('cards:read'),
  path: '/api/v0/partner/svcCard/:svcCardId/statement',
  summary: 'Get statement of card',
  params: CardParams,
  errors: ['card_not_found'],
} as const

const find: FindStatement<typeof CardParams> = async (
  services,
  { caller: { tenantId: partnerId }, params: { svcCardId }, query },
) => {
  const period = readPeriod(query, services, partnerId)
  const wanted = { partnerId, svcCardId, from: period.from, to: period.to, limit: STATEMENT_LINES_MAX }
  const found = looksLikeCardId(svcCardId)
    ? await services.database.read([partnerId], (tx) => readCardStatement(tx, wanted))
    : undefined
  const statement = found ?? fail('card_not_found')
  requireAllLines(statement)
  return {
    id: svcCardId,
    title: 'Card statement',
    name: svcCardId,
    facts: [],
    about: 'Merchant and reference',
    period,
    opening: statement.opening,
    closing: statement.closing,
    movements: statement.lines.map((line) => movementOf(line, period.timeZone)),
  }
}

/** Not in the specification (decision C25). */
export const getCardStatement = statementOperation(
  {
    ...FACE,
    id: 'getCardStatement',
    result: statementRecord(
      'svcCardId',
      'CardStatement',
      Type.Array(CardTransactionRecord, {
        description:
          'What moved the balance, oldest first; each `balance` is the one before it and its amount',
      }),
    ),
  },
  COLUMNS,
  find,
)
export const getCardStatementPdf = statementPdfOperation({ ...FACE, id: 'getCardStatementPdf' }, find)
