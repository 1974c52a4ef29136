import { reverseSettlementInConsole } from '@svc/console-api/faces/settlement-operations'
import { fail } from '@svc/contract/errors'
import {
  type DifferenceKind,
  type SettlementDifference,
  settlementDifferences,
} from '@svc/core/payments/settlements/differences'
import { formatRupees } from '@svc/kernel/money'
import { settlement, settlementLine } from '@svc/server/payments/settlement-resource'
import { type Command, InvalidArgumentError } from 'commander'
import { type CommandContext, withInstallation } from './context.ts'
import { addNounList, printNouns, readRecords } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'
import { type Printed, printJson, printTable } from './print.ts'
import { addSettlementImport } from './settlement-import.ts'
import { UsageError } from './usage-error.ts'

interface DifferencesOptions extends Printed {
  readonly days: number
}

const DAY_MS = 86_400_000
const DIFFERENCES_MAX = 10_000

const WHAT_TO_DO: Readonly<Record<DifferenceKind, string>> = {
  unknown: 'ask the bank for its notice; then import the file again',
  differs: 'compare with the bank; import the line with which it corrects its own',
  missing: 'wait for a later file, then claim it from the bank',
  remainder: 'ask the bank for the lines of this transfer that are missing',
}

export function addSettlementCommands(program: Command): void {
  const group = program
    .command('settlement')
    .description('what the bank has paid: import its settlement files, list what does not fit')
  addSettlementImport(group)
  group
    .command('differences')
    .description(
      'list lines without a payment, lines of another amount, and payments that the bank has not paid',
    )
    .option('--days <days>', 'payments count as missing after so many days', readDays, 2)
    .option('--csv', 'print CSV')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin settlement differences --days 3 --csv > differences.csv')
    .action(printDifferences)
  addBatchCommands(group)
  addOperation(group, reverseSettlementInConsole, {
    name: 'reverse',
    resolve: async ({ batchId, ...given }, context) => ({
      ...given,
      batchId: (await transferOf(context, String(batchId))).batchId,
    }),
    description: 'take back a transfer that was recorded by mistake, as a whole, by its id or its reference',
    more: `What the transfer has moved is entered the other way round today, and its lines are gone: payments are not settled any
more, and their merchants are notified. Import the right file afterwards. A transfer that a bank statement shows stays:
svc admin statement unmatch.`,
    example: 'svc admin settlement reverse HDFCN526001 --reason "file of another account"',
  })
}

function addBatchCommands(group: Command): void {
  addNounList(group, settlement, {
    name: 'batches',
    limit: DIFFERENCES_MAX,
    description: 'list the transfers of the bank and the card network, newest first',
    example: 'svc admin settlement batches --status INCOMPLETE',
  })
  group
    .command('batch <id>')
    .description('show a transfer with its lines, by its id or its reference')
    .option('--csv', 'print CSV')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin settlement batch HDFCN526001')
    .action(printBatch)
}

/** By its id, or by its reference where only one rail has it. */
async function transferOf(context: CommandContext, id: string) {
  const found = (await readRecords(context, settlement, { q: id }, 2)) as { readonly batchId: string }[]
  if (found.length > 1) throw new UsageError(`Both rails have a transfer ${id}: name the id of one`)
  const description = `There is no transfer ${id}: svc admin settlement batches`
  return found[0] ?? fail('settlement_not_found', { description })
}

async function printBatch(id: string, printed: Printed): Promise<void> {
  const { record, lines } = await withInstallation(async (context) => {
    const record = await transferOf(context, id)
    const wanted = { batchId: record.batchId, sort: 'created' }
    return { record, lines: await readRecords(context, settlementLine, wanted, DIFFERENCES_MAX) }
  })
  if (printed.json) printJson({ ...record, lineItems: lines })
  else printNouns(settlementLine, lines, printed)
}

function readDays(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of days.')
  return Number(text)
}

async function printDifferences({ days, ...printed }: DifferencesOptions): Promise<void> {
  const nowMs = Date.now()
  const found = await withInstallation(({ database }) =>
    database.report((tx) => settlementDifferences(tx, new Date(nowMs - days * DAY_MS), DIFFERENCES_MAX)),
  )
  printTable(
    found.map((each) => shown(each, nowMs)),
    printed,
  )
}

const rupees = (amount: bigint | null) => (amount === null ? '' : formatRupees(amount))

const shown = (
  {
    kind,
    utr,
    batchUtr,
    lineKind,
    tenantId,
    paymentId,
    bankPaise,
    paymentPaise,
    since,
  }: SettlementDifference,
  nowMs: number,
) => ({
  kind,
  utr,
  batchUtr: batchUtr ?? '',
  lineKind: lineKind ?? '',
  tenantId,
  paymentId: paymentId ?? '',
  bankAmount: rupees(bankPaise),
  paymentAmount: rupees(paymentPaise),
  days: Math.floor((nowMs - since.getTime()) / DAY_MS),
  whatToDo: WHAT_TO_DO[kind],
})
