import { failField } from '@svc/contract/fail-fields'
import { newId } from '@svc/contract/id-kinds'
import { readingDays } from '@svc/core/bank-files/reading-days'
import { readStatement } from '@svc/core/bank-files/statement-file'
import { furthestAhead } from '@svc/core/ledger/transfers-since'
import {
  bankAccountToWire,
  createBankAccount,
  listBankAccounts,
  PURPOSE_NAMES,
} from '@svc/core/statements/bank-account'
import { businessToday } from '@svc/core/statements/change-line'
import { importStatement, importToWire, previewStatement } from '@svc/core/statements/import-statement'
import { statementBalances } from '@svc/core/statements/proof'
import { formatRupees, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { recordAudit } from '@svc/platform/audit'
import { FreeText, readDay } from '@svc/server/http/fields'
import { query, type Services } from '@svc/server/http/operation'
import { listOf } from '@svc/server/http/resource'
import { type ListedStatementLine, statementLine } from '@svc/server/statements/statement-lines'
import { Type } from 'typebox'
import { actorOf, asOperator } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  reasonText,
  record,
  rupeesText,
  text,
} from '../console-schema.ts'
import { fileBody, fileOf, keepBody, namedFile, refusingFile } from './bank-file-body.ts'
import { BankAccountFields } from './payout-terms-operations.ts'

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

export const createBankAccountInConsole = query({
  ...consoleOperation,
  id: 'console.createBankAccount',
  stepUp: true,
  method: 'POST',
  path: `${CONSOLE_API}/bank-accounts`,
  tag: TAG,
  summary: 'Create a bank account of the company',
  description: 'A purpose has at most two. The same again returns it.',
  permission: 'finance',
  body: closed({
    purpose: Type.Enum([...PURPOSE_NAMES], { description: 'What it is for' }),
    name: FreeText(100, 'For people'),
    number: BankAccountFields.number,
    ifsc: BankAccountFields.ifsc,
    opening: Type.String({
      maxLength: 20,
      description: 'Rupees that it has at the beginning of its first day; may be below zero',
    }),
    from: Type.String({ maxLength: 10, description: 'The first day of its statements, `YYYY-MM-DD`' }),
    reason: Type.Optional(reasonText('Why; it is in the audit')),
  }),
  result: BankAccountRecord,
  errors: ['bank_account_exists', 'bank_accounts_of_purpose'],
  mount(services) {
    const { clock, random } = services
    return async (input) => {
      const { from, ifsc, name, number, opening, purpose, reason } = input.body
      const openingPaise =
        valueIn(readAmount(opening, { signed: true })) ??
        failField('opening', 'format', 'must be rupees with at most two decimals')
      const requested = {
        bankAccountId: newId('bac', clock.now(), random),
        purpose,
        name,
        accountNumber: number,
        ifsc,
        openingPaise,
        openedOn: readDay('from', from),
        createdBy: actorOf(input.caller),
      }
      const account = await asOperator(services, input, async (tx) => {
        const created = await createBankAccount(tx, requested)
        const { bankAccountId: target } = created
        if (target === requested.bankAccountId)
          recordAudit(tx, [
            { action: 'bank_account.created', target, details: { purpose, ...(reason && { reason }) } },
          ])
        return created
      })
      return {
        body: JSON.stringify({ ...bankAccountToWire(account), balance: formatRupees(account.openingPaise) }),
      }
    }
  },
})

export const listStatementLinesInConsole = listOf<ListedStatementLine>(statementLine, {
  ...consoleOperation,
  id: 'console.listStatementLines',
  path: `${CONSOLE_API}/statement-lines`,
  tag: TAG,
  summary: 'List the lines of bank statements',
  permission: 'view',
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
  query: closed(namedFile),
  result: StatementImportRecord,
  errors: ['bank_account_not_found', 'validation_failed'],
  mount(services) {
    return async (input) => {
      const { caller, params, rawBody } = input
      const { bankAccountId } = params
      const done = await refusingFile(async () => {
        const { file, tools } = await readFile(services, rawBody)
        return importStatement(tools, file, { bankAccountId, by: actorOf(caller) })
      })
      await keepBody(services, input, {
        kind: 'statement',
        lines: done.lines,
        unfitting: done.differs + done.unmatched,
        amountPaise: done.closingPaise,
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
