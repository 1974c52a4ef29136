import { readingDays } from '@svc/core/bank-files/reading-days'
import { readStatement } from '@svc/core/bank-files/statement-file'
import { furthestAhead } from '@svc/core/ledger/transfers-since'
import { bankAccountToWire, listBankAccounts, PURPOSE_NAMES } from '@svc/core/statements/bank-account'
import { businessToday } from '@svc/core/statements/change-line'
import { importStatement, importToWire, previewStatement } from '@svc/core/statements/import-statement'
import { statementBalances } from '@svc/core/statements/proof'
import {
  LINE_STATUSES,
  type StatementLine,
  statementLines,
  statementLineToWire,
} from '@svc/core/statements/statement-line'
import { formatRupees } from '@svc/kernel/money'
import { Filters, readList } from '@svc/server/http/list'
import { query, type Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { actorOf } from './as-operator.ts'
import { fileBody, fileOf, refusingFile } from './bank-file-body.ts'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  exact,
  idParam,
  listOf,
  listQuery,
  maybe,
  oneOf,
  record,
  rupeesText,
  text,
} from './console-schema.ts'

const TAG = 'Bank statements'

const BankAccountRecord = record('BankAccount', {
  bankAccountId: Type.String(),
  purpose: Type.Enum([...PURPOSE_NAMES]),
  name: text(),
  accountEnds: text('The last four digits of its number'),
  ifsc: text(),
  openingBalance: rupeesText,
  from: text('The first day of its statements, `YYYY-MM-DD`'),
  through: Type.Optional(text('The last day of its statements; absent before the first one')),
  balance: text('Rupees with two decimals, as the bank said last'),
})
export const StatementLineRecord = record('StatementLine', {
  lineId: Type.String(),
  purpose: Type.Enum([...PURPOSE_NAMES]),
  date: text('Day on which the bank booked it, `YYYY-MM-DD`'),
  amount: text('Rupees with two decimals; above zero it is money to us'),
  reference: text(),
  narration: text(),
  status: Type.Enum([...LINE_STATUSES]),
  documentId: text('The movement in the books that it is; empty for none'),
  journalId: text('What was posted because of it; empty for nothing'),
  documentName: maybe('In lists: the reference of the transfer, or the merchant of the payout'),
  ageDays: Type.Integer(),
  owner: text('Who is to find out what it is'),
})
const StatementImportRecord = record('StatementImport', {
  statementId: Type.String(),
  openingBalance: text('Rupees with two decimals'),
  closingBalance: text('Rupees with two decimals'),
  lines: Type.Integer(),
  new: Type.Integer({ description: 'Lines that no statement had before; the other counts are of these' }),
  matched: Type.Integer(),
  differs: Type.Integer(),
  unmatched: Type.Integer(),
})
export const listBankAccountsInConsole = query({
  ...consoleOperation,
  id: 'console.listBankAccounts',
  method: 'GET',
  path: `${CONSOLE_API}/bank-accounts`,
  tag: TAG,
  summary: 'List our accounts at banks',
  permission: 'view',
  result: closed({ data: Type.Array(BankAccountRecord) }),
  errors: [],
  mount({ clock, config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async () => {
      const [found, balances] = await database.operate(async (tx) => [
        await listBankAccounts(tx),
        await statementBalances(tx, businessToday(clock.now() + (await furthestAhead(tx)), timeZone)),
      ])
      const data = found.map((account) => {
        const { balancePaise, through } = balances.get(account.bankAccountId) ?? {}
        return {
          ...bankAccountToWire(account),
          through: through ?? undefined,
          balance: formatRupees(balancePaise ?? account.openingPaise),
        }
      })
      return { body: JSON.stringify({ data }) }
    }
  },
})

type ListedLine = StatementLine & { readonly documentName: string | null }

export const listStatementLinesInConsole = query({
  ...consoleOperation,
  id: 'console.listStatementLines',
  method: 'GET',
  path: `${CONSOLE_API}/statement-lines`,
  tag: TAG,
  summary: 'List the lines of bank statements',
  permission: 'view',
  query: listQuery(BY_TIME, {
    status: oneOf([...LINE_STATUSES], 'Only these'),
    bankAccountId: exact('Only of this account'),
    reference: exact('Only with this reference'),
  }),
  result: listOf(StatementLineRecord),
  errors: [],
  mount({ clock, config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const filters = new Filters()
        .add('l.status = ?', query.status)
        .add('l.bank_account_id = ?', query.bankAccountId)
        .add('l.reference = ?', query.reference)
      const plan = {
        columns: `${statementLines.columns}, coalesce(b.batch_utr, m.name) as "documentName"`,
        table: 'statement_lines l',
        alias: 'l',
        joins: `left join settlement_batches b on b.tenant_id = l.tenant_id and b.batch_id = l.document_id
          left join payouts y on y.payout_id = l.document_id left join merchants m on m.merchant_id = y.merchant_id`,
        filters,
        keys: [{ sql: 'l.line_id', type: 'text' as const }],
        descending: query.sort !== 'created',
      }
      const today = businessToday(clock.now(), timeZone)
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (line: ListedLine) => ({
          ...statementLineToWire(line, today),
          documentName: line.documentName ?? undefined,
        })),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const importStatementInConsole = query({
  ...consoleOperation,
  ...fileBody,
  id: 'console.importStatement',
  method: 'POST',
  path: `${CONSOLE_API}/bank-accounts/:bankAccountId/statements`,
  tag: TAG,
  summary: 'Import a bank statement',
  description:
    'The body is the file: CSV, MT940 or camt.053. Lines that no earlier statement had are recorded and matched; a repeat changes nothing.',
  permission: 'finance',
  stepUp: true,
  params: idParam('bankAccountId'),
  result: StatementImportRecord,
  errors: ['bank_account_not_found', 'validation_failed'],
  mount(services) {
    return async ({ caller, params: { bankAccountId }, rawBody }) => {
      const done = await refusingFile(async () => {
        const { file, tools } = await readFile(services, rawBody)
        return importStatement(tools, file, { bankAccountId, by: actorOf(caller) })
      })
      return { body: JSON.stringify(importToWire(done)) }
    }
  },
})

export const readStatementInConsole = query({
  ...consoleOperation,
  ...fileBody,
  id: 'console.readStatement',
  method: 'POST',
  path: `${CONSOLE_API}/bank-accounts/:bankAccountId/statements/read`,
  tag: TAG,
  summary: 'Read a bank statement and record nothing',
  description: 'What importing the file would do: how many lines are new, and what of them fits.',
  permission: 'finance',
  safe: true,
  params: idParam('bankAccountId'),
  result: StatementImportRecord,
  errors: ['bank_account_not_found', 'validation_failed'],
  mount(services) {
    return async ({ caller, params: { bankAccountId }, rawBody }) => {
      const would = await refusingFile(async () => {
        const { file, tools } = await readFile(services, rawBody)
        return previewStatement(tools, file, { bankAccountId, by: actorOf(caller) })
      })
      return { body: JSON.stringify(importToWire(would)) }
    }
  },
})

/** The statement in a body, and what it is imported with. */
async function readFile({ clock, config, database, random }: Services, body: Buffer) {
  const days = await readingDays({ config, database }, clock)
  const { BUSINESS_TIME_ZONE: timeZone } = config
  const tools = { database, random, nowMs: () => clock.now(), timeZone }
  return { tools, file: await readStatement(fileOf(body), undefined, days) }
}
