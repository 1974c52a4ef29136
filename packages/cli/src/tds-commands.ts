import { listTdsCertificates, tdsCertificateToWire } from '@svc/core/payments/tds/certificate'
import { enterTdsCertificate } from '@svc/core/payments/tds/enter-certificate'
import { formatRupees, type Paise } from '@svc/kernel/money'
import type { Command } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { type MovementOptions, moveMoney, withAmount } from './own-funds-commands.ts'
import { readDay } from './payout-print.ts'
import { type Printed, printRecord, printTable } from './print.ts'
import { readCount } from './read-count.ts'
import { readReason } from './read-reason.ts'
import { readPaise } from './read-rupees.ts'

interface Options {
  readonly certificate: string
  readonly quarter: string
  readonly amount: Paise
  readonly date: string
  readonly reason: string
  readonly json?: boolean
}

/** Tax that merchants deducted at source on our fees. */
export function addTdsCommands(tax: Command): void {
  tax
    .command('tds <merchantId>')
    .description('enter the certificate of tax that a merchant deducted at source on our fees')
    .requiredOption('--certificate <number>', 'entered once for each merchant')
    .requiredOption('--quarter <quarter>', 'of the financial year, such as 2026-27-Q1')
    .requiredOption('--amount <rupees>', 'rupees, at most two decimals', readPaise)
    .requiredOption('--date <day>', 'of the certificate, YYYY-MM-DD', readDay)
    .requiredOption('--reason <text>', 'why; it is in the journal', readReason)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Fees were deducted whole, so the tax is payable to the merchant: its next payout has it. Until then a certificate that was
entered by mistake is taken back with its journal: svc admin journal reverse <journalId>

Example:
  svc admin tax tds mer_… --certificate QWERTYA --quarter 2026-27-Q1 --amount 40.00 --date 2026-08-14 --reason "Form 16A"`,
    )
    .action(certificate)
  withAmount(tax.command('tds-refund'))
    .description('enter that the tax office paid tax back that merchants had deducted on our fees')
    .addHelpText(
      'after',
      `
It is set against the certificates of the merchants in the order of their first one. Interest is a line of the statement
of its own: svc admin statement resolve --as interest.

Example:
  svc admin tax tds-refund --amount 40.00 --reference SBINR52026120142 --reason "refund for 2026-27"`,
    )
    .action(({ amount, ...options }: MovementOptions & { amount: Paise }) =>
      moveMoney({ kind: 'TDS', amountPaise: amount }, options),
    )
  tax
    .command('tds-certificates [merchantId]')
    .description('list certificates of tax deducted at source, newest first')
    .option('--limit <count>', 'how many', readCount, 50)
    .option('--csv', 'print CSV')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin tax tds-certificates mer_… --csv')
    .action(async (merchantId: string | undefined, { limit, ...printed }: Printed & { limit: number }) => {
      const found = await withInstallation(({ database }) =>
        database.report((tx) => listTdsCertificates(tx, merchantId, limit)),
      )
      printTable(found.map(tdsCertificateToWire), printed)
    })
}

async function certificate(merchantId: string, { json = false, ...options }: Options): Promise<void> {
  const { amount, certificate: number, date, quarter, reason } = options
  const entered = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const details = { number, quarter, amount: formatRupees(amount), reason }
    const audit = { actor, action: 'tds.certified', target: merchantId, details }
    const args = { merchantId, number, quarter, amountPaise: amount, datedOn: date, reason }
    return context.commands.open(enterTdsCertificate).run(args, audit)
  })
  printOutcome(entered, json, ({ certificate: of, journal }) =>
    printRecord({ ...tdsCertificateToWire(of), isRepeat: journal === undefined }, json),
  )
}
