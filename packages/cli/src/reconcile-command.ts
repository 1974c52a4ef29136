import { reconcileAll } from '@svc/console-api/faces/reconciliations'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { printJson } from './print.ts'
import { printReconciliation } from './print-reconciliation.ts'

export function addReconcileCommand(admin: Command): void {
  admin
    .command('reconcile')
    .description('prove that the ledger adds up and fits payments and cards; exit code 1 if it does not')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin reconcile || echo "notify the operator"')
    .action(async ({ json }: { json?: boolean }) => {
      const result = await withInstallation(({ database }) => reconcileAll(database))
      if (json) printJson(result)
      else printReconciliation(result)
      if (!result.ok) process.exitCode = 1
    })
}
