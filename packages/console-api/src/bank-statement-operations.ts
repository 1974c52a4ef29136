import { failField } from '@svc/contract/fail-fields'
import { FileRejected, type FileSource } from '@svc/core/bank-files/file-source'
import { readStatement } from '@svc/core/bank-files/statement-file'
import { furthestAhead } from '@svc/core/ledger/transfers-since'
import { bankAccountToWire, listBankAccounts, PURPOSE_NAMES } from '@svc/core/statements/bank-account'
import { businessToday } from '@svc/core/statements/change-line'
import { importStatement, importToWire } from '@svc/core/statements/import-statement'
import {
  LINE_STATUSES,
  type StatementLine,
  statementLines,
  statementLineToWire,
} from '@svc/core/statements/statement-line'
import { listProofs, storedProofToWire } from '@svc/core/statements/stored-proofs'
import { Filters, readList } from '@svc/server/http/list'
import { query, type Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { actorOf } from './as-operator.ts'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  exact,
  idParam,
  instant,
  listOf,
  listQuery,
  oneOf,
  record,
  rupeesText,
  text,
} from './console-schema.ts'

const TAG = 'Bank statements'
const FILE_BYTES_MAX = 16 * 2 ** 20
const PROOFS_SHOWN = 400

const BankAccountRecord = record('BankAccount', {
  bankAccountId: Type.String(),
  purpose: Type.Enum([...PURPOSE_NAMES]),
  name: text(),
  accountEnds: text('The last four digits of its number'),
  ifsc: text(),
  openingBalance: rupeesText,
  from: text('The first day of its statements, `YYYY-MM-DD`'),
})
const StatementLineRecord = record('StatementLine', {
  lineId: Type.String(),
  purpose: Type.Enum([...PURPOSE_NAMES]),
  date: text('Day on which the bank booked it, `YYYY-MM-DD`'),
  amount: text('Rupees with two decimals; above zero it is money to us'),
  reference: text(),
  narration: text(),
  status: Type.Enum([...LINE_STATUSES]),
  documentId: text('The movement in the books that it is; empty for none'),
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
const FundsProofRecord = record('FundsProof', {
  date: text('At the end of this day, `YYYY-MM-DD`'),
  version: Type.Integer(),
  provisional: Type.Boolean({ description: 'A statement of the day was missing' }),
  unexplained: rupeesText,
  shortfall: rupeesText,
  signed: text('A compact JWS that has all of it'),
  provenOn: instant,
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
  mount({ database }) {
    return async () => {
      const found = await database.operate(listBankAccounts)
      return { body: JSON.stringify({ data: found.map(bankAccountToWire) }) }
    }
  },
})

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
        columns: statementLines.columns,
        table: 'statement_lines l',
        alias: 'l',
        filters,
        keys: [{ sql: 'l.line_id', type: 'text' as const }],
        descending: query.sort !== 'created',
      }
      const today = businessToday(clock.now(), timeZone)
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (line: StatementLine) => statementLineToWire(line, today)),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const importStatementInConsole = query({
  ...consoleOperation,
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
  body: Type.Any({ description: 'The file, as the bank made it' }),
  acceptsAnyBody: true,
  bodyBytesMax: FILE_BYTES_MAX,
  takesLong: true,
  result: StatementImportRecord,
  errors: ['bank_account_not_found', 'validation_failed'],
  mount(services) {
    return async ({ caller, params: { bankAccountId }, rawBody }) => {
      const done = await importFile(services, rawBody, { bankAccountId, by: actorOf(caller) })
      return { body: JSON.stringify(importToWire(done)) }
    }
  },
})

async function importFile(
  { clock, config: { BUSINESS_TIME_ZONE: timeZone }, database, random }: Services,
  file: Buffer,
  of: { readonly bankAccountId: string; readonly by: string },
) {
  const source: FileSource = {
    name: 'the statement',
    async *bytes() {
      yield file
    },
  }
  const aheadMs = await database.operate((tx) => furthestAhead(tx))
  const days = { zone: timeZone, today: businessToday(clock.now() + aheadMs, timeZone) }
  try {
    const statement = await readStatement(source, undefined, days)
    return await importStatement({ database, random, nowMs: () => clock.now(), timeZone }, statement, of)
  } catch (error) {
    if (error instanceof FileRejected) return failField('file', 'format', error.message)
    throw error
  }
}

export const listFundsProofs = query({
  ...consoleOperation,
  id: 'console.listFundsProofs',
  method: 'GET',
  path: `${CONSOLE_API}/funds-proofs`,
  tag: TAG,
  summary: 'List the proofs of funds, the latest of each day',
  permission: 'view',
  result: closed({ data: Type.Array(FundsProofRecord) }),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async () => {
      const found = await database.operate((tx) => listProofs(tx, PROOFS_SHOWN))
      return { body: JSON.stringify({ data: found.map((proof) => storedProofToWire(proof, timeZone)) }) }
    }
  },
})
