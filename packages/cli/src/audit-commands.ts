import { type Anchor, anchorText, parseAnchor, verifyChains } from '@svc/platform/audit-chain'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { printJson } from './print.ts'
import { UsageError } from './usage-error.ts'

interface VerifyOptions {
  readonly anchor?: readonly string[]
  readonly json?: boolean
}

export function addAuditCommands(program: Command): void {
  program
    .command('audit')
    .description('the record of who did what')
    .command('verify')
    .description('prove that no entry was changed, removed or moved; exit code 1 if one was, and which')
    .option(
      '--anchor <number:hash...>',
      'ends of the installation’s chain that were written down before, as “audit anchor” in the service’s log',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Each tenant has a chain, and the installation one that holds anchors of the tenants' chains. A chain alone shows every change in its
middle. That the end of the installation's was cut off only an anchor shows which was written down elsewhere: the service
logs one every few minutes. Keep the log elsewhere.

Examples:
  svc admin audit verify
  svc admin audit verify --anchor 4711:9f86d081…`,
    )
    .action(verify)
}

async function verify({ anchor = [], json = false }: VerifyOptions): Promise<void> {
  const anchors = anchor.map((text): Anchor => {
    const parsed = parseAnchor(text)
    if (!parsed) throw new UsageError('--anchor must look like 4711:<64 hex digits>, as the service logs it')
    return parsed
  })
  const verdict = await withInstallation(({ database }) =>
    verifyChains((work) => database.report(work), anchors),
  )
  if (json) printJson(verdict)
  else if (verdict.whole)
    process.stdout.write(
      `All chains are whole: ${verdict.chains}, with ${verdict.entries} entries.\nAnchor: ${anchorText(verdict.head)}\n`,
    )
  else
    process.stdout.write(
      `Entry ${verdict.number} ${verdict.problem}: chain of ${verdict.tenantId ?? 'the installation'}.\n`,
    )
  if (!verdict.whole) process.exitCode = 1
}
