import addCompletion from '@bomb.sh/tab/commander'
import { VERSION } from '@svc/platform/package'
import { Command } from 'commander'
import { addApiCommands } from './api-commands.ts'
import { addConformanceCommand } from './conformance-command.ts'
import { addEncryptionCommands } from './encryption-commands.ts'
import { addListenCommand } from './event-commands.ts'
import { addLogCommands } from './log-commands.ts'
import { addLoginCommands } from './login-commands.ts'
import { addQrCommands } from './qr-commands.ts'
import { addRecordCommands } from './record-commands.ts'
import { addUserCoinCommands } from './user-coin-commands.ts'
import { addFeedCommands } from './verify-feed-commands.ts'

/** The program of `@svc/cli`: the commands that call a server. It has no server and no database in it. */
export function newRemoteProgram(): Command {
  const program = new Command('svc')
    .description('Client of a partner service: UPI QR codes, gift cards, rewards, events.')
    .version(VERSION)
    .enablePositionalOptions()
    .showHelpAfterError('See: svc --help')
    .addHelpText(
      'after',
      `
Examples:
  svc login --base-url https://partner.example  sign in to a server, as a tenant
  svc qr create --name "Counter 1"              create a QR code there
  svc payments list --limit 10                  the latest payments

What runs or administers a service is in @svc/partner-service, on the machine of the service.`,
    )
  addRemoteCommands(program)
  addCompletionCommand(program)
  return program
}

/** Commands that need no more than an address and credentials. */
export function addRemoteCommands(program: Command): void {
  addLoginCommands(program)
  addApiCommands(program)
  addQrCommands(program)
  addRecordCommands(program)
  addUserCoinCommands(program)
  addLogCommands(program)
  addListenCommand(program)
  addFeedCommands(program)
  addEncryptionCommands(program)
  addConformanceCommand(program)
}

/** Completion of the shell, from the tree of commands; so it comes last. */
export function addCompletionCommand(program: Command): void {
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
