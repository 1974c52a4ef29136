import addCompletion from '@bomb.sh/tab/commander'
import { VERSION } from '@svc/platform/package'
import { Command } from 'commander'
import { addParts, type Part, partsNamed } from './program-parts.ts'
import { UsageError } from './usage-error.ts'

/** Commands that need no more than an address and credentials. */
export const REMOTE: readonly Part[] = [
  ['login logout profiles', async () => (await import('./login-commands.ts')).addLoginCommands],
  ['api', async () => (await import('./api-commands.ts')).addApiCommands],
  ['qr', async () => (await import('./qr-commands.ts')).addQrCommands],
  ['payments cards', async () => (await import('./record-commands.ts')).addRecordCommands],
  ['coins', async () => (await import('./user-coin-commands.ts')).addUserCoinCommands],
  ['logs', async () => (await import('./log-commands.ts')).addLogCommands],
  ['listen', async () => (await import('./listen-command.ts')).addListenCommand],
  ['events', async () => (await import('./verify-feed-commands.ts')).addFeedCommands],
  ['encrypt decrypt', async () => (await import('./encryption-commands.ts')).addEncryptionCommands],
  ['conformance', async () => (await import('./conformance-command.ts')).addConformanceCommand],
]

/** The program of `@svc/cli`: the commands that call a server. It has no server and no database in it. */
export async function newRemoteProgram(words: readonly string[]): Promise<Command> {
  const program = new Command('svc')
    .description('Client of a partner service: UPI QR codes, gift cards, rewards, events.')
    .version(VERSION)
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `
Examples:
  svc login --base-url https://partner.example  sign in to a server, as a tenant
  svc qr create --name "Counter 1"              create a QR code there
  svc payments list --limit 10                  the latest payments

What runs or administers a service is in @svc/partner-service, on the machine of the service.`,
    )
  const named = partsNamed(REMOTE, words[0])
  await addParts(program, named ?? REMOTE)
  if (!named) {
    for (const name of ELSEWHERE) addPointer(program, name)
    addCompletionCommand(program)
  }
  return program
}

/** Commands of the server's package, which has the same name in a shell. */
const ELSEWHERE = ['serve', 'admin', 'sandbox', 'trigger']

function addPointer(program: Command, name: string): void {
  program
    .command(name, { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .helpOption(false)
    .action(() => {
      throw new UsageError(
        `svc ${name} is a command of @svc/partner-service, and this is @svc/cli. Where both are installed: npx @svc/partner-service ${name}`,
      )
    })
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
