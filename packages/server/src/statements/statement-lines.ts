import { PURPOSE_NAMES } from '@svc/core/statements/bank-account'
import { businessToday } from '@svc/core/statements/change-line'
import {
  LINE_STATUSES,
  type StatementLine,
  statementLines,
  statementLineToWire,
} from '@svc/core/statements/statement-line'
import { Type } from 'typebox'
import { choiceFilter, exactFilter, type Resource } from '../http/resource.ts'

/** A line with the name of what it is, and the database’s time, from which its age is counted. */
export interface ListedStatementLine extends StatementLine {
  readonly documentName: string | null
  readonly now: Date
}

const text = (description?: string) => Type.String(description === undefined ? {} : { description })
export const StatementLineRecord = Type.Object(
  {
    lineId: text(),
    purpose: Type.Enum([...PURPOSE_NAMES]),
    date: text('Day on which the bank booked it, `YYYY-MM-DD`'),
    amount: text('Rupees with two decimals; above zero it is money to us'),
    reference: text(),
    narration: text(),
    status: Type.Enum([...LINE_STATUSES]),
    documentId: text('The movement in the books that it is; empty for none'),
    journalId: text('What was posted because of it; empty for nothing'),
    documentName: Type.Optional(
      text('In lists: the reference of the transfer, or the merchant of the payout'),
    ),
    ageDays: Type.Integer(),
    owner: text('Who is to find out what it is'),
  },
  { title: 'StatementLine', additionalProperties: false },
)

/** What banks say of our accounts, line by line; operators alone read it. */
export const statementLine = {
  titles: { operator: 'StatementLine' },
  record: {
    schema: StatementLineRecord,
    toWire: (line, timeZone) => ({
      ...statementLineToWire(line, businessToday(line.now.getTime(), timeZone)),
      documentName: line.documentName ?? undefined,
    }),
  },
  from: {
    columns: `${statementLines.columns}, coalesce(b.batch_utr, m.name) as "documentName", clock_timestamp() as now`,
    table: 'statement_lines l',
    alias: 'l',
    joins: `left join settlement_batches b on b.tenant_id = l.tenant_id and b.batch_id = l.document_id
      left join payouts y on y.payout_id = l.document_id left join merchants m on m.merchant_id = y.merchant_id`,
  },
  tenant: 'l.tenant_id',
  keys: [{ sql: 'l.line_id', type: 'text' }],
  sorts: {
    date: [
      { sql: 'l.booked_on', type: 'date' },
      { sql: 'l.place', type: 'bigint' },
      { sql: 'l.line_id', type: 'text' },
    ],
  },
  fields: {},
  filters: {
    status: { schema: choiceFilter(LINE_STATUSES), sql: 'l.status = ?' },
    bankAccountId: { schema: exactFilter('Only of this account'), sql: 'l.bank_account_id = ?' },
    reference: { schema: exactFilter('Only with this reference'), sql: 'l.reference = ?' },
  },
} satisfies Resource<ListedStatementLine>
