import { VERSION } from '@svc/platform/package'
import { Command } from 'commander'
import { addParts, type Part, partsNamed } from './program-parts.ts'
import { addCompletionCommand, REMOTE } from './remote-program.ts'

/** Commands that open the database of an installation. */
const ADMINISTRATION: readonly Part[] = [
  ['migrate', async () => (await import('./migrate-command.ts')).addMigrateCommand],
  ['doctor', async () => (await import('./doctor-command.ts')).addDoctorCommand],
  ['events', async () => (await import('./published-heads-commands.ts')).addFeedAdminCommands],
  ['alerts', async () => (await import('./alert-commands.ts')).addAlertCommands],
  ['operator', async () => (await import('./operator-commands.ts')).addOperatorCommands],
  ['member', async () => (await import('./member-commands.ts')).addMemberCommands],
  ['tenant', async () => (await import('./tenant-commands.ts')).addTenantCommands],
  ['cell', async () => (await import('./cell-commands.ts')).addCellCommands],
  ['directory', async () => (await import('./directory-command.ts')).addDirectoryCommands],
  ['merchant', async () => (await import('./merchant-commands.ts')).addMerchantCommands],
  ['key', async () => (await import('./merchant-commands.ts')).addKeyCommands],
  ['partner', async () => (await import('./partner-commands.ts')).addPartnerCommands],
  ['company', async () => (await import('./company-commands.ts')).addCompanyCommands],
  ['user', async () => (await import('./company-commands.ts')).addUserCommands],
  ['card-account', async () => (await import('./company-commands.ts')).addCardAccountCommands],
  ['cards', async () => (await import('./card-commands.ts')).addCardCommands],
  ['spend-rules', async () => (await import('./spend-rule-commands.ts')).addSpendRuleCommands],
  ['coins', async () => (await import('./coin-commands.ts')).addCoinCommands],
  ['qr-code', async () => (await import('./qr-code-commands.ts')).addQrCodeCommands],
  ['payments', async () => (await import('./payment-commands.ts')).addPaymentCommands],
  ['refund', async () => (await import('./refund-commands.ts')).addRefundCommands],
  ['dispute', async () => (await import('./dispute-commands.ts')).addDisputeCommands],
  ['change-request', async () => (await import('./change-request-commands.ts')).addChangeRequestCommands],
  ['notice', async () => (await import('./notice-commands.ts')).addNoticeCommands],
  ['settlement', async () => (await import('./settlement-commands.ts')).addSettlementCommands],
  ['calendar', async () => (await import('./calendar-commands.ts')).addCalendarCommands],
  ['bank-account', async () => (await import('./bank-account-commands.ts')).addBankAccountCommands],
  ['statement', async () => (await import('./statement-commands.ts')).addStatementCommands],
  ['suspense', async () => (await import('./suspense-commands.ts')).addSuspenseCommands],
  ['payout', async () => (await import('./payout-commands.ts')).addPayoutCommands],
  ['books', async () => (await import('./books-commands.ts')).addBooksCommands],
  ['tax', async () => (await import('./tax-commands.ts')).addTaxCommands],
  ['journal', async () => (await import('./journal-commands.ts')).addJournalCommands],
  ['opening-balances', async () => (await import('./opening-balance-commands.ts')).addOpeningBalanceCommands],
  ['approval', async () => (await import('./approval-commands.ts')).addApprovalCommands],
  ['webhook', async () => (await import('./webhook-commands.ts')).addWebhookCommands],
  ['keys', async () => (await import('./keys-commands.ts')).addKeysCommands],
  ['audit', async () => (await import('./audit-commands.ts')).addAuditCommands],
  ['reconcile', async () => (await import('./reconcile-command.ts')).addReconcileCommand],
  ['invariants', async () => (await import('./invariants-command.ts')).addInvariantsCommand],
  ['backup restore', async () => (await import('./backup-commands.ts')).addBackupCommands],
  ['end-access', async () => (await import('./end-access-command.ts')).addEndAccessCommand],
]

/** Commands that call a server or play a sandbox. */
const CALLS: readonly Part[] = [
  ...REMOTE,
  ['trigger', async () => (await import('./trigger-command.ts')).addTriggerCommand],
  ['cards', async () => (await import('./bulk-commands.ts')).addBulkCommands],
  ['sandbox', async () => (await import('./sandbox-commands.ts')).addSandboxCommands],
]

/**
 * The program with the command that `words` begin with; where they name none, with every command of `svc`, and the help
 * that the reference is generated from.
 */
export async function newProgram(words: readonly string[] = []): Promise<Command> {
  const program = new Command('svc')
    .description('Partner service: UPI QR codes of merchants, gift cards, rewards, events.')
    .version(VERSION)
    // So that `svc admin backup verify --json` is not taken for `svc admin backup --json`.
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `
Examples:
  svc serve                                     run the service (the same as npm start)
  svc admin reconcile                           prove that the books add up
  svc login --base-url https://partner.example  sign in to a server, as a tenant
  svc qr create --name "Counter 1"              create a QR code there
  svc qr doctor code.png                        is this QR code one that every UPI app reads?

In a checkout, write node bin/svc.mjs instead of svc.
Settings come from the environment; docs/reference/settings.md lists them.`,
    )
  const [first, second] = words
  if (first === '--version' || first === '-V') return program
  addServeCommand(program)
  const admin = addAdminCommand(program)
  if (first === 'admin') await addParts(admin, partsNamed(ADMINISTRATION, second) ?? ADMINISTRATION)
  else {
    const named = partsNamed(CALLS, first)
    await addParts(program, named ?? CALLS)
    if (named) return program
    await addParts(admin, ADMINISTRATION)
    addCompletionCommand(program)
  }
  return program
}

function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('run the service until SIGTERM, SIGHUP or Ctrl-C')
    .addHelpText('after', '\nExamples:\n  svc serve\n  PORT=8090 DATA_DIR=/tmp/try svc serve')
    .action(async () => {
      const { serve } = await import('@svc/app/main')
      process.exitCode = await serve(process.env)
    })
}

function addAdminCommand(program: Command): Command {
  return program
    .command('admin')
    .description('administer an installation beside its database, whether the service runs or not')
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `
Examples:
  svc admin migrate
  svc admin merchant create --name "Corner Shop" --vpa corner.shop@bank --mcc 5411
  svc admin doctor`,
    )
}
