import type { Reconciliation } from '@svc/core/ledger/reconcile'

/** What was checked, and for each check that fails the rows that break it. */
export function printReconciliation({ ok, accounts, transfers, checks }: Reconciliation): void {
  process.stdout.write(`${accounts} accounts, ${transfers} transfers\n`)
  for (const { check, ok: holds, differences } of checks) {
    process.stdout.write(`${holds ? 'ok  ' : 'FAIL'}  ${check}\n`)
    for (const { subject, detail } of differences) process.stdout.write(`        ${subject}: ${detail}\n`)
  }
  process.stdout.write(ok ? 'The books add up.\n' : 'The books do not add up.\n')
}
