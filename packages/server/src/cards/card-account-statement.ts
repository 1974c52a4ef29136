import { fail } from '@svc/contract/errors'
import { accountId } from '@svc/core/ledger/accounts'
import { accountStatement, type StatementLine } from '@svc/core/ledger/books'
import { aheadOf } from '@svc/core/ledger/transfers-since'
import { required } from '@svc/kernel/invariant'
import { paiseToWire } from '@svc/kernel/money'
import { type Clock, rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { Type } from 'typebox'
import { findRow } from '../http/resource.ts'
import type { Movement, Period, PeriodStatement } from '../statements/period-pdf.ts'
import {
  type FindStatement,
  readPeriod,
  requireAllLines,
  STATEMENT_LINES_MAX,
  statementOperation,
  statementPdfOperation,
  statementRecord,
} from '../statements/period-statement.ts'
import { ACCOUNTS, AccountParams, cardAccount, type ListedAccount, ofAccounts } from './card-accounts.ts'

const Line = Type.Object(
  {
    createdOn: Type.String({ description: 'RFC 3339' }),
    kind: Type.String({
      description: 'Such as `card_funding`, `card_load`, `card_back_to_source`, `card_withdrawal`',
    }),
    amount: Type.Number({ description: 'Rupees; negative where the account pays' }),
    balance: Type.Number({ description: 'Rupees after it' }),
    svcCardId: Type.Optional(Type.String({ description: 'The card that was loaded or emptied' })),
    reference: Type.Optional(Type.String({ description: 'The bank’s reference of a funding or withdrawal' })),
    transactionId: Type.String(),
  },
  { additionalProperties: false },
)

function movementOf(line: StatementLine, timeZone: string): Movement {
  const { at, kind, objectId, credit, debit, balance: after } = line
  const movedPaise = credit - debit
  const svcCardId = objectId.startsWith('card_') ? objectId : undefined
  const reference = line.reference ?? undefined
  const record = {
    createdOn: rfc3339(at, timeZone),
    kind,
    amount: paiseToWire(movedPaise),
    balance: paiseToWire(after),
    svcCardId,
    reference,
    transactionId: line.transferId,
  }
  return { at, kind, about: reference ?? svcCardId ?? '', movedPaise, after, record }
}

interface Wanted {
  readonly tenantId: string
  readonly cardAccountId: string
  readonly period: Period
  readonly clock: Clock
}

/** The statement of a card account. Throws `card_account_not_found`, or `validation_failed` for too many lines. */
export async function readCardAccountStatement(
  tx: Tx,
  { tenantId, cardAccountId, period, clock }: Wanted,
): Promise<PeriodStatement> {
  const scope = { reader: 'tenant', tenantId } as const
  const account =
    (await findRow<ListedAccount>(tx, cardAccount, scope, cardAccountId)) ?? fail('card_account_not_found')
  const found = await accountStatement(tx, {
    accountId: accountId('card_funding', cardAccountId),
    from: period.from,
    to: period.to,
    limit: STATEMENT_LINES_MAX,
    aheadMs: aheadOf(clock, tenantId),
  })
  const statement = required(found, 'a card account has an account of the ledger')
  requireAllLines(statement)
  return {
    id: cardAccountId,
    title: 'Card account statement',
    name: account.companyName,
    facts: [['Card account', `${cardAccountId}, ${account.programme}`]],
    about: 'Card or reference',
    period,
    opening: statement.opening,
    closing: statement.closing,
    movements: statement.lines.map((line) => movementOf(line, period.timeZone)),
  }
}

const FACE = {
  ...ofAccounts('cards:read'),
  path: `${ACCOUNTS}/:cardAccountId/statement`,
  summary: 'Get statement of card account',
  params: AccountParams,
  errors: ['card_account_not_found'],
} as const

const find: FindStatement<typeof AccountParams> = (
  services,
  { caller: { tenantId }, params: { cardAccountId }, query },
) => {
  const { clock, database } = services
  const period = readPeriod(query, services, tenantId)
  return database.read([tenantId], (tx) =>
    readCardAccountStatement(tx, { tenantId, cardAccountId, period, clock }),
  )
}

/** Not in the specification. */
export const getCardAccountStatement = statementOperation(
  {
    ...FACE,
    id: 'getCardAccountStatement',
    result: statementRecord(
      'cardAccountId',
      'CardAccountStatement',
      Type.Array(Line, { description: 'Oldest first' }),
    ),
  },
  Object.keys(Line.properties),
  find,
)
export const getCardAccountStatementPdf = statementPdfOperation(
  { ...FACE, id: 'getCardAccountStatementPdf' },
  find,
)
