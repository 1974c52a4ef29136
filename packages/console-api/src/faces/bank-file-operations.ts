import { Readable } from 'node:stream'
import { fail } from '@svc/contract/errors'
import { BANK_FILE_KINDS, findFile, type KeptFile } from '@svc/core/bank-files/kept-files'
import { readingDays } from '@svc/core/bank-files/reading-days'
import { recognizeFile } from '@svc/core/bank-files/recognize-file'
import { SETTLEMENT_FORMATS } from '@svc/core/bank-files/shipped-formats'
import { readStatement } from '@svc/core/bank-files/statement-file'
import { readBankDays } from '@svc/core/ledger/bank-holidays'
import { furthestAhead } from '@svc/core/ledger/transfers-since'
import { PAYOUT_RUNS } from '@svc/core/payments/bank-runs/payout-runs'
import { REFUND_RUNS } from '@svc/core/payments/bank-runs/refund-runs'
import { SETTLEMENT_RAILS } from '@svc/core/payments/settlements/batch'
import { listBankAccounts } from '@svc/core/statements/bank-account'
import { businessToday } from '@svc/core/statements/change-line'
import { statementBalances } from '@svc/core/statements/proof'
import { formatRupees, type Paise } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { query, type Services, streamingQuery } from '@svc/server/http/operation'
import { listOf } from '@svc/server/http/resource'
import { bankFile } from '@svc/server/statements/bank-files'
import { Type } from 'typebox'
import { missingFiles } from '../alerts/missing-files.ts'
import { asOperator } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  maybe,
  maybeInstant,
  oneOf,
  record,
  text,
} from '../console-schema.ts'
import { fileBody, fileOf, refusingFile } from './bank-file-body.ts'

const PATH = `${CONSOLE_API}/bank-files`
const ofFiles = { ...consoleOperation, tag: 'Bank files' } as const
const RUNS_READ = 100

const Kind = Type.Enum([...BANK_FILE_KINDS], {
  description: '`payouts` and `refunds`: what the bank says of those that were sent to it',
})

export const recognizeBankFile = query({
  ...ofFiles,
  ...fileBody,
  id: 'console.recognizeBankFile',
  method: 'POST',
  path: `${PATH}/recognize`,
  summary: 'Say what a file of the bank is, and record nothing',
  description: 'By its heading, or its first lines. Read it by the operation of its kind.',
  permission: 'finance',
  safe: true,
  result: record('RecognizedBankFile', {
    kind: Kind,
    rail: oneOf([...SETTLEMENT_RAILS], 'Of a settlement: whose transfers they are'),
    format: oneOf(Object.keys(SETTLEMENT_FORMATS), 'Of a settlement: how it is written'),
    bankAccountId: maybe('Of a statement: the account, where the file says which, or its balance follows'),
  }),
  errors: ['validation_failed'],
  mount(services) {
    return async ({ rawBody }) => {
      const found = await refusingFile(() => recognizeFile(fileOf(rawBody)))
      const account = found.kind === 'statement' ? { bankAccountId: await accountOf(services, rawBody) } : {}
      return { body: JSON.stringify({ ...found, ...account }) }
    }
  },
})

/** The account of a statement: by its number, or else by the balance that the file goes on from. */
async function accountOf(services: Services, body: Buffer): Promise<string | undefined> {
  const { clock, config, database } = services
  const days = await readingDays({ config, database }, clock)
  const file = await refusingFile(() => readStatement(fileOf(body), undefined, days))
  const { accountNumber: stated, openingPaise } = file
  const [accounts, balances] = await database.operate(async (tx) => [
    await listBankAccounts(tx),
    await statementBalances(tx, businessToday(clock.now() + (await furthestAhead(tx)), days.zone)),
  ])
  const only = (those: typeof accounts) => (those.length === 1 ? those[0]!.bankAccountId : undefined)
  if (stated !== undefined)
    return only(accounts.filter(({ accountNumber }) => stated.endsWith(accountNumber.toUpperCase())))
  const following = accounts.filter(
    (each) => (balances.get(each.bankAccountId)?.balancePaise ?? each.openingPaise) === openingPaise,
  )
  return only(following) ?? only(accounts)
}

