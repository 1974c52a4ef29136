import addCompletion from '@bomb.sh/tab/commander'
import { VERSION } from '@svc/platform/package'
import { Command } from 'commander'
import { addApiCommands } from './api-commands.ts'
import { addApprovalCommands } from './approval-commands.ts'
import { addAuditCommands } from './audit-commands.ts'
import { addBackupCommands } from './backup-commands.ts'
import { addBooksCommands } from './books-commands.ts'
import { addBulkCommands } from './bulk-commands.ts'
import { addCardCommands } from './card-commands.ts'
import { addCoinCommands } from './coin-commands.ts'
import { addCardAccountCommands, addCompanyCommands, addUserCommands } from './company-commands.ts'
import { addConformanceCommand } from './conformance-command.ts'
import { withInstallation } from './context.ts'
import { addDisputeCommands } from './dispute-commands.ts'
import { addDoctorCommand } from './doctor-command.ts'
import { addEncryptionCommands } from './encryption-commands.ts'
import { addEventCommands } from './event-commands.ts'
import { addInvariantsCommand } from './invariants-command.ts'
import { addJournalCommands } from './journal-commands.ts'
import { addKeysCommands } from './keys-commands.ts'
import { addLogCommands } from './log-commands.ts'
import { addLoginCommands } from './login-commands.ts'
import { addKeyCommands, addMerchantCommands } from './merchant-commands.ts'
import { addMigrateCommand } from './migrate-command.ts'
import { addNoticeCommands } from './notice-commands.ts'
import { addOperatorCommands } from './operator-commands.ts'
import { addPartnerCommands } from './partner-commands.ts'
import { addPaymentCommands } from './payment-commands.ts'
import { addPayoutCommands } from './payout-commands.ts'
import { printJson } from './print.ts'
import { printReconciliation } from './print-reconciliation.ts'
import { addQrCommands } from './qr-commands.ts'
import { reconcileAll } from './reconcile-all.ts'
import { addRecordCommands } from './record-commands.ts'
import { addRefundCommands } from './refund-commands.ts'
import { addRemoteEventCommands } from './remote-event-commands.ts'
import { addSandboxCommands } from './sandbox-commands.ts'
import { addSettlementCommands } from './settlement-commands.ts'
import { addSuspenseCommands } from './suspense-commands.ts'
import { addWebhookCommands } from './webhook-commands.ts'

interface Json {
  readonly json?: boolean
}

/** Every command of `svc`, with the help that the reference is generated from. */
export function newProgram(): Command {
  const program = new Command('svc')
    .description('Partner service: UPI QR codes of merchants, gift cards, rewards, events.')
    .version(VERSION)
    // So that `svc backup verify --json` is not taken for `svc backup --json`.
    .enablePositionalOptions()
    .showHelpAfterError('See: svc --help')
    .addHelpText(
      'after',
      `
Examples:
  svc serve                                     run the service (the same as npm start)
  svc merchant create --name "Corner Shop" --vpa corner.shop@bank --mcc 5411
  svc reconcile                                 prove that the books add up
  svc qr doctor code.png                        is this QR code one that every UPI app reads?

In a checkout, write npm run svc -- instead of svc.
Settings come from the environment; docs/reference/settings.md lists them.`,
    )
  addRunCommands(program)
  addMerchantCommands(program)
  addKeyCommands(program)
  addPartnerCommands(program)
  addCompanyCommands(program)
  addUserCommands(program)
  addCardAccountCommands(program)
  addCardCommands(program)
  addCoinCommands(program)
  addBulkCommands(program)
  addEncryptionCommands(program)
  addWebhookCommands(program)
  addEventCommands(program)
  addKeysCommands(program)
  addOperatorCommands(program)
  addAuditCommands(program)
  addReconcileCommand(program)
  addInvariantsCommand(program)
  addDoctorCommand(program)
  addBackupCommands(program)
  addSandboxCommands(program)
  addQrCommands(program)
  addPaymentCommands(program)
  addRefundCommands(program)
  addDisputeCommands(program)
  addNoticeCommands(program)
  addConformanceCommand(program)
  addLoginCommands(program)
  addApiCommands(program)
  addRecordCommands(program)
  addRemoteEventCommands(program)
  addLogCommands(program)
  addCompletionCommand(program)
  return program
}

/** Completion of the shell, from the tree of commands; so it comes last. */
function addCompletionCommand(program: Command): void {
  addCompletion(program, { completionCommandName: 'completion' })
  program.commands
    .find((command) => command.name() === 'completion')
    ?.description('print the script that completes svc commands and options in a shell')
    .addHelpText(
      'after',
      `
Examples:
  source <(svc completion bash)                                    in ~/.bashrc
  source <(svc completion zsh)                                     in ~/.zshrc
  svc completion fish > ~/.config/fish/completions/svc.fish`,
    )
}

function addRunCommands(program: Command): void {
  program
    .command('serve')
    .description('run the service until SIGTERM, SIGHUP or Ctrl-C')
    .addHelpText('after', '\nExamples:\n  svc serve\n  PORT=8090 DATA_DIR=/tmp/try svc serve')
    .action(async () => {
      const { serve } = await import('@svc/app/main')
      process.exitCode = await serve(process.env)
    })
  addMigrateCommand(program)
  addBooksCommands(program)
  addSettlementCommands(program)
  addSuspenseCommands(program)
  addJournalCommands(program)
  addApprovalCommands(program)
  addPayoutCommands(program)
}

function addReconcileCommand(program: Command): void {
  program
    .command('reconcile')
    .description('prove that the ledger adds up and fits payments and cards; exit code 1 if it does not')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc reconcile || echo "notify the operator"')
    .action(async ({ json }: Json) => {
      const result = await withInstallation(({ database }) => reconcileAll(database))
      if (json) printJson(result)
      else printReconciliation(result)
      if (!result.ok) process.exitCode = 1
    })
}
