import { furthestAhead } from '@svc/core/ledger/transfers-since'
import { PAYOUT_RUNS, PAYOUT_STEPS } from '@svc/core/payments/bank-runs/payout-runs'
import { payableMerchants } from '@svc/core/payments/payouts/find-payouts'
import {
  businessDay,
  dailyStatement,
  signedStatement,
  statementToWire,
} from '@svc/core/payments/payouts/payout-statement'
import { type PreparedPayout, preparePayout } from '@svc/core/payments/payouts/prepare-payout'
import { formatRupees } from '@svc/kernel/money'
import { type ListedPayout, payout } from '@svc/server/payments/payouts'
import type { Command } from 'commander'
import { addBankFileCommands } from './bank-file.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { addNounList, addNounShow } from './noun-commands.ts'
import { missingPayout, readDay } from './payout-print.ts'
import { addPayoutScheduleCommand } from './payout-schedule-command.ts'
import { addPayoutStepCommands } from './payout-steps.ts'
import { addPayoutTermsCommands } from './payout-terms-commands.ts'
import { type Printed, printJson, printRows, printTable } from './print.ts'
import { noMerchant } from './require-merchant.ts'
import { addResponseImport } from './response-import.ts'

interface Json {
  readonly json?: boolean
}

export function addPayoutCommands(program: Command): void {
  const group = program
    .command('payout')
    .description('pay merchants: fees, payouts, the files for the bank, daily statements')
  addPayoutTermsCommands(group)
  addPayoutScheduleCommand(group)
  group
    .command('run')
    .description('prepare the payouts of a business day; a second person approves them')
    .requiredOption('--date <day>', 'pay what was paid up to the end of this day', readDay)
    .option('--merchant <merchantId>', 'only this merchant')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Each payment and refund is in one payout, so a run that is repeated adds only what has become due since.

Example:
  svc admin payout run --date 2026-04-01`,
    )
    .action(run)
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
  addPayoutStepCommands(group)
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

interface RunOptions extends Json {
  readonly date: string
  readonly merchant?: string
}

const shownRun = (merchantId: string, { payout: made, netPaise, reason }: PreparedPayout) => ({
  merchantId,
  payoutId: made?.payoutId ?? '',
  amount: formatRupees(netPaise),
  result: made ? 'prepared' : (reason ?? '').replaceAll('_', ' '),
})

async function run({ date, merchant, json = false }: RunOptions): Promise<void> {
  const rows = await withInstallation(async (context) => {
    const preparedBy = await moneyActor(context)
    const merchantIds =
      merchant === undefined ? await context.database.operate((tx) => payableMerchants(tx)) : [merchant]
    const found = []
    for (const merchantId of merchantIds)
      for await (const prepared of payoutsOf(context, merchantId, date, preparedBy))
        found.push(shownRun(merchantId, prepared))
    return found
  })
  printRows(rows, json)
}

/** One payout, or several where one does not hold all that is due. */
async function* payoutsOf(
  { commands }: CommandContext,
  merchantId: string,
  date: string,
  preparedBy: string,
): AsyncGenerator<PreparedPayout> {
  const { run: prepare } = commands.open(preparePayout)
  for (let hasMore = true; hasMore; ) {
    const audit = {
      actor: preparedBy,
      action: 'payout.prepared',
      target: merchantId,
      tenantId: merchantId,
    }
    const prepared = await prepare({ merchantId, businessDay: date, preparedBy }, audit)
    yield prepared
    hasMore = prepared.payout !== undefined && prepared.hasMore
  }
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
