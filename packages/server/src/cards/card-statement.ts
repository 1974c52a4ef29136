import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { looksLikeCardId } from '@svc/core/cards/card/card'
import { type CardStatement, readCardStatement } from '@svc/core/cards/card/card-statement'
import { CardTransactionRecord, cardTransactionToWire } from '@svc/core/cards/card/card-transaction'
import { CSV_MEDIA_TYPE, csvLine } from '@svc/kernel/csv'
import { formatRupees, paiseToWire } from '@svc/kernel/money'
import { type Clock, instantOfDay } from '@svc/kernel/time'
import type { Database } from '@svc/platform/db/database'
import { Type } from 'typebox'
import { preferredType } from '../http/accept.ts'
import { query, streamingQuery, succeedWithCode } from '../http/operation.ts'
import { StreamSlots } from '../http/stream-slots.ts'
import { PDF, PDFS_MAX } from '../statements/limits.ts'
import {
  DAY_MINUTES,
  OPENING_AND_CLOSING,
  type Period,
  PeriodQuery,
  readPeriod,
  STATEMENT_LINES_MAX,
} from './card-account-statement.ts'
import { CardParams, ofCards } from './get-card.ts'

const StatementRecord = Type.Object(
  {
    svcCardId: Type.String(),
    ...OPENING_AND_CLOSING,
    lines: Type.Array(CardTransactionRecord, {
      description: 'What moved the balance, oldest first; each `balance` is the one before it and its amount',
    }),
  },
  { title: 'CardStatement', additionalProperties: false },
)

const linesOf = ({ lines }: CardStatement, timeZone: string) =>
  lines.map((line) => ({ ...cardTransactionToWire(line, timeZone), balance: paiseToWire(line.after) }))

const toWire = (svcCardId: string, { from, to }: Period, statement: CardStatement, timeZone: string) => ({
  svcCardId,
  from,
  to,
  openingBalance: paiseToWire(statement.opening),
  closingBalance: paiseToWire(statement.closing),
  lines: linesOf(statement, timeZone),
})

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
] as const

/** The opening and the closing balance are lines too; an amount that left the card is negative. */
function toCsv({ from, to }: Period, statement: CardStatement, timeZone: string): string {
  const end = (createdOn: string, kind: string, balance: bigint) => ({
    createdOn,
    kind,
    balance: formatRupees(balance),
  })
  const lines = statement.lines.map((line) => ({
    ...cardTransactionToWire(line, timeZone),
    amount: formatRupees(line.movedPaise),
    balance: formatRupees(line.after),
  }))
  const rows: readonly Readonly<Partial<Record<(typeof COLUMNS)[number], string | undefined>>>[] = [
    end(from, 'opening', statement.opening),
    ...lines,
    end(to, 'closing', statement.closing),
  ]
  return [COLUMNS, ...rows.map((row) => COLUMNS.map((name) => row[name]))].map(csvLine).join('')
}

interface StatementRequest {
  readonly tenantId: string
  readonly svcCardId: string
  readonly query: Partial<Period>
}

interface StatementServices {
  readonly clock: Clock
  readonly database: Database
  readonly config: { readonly BUSINESS_TIME_ZONE: string }
}

/** The statement of a card for whole days. Throws `card_not_found`, or `validation_failed` for too many lines. */
async function readStatement(
  { clock, database, config: { BUSINESS_TIME_ZONE: timeZone } }: StatementServices,
  { tenantId: partnerId, svcCardId, query }: StatementRequest,
) {
  const now = new Date(clock.of(partnerId).now())
  const period = readPeriod(query, now, timeZone)
  const wanted = {
    partnerId,
    svcCardId,
    from: instantOfDay(period.from, 0, timeZone),
    to: instantOfDay(period.to, DAY_MINUTES, timeZone),
    limit: STATEMENT_LINES_MAX,
  }
  const found = looksLikeCardId(svcCardId)
    ? await database.read([partnerId], (tx) => readCardStatement(tx, wanted))
    : undefined
  const statement = found ?? fail('card_not_found')
  if (statement.hasMore)
    failField('from', 'minimum', `must leave at most ${STATEMENT_LINES_MAX} lines until to`)
  return { svcCardId, period, statement, timeZone, now }
}

const PATH = '/api/v0/partner/svcCard/:svcCardId/statement'
const ofCard = {
  ...ofCards('cards:read'),
  method: 'GET',
  params: CardParams,
  query: PeriodQuery,
} as const

/** Not in the specification (decision C25). */
export const getCardStatement = query({
  ...ofCard,
  id: 'getCardStatement',
  path: PATH,
  summary: 'Get statement of card',
  description: `Opening balance, every movement with the balance after it, and closing balance, for whole days; by default this month until today. At most ${STATEMENT_LINES_MAX} lines: a longer period is 400. With \`Accept: text/csv\` as CSV (RFC 4180).`,
  result: StatementRecord,
  alsoProduces: CSV_MEDIA_TYPE,
  errors: ['card_not_found'],
  mount(services) {
    return async ({ caller: { tenantId }, params: { svcCardId }, query, headers }) => {
      const { period, statement, timeZone } = await readStatement(services, { tenantId, svcCardId, query })
      if (preferredType(headers, ['application/json', CSV_MEDIA_TYPE]) === CSV_MEDIA_TYPE)
        return {
          headers: { 'content-type': `${CSV_MEDIA_TYPE}; charset=utf-8` },
          body: toCsv(period, statement, timeZone),
        }
      return { body: succeedWithCode(toWire(svcCardId, period, statement, timeZone)) }
    }
  },
})

/** Not in the specification (decision C25). */
export const getCardStatementPdf = streamingQuery({
  ...ofCard,
  id: 'getCardStatementPdf',
  path: `${PATH}.pdf`,
  summary: 'Get statement of card as PDF',
  description: 'The same period, balances and movements as in the statement.',
  result: Type.String({ format: 'binary', description: 'A4, fonts embedded' }),
  produces: PDF,
  errors: ['card_not_found', 'too_many_streams'],
  mount(services) {
    const slots = new StreamSlots(PDFS_MAX)
    return async ({ caller, params: { svcCardId }, query }) => {
      const { tenantId } = caller
      const found = await readStatement(services, { tenantId, svcCardId, query })
      const { cardPdf } = await import('../statements/card-pdf.ts')
      return {
        headers: { 'content-type': PDF },
        body: slots.stream(tenantId, caller, () => cardPdf(found)),
      }
    }
  },
})
