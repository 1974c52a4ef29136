import {
  approvePayout,
  cancelPayout,
  completePayout,
  runPayouts,
} from '@svc/console-api/faces/payout-operations'
import { furthestAhead } from '@svc/core/ledger/transfers-since'
import { PAYOUT_RUNS, PAYOUT_STEPS } from '@svc/core/payments/bank-runs/payout-runs'
import { listAllPayouts } from '@svc/core/payments/payouts/find-payouts'
import {
  businessDay,
  dailyStatement,
  signedStatement,
  statementToWire,
} from '@svc/core/payments/payouts/payout-statement'
import { type ListedPayout, payout } from '@svc/server/payments/payouts'
import type { Command } from 'commander'
import { addBankFileCommands } from './bank-file.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { addNounList, addNounShow } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'
import { addPayoutTermsCommands } from './payout-terms-commands.ts'
import { type Printed, printJson, printTable } from './print.ts'
import { readDay } from './read-day.ts'
import { noMerchant } from './require-merchant.ts'
import { addResponseImport } from './response-import.ts'
import { UsageError } from './usage-error.ts'

const APPROVED_AT_ONCE_MAX = 10_000

export function addPayoutCommands(program: Command): void {
  const group = program
    .command('payout')
    .description('pay merchants: fees, payouts, the files for the bank, daily statements')
  addPayoutTermsCommands(group)
  addOperation(group, runPayouts, {
    name: 'run',
    rows: true,
    flags: { businessDay: { name: 'date' }, merchantId: { name: 'merchant' } },
    given: { afterMerchantId: undefined },
    again: ({ resumeAfter }: { readonly resumeAfter?: string }) =>
      resumeAfter === undefined ? undefined : { afterMerchantId: resumeAfter },
    description: 'prepare the payouts of a business day; a second person approves them',
    more: 'Each payment and refund is in one payout, so a run that is repeated adds only what has become due since.',
    example: 'svc admin payout run --date 2026-04-01',
  })
  addNounList<ListedPayout>(group, payout, {
    by: 'merchantId',
    description: 'list payouts to a merchant, or to all, newest first',
    example: 'svc admin payout list --status PREPARED',
  })
  addNounShow<ListedPayout>(group, payout, {
    id: 'payoutId',
    description: 'show a payout',
    example: 'svc admin payout show pyo_…',
  })
  addStepCommands(group)
  addBankFileCommands(
    group,
    PAYOUT_RUNS,
    PAYOUT_STEPS,
    'accountNumber=ACCOUNT,ifsc=IFSC,amount=AMOUNT,payoutId=REFERENCE',
  )
  addResponseImport(group, PAYOUT_RUNS, PAYOUT_STEPS, {
    outcomes: {
      paid: 'when it was paid',
      failed: 'when it could not be paid; any other changes nothing',
      returned: 'when the money came back, also after it was paid',
    },
    after:
      '\nExample:\n  svc admin payout import response.csv --payout REFERENCE --status STATUS --paid SUCCESS --failed FAILED --returned RETURNED,REVERSED --utr UTR --reason REMARKS',
  })
  group
    .command('statement <merchantId>')
    .description('explain a business day: what was payable, and every movement by ledger, records and bank')
    .requiredOption('--date <day>', 'the business day', readDay)
    .option('--csv', 'print CSV')
    .option('--json', 'print JSON, with the signed statement')
    .addHelpText('after', '\nExample:\n  svc admin payout statement mer_… --date 2026-04-01 --json')
    .action(printStatement)
}

function addStepCommands(group: Command): void {
  addOperation(group, approvePayout, {
    name: 'approve',
    args: ['payoutIds...?'],
    given: { payoutId: undefined },
    extra: {
      date: { description: 'all prepared ones of this business day', format: 'date', type: 'string' },
    },
    resolve: payoutsToApprove,
    description: 'approve payouts that another person prepared, to bank accounts that another person set',
    example: ['svc admin payout approve pyo_…', 'svc admin payout approve --date 2026-04-01'],
  })
  addOperation(group, cancelPayout, {
    name: 'cancel',
    description: 'cancel a payout that was not sent: its money is payable again',
    example: 'svc admin payout cancel pyo_… --reason "wrong account"',
  })
  addOperation(group, completePayout, {
    name: 'confirm',
    given: { status: 'PAID', reason: undefined, returnUtr: undefined },
    description: 'record that the bank has paid a payout, also one that it had reported as failed',
    example: 'svc admin payout confirm pyo_… --utr HDFCR0000000042',
  })
  addOperation(group, completePayout, {
    name: 'fail',
    given: { status: 'FAILED', utr: undefined },
    description:
      'record that the bank could not pay a payout, or that its money came back: it is payable again, once a second person approves',
    example: [
      'svc admin payout fail pyo_… --reason "account closed"',
      'svc admin payout fail pyo_… --return-utr HDFCR0000000043 --reason "account closed"',
    ],
  })
}

async function payoutsToApprove(
  { payoutIds, date }: { readonly payoutIds?: readonly string[]; readonly date?: string },
  { database }: CommandContext,
) {
  const named = payoutIds ?? []
  if ((date === undefined) === (named.length === 0))
    throw new UsageError('Name payouts, or all of a day with --date.')
  if (date === undefined) return named.map((payoutId) => ({ payoutId }))
  const wanted = { businessDay: readDay(date), status: 'PREPARED', limit: APPROVED_AT_ONCE_MAX } as const
  return database.operate((tx) => listAllPayouts(tx, wanted))
}

interface StatementOptions extends Printed {
  readonly date: string
}

async function printStatement(merchantId: string, { date, ...printed }: StatementOptions): Promise<void> {
  await withInstallation(async ({ config, database, keyMaker }) => {
    const day = businessDay(date, config.BUSINESS_DAY_CUTOFF, config.BUSINESS_TIME_ZONE)
    const found = await database.report(
      async (tx) => dailyStatement(tx, merchantId, day, await furthestAhead(tx)),
      'repeatable read',
    )
    if (!found) return noMerchant(merchantId)
    const shown = statementToWire(found)
    if (printed.json) return printJson({ ...shown, signed: signedStatement(found, keyMaker.keyring) })
    printTable(
      [
        { what: 'Opening balance', count: '', ledger: shown.openingPayable, records: '' },
        ...shown.movements.map(({ title, count, ledger, records }) => ({
          what: title,
          count,
          ledger,
          records,
        })),
        { what: 'Closing balance', count: '', ledger: shown.closingPayable, records: '' },
        { what: 'Settled by the bank', count: '', ledger: '', records: shown.bank.settled },
        { what: 'Not yet settled by the bank', count: '', ledger: '', records: shown.bank.notYetSettled },
        { what: 'Settled with another amount', count: '', ledger: '', records: shown.bank.otherAmount },
        { what: 'Unexplained', count: '', ledger: shown.unexplained, records: '' },
      ],
      printed,
    )
  })
}
