import { enterTdsCertificateInConsole } from '@svc/console-api/faces/tax-note-operations'
import { listTdsCertificates, tdsCertificateToWire } from '@svc/core/payments/tds/certificate'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { addOperation } from './operation-command.ts'
import { addMovement } from './own-funds-commands.ts'
import { type Printed, printTable } from './print.ts'
import { readCount } from './read-count.ts'

/** Tax that merchants deducted at source on our fees. */
export function addTdsCommands(tax: Command): void {
  addOperation(tax, enterTdsCertificateInConsole, {
    name: 'tds',
    more: `Fees were deducted whole, so the tax is payable to the merchant: its next payout has it. Until then a certificate that was
entered by mistake is taken back with its journal: svc admin journal reverse <journalId>`,
    example:
      'svc admin tax tds mer_… --certificate QWERTYA --quarter 2026-27-Q1 --amount 40.00 --date 2026-08-14 --reason "Form 16A"',
  })
  addMovement(tax, 'TDS', {
    name: 'tds-refund',
    description: 'enter that the tax office paid tax back that merchants had deducted on our fees',
    more: `It is set against the certificates of the merchants in the order of their first one. Interest is a line of the statement
of its own: svc admin statement resolve --as interest.`,
    example:
      'svc admin tax tds-refund --amount 40.00 --reference SBINR52026120142 --reason "refund for 2026-27"',
  })
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
