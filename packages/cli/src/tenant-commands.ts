import { findClosing, leftOpen, listClosings, startClosing } from '@svc/console-api/tenant-closing'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { addMoveCommand } from './move-command.ts'
import { printJson, printRecord, printRows } from './print.ts'
import { readReason } from './read-reason.ts'
import { UsageError } from './usage-error.ts'

/** What ends it, where a command does; the guide has the others. */
const REMEDIES: Readonly<Record<string, string>> = {
  payable: 'svc admin payout run',
  refunds: 'svc admin payments returned, svc admin refund confirm, svc admin refund fail',
  suspense: 'svc admin suspense assign, svc admin suspense return',
  disputes: 'svc admin dispute close',
  advances: 'svc admin books settle merchant_advances:<merchantId>',
  advances_in_credit: 'svc admin payout run',
  card_accounts: 'svc admin card-account withdraw',
  card_exceptions: 'svc admin books settle card_exceptions:<partnerId>',
}

interface Json {
  readonly json?: boolean
}

export function addTenantCommands(program: Command): void {
  const tenant = program
    .command('tenant')
    .description('close merchants and partners that leave, move them between cells')
  tenant
    .command('close <tenantId>')
    .description(
      'disable a tenant for good, revoke its keys, cancel its codes, and close it once nothing is open',
    )
    .requiredOption('--reason <text>', 'why; kept in the audit', readReason)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin tenant close mer_… --reason "contract ended on 2026-10-31"\n\nsvc admin merchant enable and svc admin partner enable end the closing.',
    )
    .action(close)
  tenant
    .command('closing [tenantId]')
    .description('list tenants that are closing, or what of one is still open')
    .option('--all', 'and those that are closed')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExamples:\n  svc admin tenant closing\n  svc admin tenant closing mer_…')
    .action((tenantId: string | undefined, options: Json & { readonly all?: boolean }) =>
      tenantId === undefined ? list(options) : show(tenantId, options),
    )
  addMoveCommand(tenant)
}

const noTenant = (tenantId: string): never => {
  throw new UsageError(
    `There is no tenant ${tenantId}. See them with: svc admin merchant list, svc admin partner list`,
  )
}

async function close(tenantId: string, { reason, json = false }: Json & { readonly reason: string }) {
  await withInstallation(({ database }) =>
    database.operate(async (tx) => (await startClosing(tx, tenantId, reason)) || noTenant(tenantId)),
  )
  await show(tenantId, { json })
}

async function show(tenantId: string, { json = false }: Json): Promise<void> {
  const { closing, left } = await withInstallation(({ database }) =>
    database.operate(async (tx) => ({
      closing: (await findClosing(tx, tenantId)) ?? noClosing(tenantId),
      left: await leftOpen(tx, tenantId),
    })),
  )
  const shown = { ...closing, status: closing.closedAt ? 'closed' : 'closing' }
  if (json) return printJson({ ...shown, left })
  printRecord(shown, false)
  if (left.length > 0)
    printRows(
      left.map(({ what, count, amount }) => ({ open: what, left: amount ?? count, remedy: REMEDIES[what] })),
      false,
    )
}

const noClosing = (tenantId: string): never => {
  throw new UsageError(`${tenantId} is not closing. Close it with: svc admin tenant close ${tenantId}`)
}

async function list({ all = false, json = false }: Json & { readonly all?: boolean }): Promise<void> {
  const closings = await withInstallation(({ database }) => database.operate((tx) => listClosings(tx, all)))
  printRows(
    closings.map((closing) => ({ ...closing })),
    json,
  )
}
