import { VERSION } from '@svc/platform/package'
import { Command } from 'commander'
import { addAdjustCommand } from './adjust-payment.ts'
import { addAlertCommands } from './alert-commands.ts'
import { addApprovalCommands } from './approval-commands.ts'
import { addAuditCommands } from './audit-commands.ts'
import { addBackupCommands } from './backup-commands.ts'
import { addBankAccountCommands } from './bank-account-commands.ts'
import { addBooksCommands } from './books-commands.ts'
import { addBulkCommands } from './bulk-commands.ts'
import { addCalendarCommands } from './calendar-commands.ts'
import { addCardCommands } from './card-commands.ts'
import { addCellCommands } from './cell-commands.ts'
import { addCoinCommands } from './coin-commands.ts'
import { addCardAccountCommands, addCompanyCommands, addUserCommands } from './company-commands.ts'
import { addReturnedCommand } from './confirm-return.ts'
import { withInstallation } from './context.ts'
import { addDirectoryCommands } from './directory-command.ts'
import { addDisputeCommands } from './dispute-commands.ts'
import { addDoctorCommand } from './doctor-command.ts'
import { addEndAccessCommand } from './end-access-command.ts'
import { addTriggerCommand } from './event-commands.ts'
import { addInvariantsCommand } from './invariants-command.ts'
import { addJournalCommands } from './journal-commands.ts'
import { addKeysCommands } from './keys-commands.ts'
import { addMemberCommands } from './member-commands.ts'
import { addKeyCommands, addMerchantCommands } from './merchant-commands.ts'
import { addMigrateCommand } from './migrate-command.ts'
import { addNoticeCommands } from './notice-commands.ts'
import { addOpeningBalanceCommands } from './opening-balance-commands.ts'
import { addOperatorCommands } from './operator-commands.ts'
import { addPartnerCommands } from './partner-commands.ts'
import { addPaymentCommands } from './payment-commands.ts'
import { addPayoutCommands } from './payout-commands.ts'
import { printJson } from './print.ts'
import { printReconciliation } from './print-reconciliation.ts'
import { addFeedAdminCommands } from './published-heads-commands.ts'
import { addQrCodeCommands } from './qr-code-commands.ts'
import { reconcileAll } from './reconcile-all.ts'
import { addRefundCommands } from './refund-commands.ts'
import { addCompletionCommand, addRemoteCommands } from './remote-program.ts'
import { addSandboxCommands } from './sandbox-commands.ts'
import { addSettlementCommands } from './settlement-commands.ts'
import { addSpendRuleCommands } from './spend-rule-commands.ts'
import { addStatementCommands } from './statement-commands.ts'
import { addSuspenseCommands } from './suspense-commands.ts'
import { addTaxCommands } from './tax-commands.ts'
import { addTenantCommands } from './tenant-commands.ts'
import { addWebhookCommands } from './webhook-commands.ts'

interface Json {
  readonly json?: boolean
}

/** Every command of `svc`, with the help that the reference is generated from. */
export function newProgram(): Command {
  const program = new Command('svc')
    .description('Partner service: UPI QR codes of merchants, gift cards, rewards, events.')
    .version(VERSION)
    // So that `svc admin backup verify --json` is not taken for `svc admin backup --json`.
    .enablePositionalOptions()
    .showHelpAfterError('See: svc --help')
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
  addServeCommand(program)
  addAdminCommands(program)
  addRemoteCommands(program)
  addTriggerCommand(program)
  addBulkCommands(program)
  addSandboxCommands(program)
  addCompletionCommand(program)
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

/** Commands that open the database of an installation. */
function addAdminCommands(program: Command): void {
  const admin = program
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
  addMigrateCommand(admin)
  addDoctorCommand(admin)
  addFeedAdminCommands(admin)
  addAlertCommands(admin)
  addOperatorCommands(admin)
  addMemberCommands(admin)
  addTenantCommands(admin)
  addCellCommands(admin)
  addDirectoryCommands(admin)
  addMerchantCommands(admin)
  addKeyCommands(admin)
  addPartnerCommands(admin)
  addCompanyCommands(admin)
  addUserCommands(admin)
  addCardAccountCommands(admin)
  addCardCommands(admin)
  addSpendRuleCommands(admin)
  addCoinCommands(admin)
  addQrCodeCommands(admin)
  const payments = addPaymentCommands(admin)
  addAdjustCommand(payments)
  addReturnedCommand(payments)
  addRefundCommands(admin)
  addDisputeCommands(admin)
  addNoticeCommands(admin)
  addSettlementCommands(admin)
  addCalendarCommands(admin)
  addBankAccountCommands(admin)
  addStatementCommands(admin)
  addSuspenseCommands(admin)
  addPayoutCommands(admin)
  addBooksCommands(admin)
  addTaxCommands(admin)
  addJournalCommands(admin)
  addOpeningBalanceCommands(admin)
  addApprovalCommands(admin)
  addWebhookCommands(admin)
  addKeysCommands(admin)
  addAuditCommands(admin)
  addReconcileCommand(admin)
  addInvariantsCommand(admin)
  addBackupCommands(admin)
  addEndAccessCommand(admin)
}

function addReconcileCommand(admin: Command): void {
  admin
    .command('reconcile')
    .description('prove that the ledger adds up and fits payments and cards; exit code 1 if it does not')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin reconcile || echo "notify the operator"')
    .action(async ({ json }: Json) => {
      const result = await withInstallation(({ database }) => reconcileAll(database))
      if (json) printJson(result)
      else printReconciliation(result)
      if (!result.ok) process.exitCode = 1
    })
}