export const showExpectedFiles = query({
  ...ofFiles,
  id: 'console.showExpectedFiles',
  method: 'GET',
  path: `${PATH}/expected`,
  summary: 'Show what the bank owes today',
  description:
    'Files that should have come by today’s calendar, and files that were sent of which the bank has not said everything.',
  permission: 'view',
  result: closed({
    data: Type.Array(
      record('ExpectedBankFile', {
        kind: Kind,
        id: text(
          'The value date of a settlement, the account of a statement, the run of a file that was sent',
        ),
        name: text('The value date, the name of the account, or when the file was sent'),
        count: Type.Optional(Type.Integer({ description: 'Payouts or refunds without a final response' })),
        amount: maybe('Rupees with two decimals: at least so much of a settlement, or of the whole run'),
        dueOn: maybeInstant,
      }),
      { description: 'The longest due first' },
    ),
  }),
  errors: [],
  mount({ clock, config, database }) {
    const zone = config.BUSINESS_TIME_ZONE
    return async () => {
      const { missing, sent } = await database.report(async (tx) => ({
        missing: await missingFiles(tx, await readBankDays(tx), new Date(clock.now()), config),
        sent: await unansweredRuns(tx, zone),
      }))
      const owed = (['settlement', 'statement'] as const).flatMap((kind) =>
        missing[kind === 'settlement' ? 'settlement_files' : 'bank_statements'].map(
          ({ about, amount, due, id }) => ({
            kind,
            id,
            name: about,
            amount: amount === null ? undefined : formatRupees(amount as Paise),
            dueOn: rfc3339(due, zone),
          }),
        ),
      )
      owed.sort((one, other) => one.dueOn.localeCompare(other.dueOn))
      return { body: JSON.stringify({ data: [...owed, ...sent] }) }
    }
  },
})

const unansweredRuns = async (tx: Tx, zone: string) =>
  (
    [
      ['payouts', await PAYOUT_RUNS.runs(tx, RUNS_READ)],
      ['refunds', await REFUND_RUNS.runs(tx, RUNS_READ)],
    ] as const
  ).flatMap(([kind, runs]) =>
    runs
      .filter(({ open }) => open > 0)
      .map(({ amountPaise, open, runId, sentAt }) => ({
        kind,
        id: runId,
        name: rfc3339(sentAt, zone),
        count: open,
        amount: formatRupees(amountPaise),
      })),
  )

export const listBankFiles = listOf<KeptFile>(bankFile, {
  ...ofFiles,
  id: 'console.listBankFiles',
  path: PATH,
  summary: 'List files of banks that were recorded',
  permission: 'view',
})

export const showBankFileContent = streamingQuery({
  ...ofFiles,
  id: 'console.showBankFileContent',
  method: 'GET',
  path: `${PATH}/:bankFileId/content`,
  summary: 'Get a file of the bank as it was recorded',
  permission: 'finance',
  params: idParam('bankFileId'),
  result: Type.String({ format: 'binary', description: 'The bytes that were recorded' }),
  produces: 'application/octet-stream',
  errors: ['bank_file_not_found'],
  mount(services) {
    return async (input) => {
      const { bankFileId } = input.params
      const file = await asOperator(services, input, async (tx) => {
        const found = (await findFile(tx, bankFileId)) ?? fail('bank_file_not_found')
        recordAudit(tx, [{ action: 'bank_file.exported', target: bankFileId }])
        return found
      })
      return {
        headers: { 'content-type': 'application/octet-stream' },
        body: Readable.from([file.content], { objectMode: false }),
      }
    }
  },
})
