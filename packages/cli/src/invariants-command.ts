import { checkInvariants, type InvariantReport } from '@svc/console-api/invariants'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { printJson, printRows } from './print.ts'

export function addInvariantsCommand(program: Command): void {
  program
    .command('invariants')
    .description('prove that everything in the database fits together; exit code 1 if anything does not')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin invariants\n\nIt only reads, all of it on one snapshot, and may run while the service does.',
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      const reports = await withInstallation(({ database }) => checkInvariants(database))
      const broken = reports.filter(({ violations }) => violations.length > 0)
      if (json) printJson({ ok: broken.length === 0, invariants: reports })
      else print(reports, broken)
      if (broken.length > 0) process.exitCode = 1
    })
}

function print(reports: readonly InvariantReport[], broken: readonly InvariantReport[]): void {
  const rows = reports.map(({ name, promise, checked, of, violations }) => ({
    '': violations.length === 0 ? 'ok' : 'FAIL',
    invariant: name,
    checked: `${checked ?? ''} ${of}`,
    promise,
  }))
  printRows(rows, false)
  for (const { name, violations } of broken) {
    process.stdout.write(`\n${name} does not hold for, among the first ten:\n`)
    for (const { subject, detail } of violations) process.stdout.write(`  ${subject}: ${detail}\n`)
  }
  process.stdout.write(
    broken.length === 0
      ? `\nAll ${reports.length} invariants hold.\n`
      : `\n${broken.length} of ${reports.length} invariants do not hold.\n`,
  )
}
