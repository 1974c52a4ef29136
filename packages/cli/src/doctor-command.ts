import type { Finding } from '@svc/app/doctor/finding'
import type { Command } from 'commander'
import { withAddress } from './context.ts'
import { printJson } from './print.ts'

interface Options {
  readonly json?: boolean
  readonly preflight?: boolean
}

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'check settings, database, logins, replication, keys and clocks; exit code 1 if anything fails',
    )
    .option('--preflight', 'before the first start: without a schema and keys')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  svc admin doctor --preflight && svc admin migrate && svc serve
  svc admin doctor --json | jq '.findings[] | select(.status != "PASS")'

It only reads. Exit code 0: no check fails (warnings may be there), 1: at least one fails, 2: the settings are wrong.`,
    )
    .action(async ({ json = false, preflight = false }: Options) => {
      const { examine } = await import('@svc/app/doctor/doctor')
      const findings = await withAddress(({ config, address }) =>
        examine(config, address, preflight ? 'preflight' : 'running'),
      )
      const ok = findings.every(({ status }) => status !== 'FAIL')
      if (json) printJson({ ok, findings })
      else print(findings)
      if (!ok) process.exitCode = 1
    })
}

function print(findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ check }) => check.length))
  for (const { status, check, detail } of findings)
    process.stdout.write(`${status}  ${check.padEnd(width)}  ${detail}\n`)
  const count = (wanted: Finding['status']) => findings.filter(({ status }) => status === wanted).length
  process.stdout.write(`\n${count('PASS')} passed, ${count('WARN')} warnings, ${count('FAIL')} failed.\n`)
}
