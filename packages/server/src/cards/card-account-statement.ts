import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { accountId } from '@svc/core/ledger/accounts'
import { accountStatement, type Statement, type StatementLine } from '@svc/core/ledger/books'
import { aheadOf } from '@svc/core/ledger/transfers-since'
import { CSV_MEDIA_TYPE, csvLine } from '@svc/kernel/csv'
import { required } from '@svc/kernel/invariant'
import { formatRupees, paiseToWire } from '@svc/kernel/money'
import { type Clock, calendarDay, instantOfDay, isDay, rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { Type } from 'typebox'
import { preferredType } from '../http/accept.ts'
import { query, streamingQuery, succeedWithCode } from '../http/operation.ts'
import { findRow } from '../http/resource.ts'
import { StreamSlots } from '../http/stream-slots.ts'
import { PDF, PDFS_MAX } from '../statements/limits.ts'
import { ACCOUNTS, AccountParams, cardAccount, type ListedAccount, ofAccounts } from './card-accounts.ts'

export const STATEMENT_LINES_MAX = 10_000
export const DAY_MINUTES = 1_440

/** The period of a statement, and the balances at its ends. */
export const OPENING_AND_CLOSING = {
  from: Type.String({ description: 'First day, `YYYY-MM-DD`' }),
  to: Type.String({ description: 'Last day, `YYYY-MM-DD`' }),
  openingBalance: Type.Number({ description: 'Rupees at the beginning of the first day' }),
  closingBalance: Type.Number({ description: 'Rupees at the end of the last day, or now' }),
}

const StatementRecord = Type.Object(
  {
    cardAccountId: Type.String(),
    ...OPENING_AND_CLOSING,
    lines: Type.Array(
      Type.Object(
        {
          createdOn: Type.String({ description: 'RFC 3339' }),
          kind: Type.String({
            description: 'Such as `card_funding`, `card_load`, `card_back_to_source`, `card_withdrawal`',
          }),
          amount: Type.Number({ description: 'Rupees; negative where the account pays' }),
          balance: Type.Number({ description: 'Rupees after it' }),
          svcCardId: Type.Optional(Type.String({ description: 'The card that was loaded or emptied' })),
          reference: Type.Optional(
            Type.String({ description: 'The bank’s reference of a funding or withdrawal' }),
          ),
          transactionId: Type.String(),
        },
        { additionalProperties: false },
      ),
      { description: 'Oldest first' },
    ),
  },
  { title: 'CardAccountStatement', additionalProperties: false },
)

const day = (description: string) =>
  Type.Optional(
    Type.String({ maxLength: 10, description: `${description}, \`YYYY-MM-DD\` in the business time zone` }),
  )

export const PeriodQuery = Type.Object(
  { from: day('First day'), to: day('Last day') },
  { additionalProperties: false },
)

export interface Period {
  readonly from: string
  readonly to: string
}

/** The days of a statement; by default the month until today. */
export function readPeriod({ from, to }: Partial<Period>, now: Date, timeZone: string): Period {
  const today = calendarDay(now, timeZone)
  const period = { from: from ?? `${(to ?? today).slice(0, 8)}01`, to: to ?? today }
  for (const name of ['from', 'to'] as const)
    if (!isDay(period[name])) failField(name, 'format', 'must be a day, such as 2026-04-01')
  if (period.from > period.to) failField('to', 'minimum', 'must not be before from')
  return period
}

interface StatementRequest {
  readonly tenantId: string
  readonly cardAccountId: string
  readonly period: Period
  readonly timeZone: string
  readonly clock: Clock
}

/** The account and its statement. Throws `card_account_not_found`, or `validation_failed` for too many lines. */
export async function readCardAccountStatement(
  tx: Tx,
  { tenantId, cardAccountId, period, timeZone, clock }: StatementRequest,
) {
  const scope = { reader: 'tenant', tenantId } as const
  const account =
    (await findRow<ListedAccount>(tx, cardAccount, scope, cardAccountId)) ?? fail('card_account_not_found')
  const found = await accountStatement(tx, {
    accountId: accountId('card_funding', cardAccountId),
    from: instantOfDay(period.from, 0, timeZone),
    to: instantOfDay(period.to, DAY_MINUTES, timeZone),
    limit: STATEMENT_LINES_MAX,
    aheadMs: aheadOf(clock, tenantId),
  })
  const statement = required(found, 'a card account has an account of the ledger')
  if (statement.hasMore)
    failField('from', 'minimum', `must leave at most ${STATEMENT_LINES_MAX} lines until to`)
  return { account, statement }
}

const amountOf = ({ credit, debit }: StatementLine): bigint => credit - debit
const cardOf = ({ objectId }: StatementLine): string | undefined =>
  objectId.startsWith('card_') ? objectId : undefined

const toWire = (cardAccountId: string, { from, to }: Period, statement: Statement, timeZone: string) => ({
  cardAccountId,
  from,
  to,
  openingBalance: paiseToWire(statement.opening),
  closingBalance: paiseToWire(statement.closing),
  lines: statement.lines.map((line) => ({
    createdOn: rfc3339(line.at, timeZone),
    kind: line.kind,
    amount: paiseToWire(amountOf(line)),
    balance: paiseToWire(line.balance),
    svcCardId: cardOf(line),
    reference: line.reference ?? undefined,
    transactionId: line.transferId,
  })),
})

const HEADER = ['createdOn', 'kind', 'amount', 'balance', 'svcCardId', 'reference', 'transactionId']
/** The opening and the closing balance are lines too. */
function toCsv({ from, to }: Period, { opening, closing, lines }: Statement, timeZone: string): string {
  const row = (line: StatementLine) => [
    rfc3339(line.at, timeZone),
    line.kind,
    formatRupees(amountOf(line)),
    formatRupees(line.balance),
    cardOf(line),
    line.reference,
    line.transferId,
  ]
  const end = (on: string, kind: string, balance: bigint) => [on, kind, '', formatRupees(balance), '', '', '']
  return [HEADER, end(from, 'opening', opening), ...lines.map(row), end(to, 'closing', closing)]
    .map(csvLine)
    .join('')
}

/** Not in the specification. */
export const getCardAccountStatement = query({
  ...ofAccounts('cards:read'),
  id: 'getCardAccountStatement',
  method: 'GET',
  path: `${ACCOUNTS}/:cardAccountId/statement`,
  summary: 'Get statement of card account',
  description: `Opening balance, every movement with the balance after it, and closing balance, for whole days; by default this month until today. At most ${STATEMENT_LINES_MAX} lines: a longer period is 400. With \`Accept: text/csv\` as CSV (RFC 4180).`,
  params: AccountParams,
  query: PeriodQuery,
  result: StatementRecord,
  alsoProduces: CSV_MEDIA_TYPE,
  errors: ['card_account_not_found'],
  mount({ clock, database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    return async ({ caller: { tenantId }, params: { cardAccountId }, query, headers }) => {
      const period = readPeriod(query, new Date(clock.of(tenantId).now()), timeZone)
      const { statement } = await database.read([tenantId], (tx) =>
        readCardAccountStatement(tx, { tenantId, cardAccountId, period, timeZone, clock }),
      )
      if (preferredType(headers, ['application/json', CSV_MEDIA_TYPE]) === CSV_MEDIA_TYPE)
        return {
          headers: { 'content-type': `${CSV_MEDIA_TYPE}; charset=utf-8` },
          body: toCsv(period, statement, timeZone),
        }
      return { body: succeedWithCode(toWire(cardAccountId, period, statement, timeZone)) }
    }
  },
})

/** Not in the specification. */
export const getCardAccountStatementPdf = streamingQuery({
  ...ofAccounts('cards:read'),
  id: 'getCardAccountStatementPdf',
  method: 'GET',
  path: `${ACCOUNTS}/:cardAccountId/statement.pdf`,
  summary: 'Get statement of card account as PDF',
  description: 'The same period, balances and movements as in the statement.',
  params: AccountParams,
  query: PeriodQuery,
  result: Type.String({ format: 'binary', description: 'A4, fonts embedded' }),
  produces: PDF,
  errors: ['card_account_not_found', 'too_many_streams'],
  mount({ clock, database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    const slots = new StreamSlots(PDFS_MAX)
    return async ({ caller, params: { cardAccountId }, query }) => {
      const { tenantId } = caller
      const now = new Date(clock.of(tenantId).now())
      const period = readPeriod(query, now, timeZone)
      const found = await database.read([tenantId], (tx) =>
        readCardAccountStatement(tx, { tenantId, cardAccountId, period, timeZone, clock }),
      )
      const { cardAccountPdf } = await import('../statements/card-account-pdf.ts')
      return {
        headers: { 'content-type': PDF },
        body: slots.stream(tenantId, caller, () => cardAccountPdf({ ...found, period, timeZone, now })),
      }
    }
  },
})
