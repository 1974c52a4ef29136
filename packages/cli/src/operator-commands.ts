import { isCancel, password as promptPassword } from '@clack/prompts'
import { unlinkIdentity } from '@svc/console-api/identity-store'
import {
  endSessions,
  findOperator,
  insertOperator,
  isOperatorName,
  listOperatorAccounts,
  type OperatorAccount,
  setPasswordHash,
  updateOperator,
} from '@svc/console-api/operator-store'
import { removeAllPasskeys } from '@svc/console-api/passkey-store'
import { ROLES, type Role } from '@svc/console-api/permissions'
import { OPERATOR_FACTORS } from '@svc/console-api/second-factor-store'
import { Failure } from '@svc/contract/errors'
import { required } from '@svc/kernel/invariant'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { addInvitationCommands } from './invitation-commands.ts'
import { readRole } from './operator-role.ts'
import { printRecord, printRows } from './print.ts'
import { readText } from './read-text.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}
interface PasswordOptions extends Json {
  readonly passwordStdin?: boolean
}

const PASSWORD_STDIN = ['--password-stdin', 'read the password from standard input, its first line'] as const
const EXAMPLE_STDIN = '--password-stdin < password.txt'

export function addOperatorCommands(program: Command): void {
  const operator = program.command('operator').description('people who may use the console')
  operator
    .command('create <name>')
    .description('create an operator of the console; asks for the password')
    .option('--role <role>', `what they may do: ${ROLES.join(', ')}`, 'viewer')
    .option(...PASSWORD_STDIN)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
viewer sees everything, with personal data masked; auditor also verifies; support handles cards and codes, finance
moves money, operations manages tenants and credentials; operator does what these three do; admin also manages operators.

Examples:
  svc admin operator create asha --role admin
  svc admin operator create night.shift --role operator ${EXAMPLE_STDIN}`,
    )
    .action(create)
  operator
    .command('list')
    .description('list all operators')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin operator list')
    .action(async ({ json = false }: Json) => {
      const operators = await withInstallation(({ database }) => database.operate(listOperatorAccounts))
      printRows(operators.map(shown), json)
    })
  for (const [name, disabled, description] of [
    ['disable', true, 'no more sign-in; sessions end at once in every process'],
    ['enable', false, 'undo disable'],
  ] as const)
    operator
      .command(`${name} <name>`)
      .description(description)
      .option('--json', 'print JSON')
      .addHelpText('after', `\nExample:\n  svc admin operator ${name} asha`)
      .action((who: string, { json = false }: Json) => change(who, { disabled }, json))
  operator
    .command('role <name> <role>')
    .description(`change what an operator may do: ${ROLES.join(', ')}; less than before ends their sessions`)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin operator role asha operator')
    .action((who: string, role: string, { json = false }: Json) =>
      change(who, { role: readRole(role, ROLES) }, json),
    )
  operator
    .command('reset-password <name>')
    .description('set a new password; sessions end at once in every process')
    .option(...PASSWORD_STDIN)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `\nExamples:\n  svc admin operator reset-password asha\n  svc admin operator reset-password asha ${EXAMPLE_STDIN}`,
    )
    .action(resetPassword)
  operator
    .command('unlink <name>')
    .description(
      'forget whom the identity provider knows an operator as; the next sign-in by the name links again, sessions end',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin operator unlink asha@example.com')
    .action(unlink)
  addFactorCommands(operator)
  addInvitationCommands(operator)
}

function addFactorCommands(operator: Command): void {
  operator
    .command('remove-passkeys <name>')
    .description('all passkeys of an operator stop working; sessions end at once in every process')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin operator remove-passkeys asha')
    .action(removePasskeys)
  operator
    .command('reset-second-factor <name>')
    .description(
      'the authenticator app of an operator is asked no more; sessions end at once in every process',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin operator reset-second-factor asha')
    .action(resetSecondFactor)
}

const shown = ({ operatorId, name, role, createdAt, disabledAt, lastSignInAt }: OperatorAccount) => ({
  operatorId,
  name,
  role,
  createdAt,
  lastSignInAt,
  status: disabledAt ? 'disabled' : 'active',
})

/** Never an argument: arguments are seen by everybody on the machine and kept in the shell's history. */
async function newPassword(fromStdin: boolean): Promise<string> {
  const { PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } = await import('@svc/console-api/password')
  const rule = `The password must have ${PASSWORD_CHARS_MIN} to ${PASSWORD_CHARS_MAX} characters`
  const fits = (text: string) => text.length >= PASSWORD_CHARS_MIN && text.length <= PASSWORD_CHARS_MAX
  if (fromStdin) {
    const [line = ''] = (await readText('-', 'the password')).split(/\r?\n/, 1)
    if (!fits(line)) throw new UsageError(rule)
    return line
  }
  if (!process.stdin.isTTY)
    throw new UsageError(
      `The password cannot be prompted for without a terminal. Give it with: ${EXAMPLE_STDIN}`,
    )
  const promptFor = async (message: string, validate: (text: string) => string | undefined) => {
    const response = await promptPassword({ message, validate: (text = '') => validate(text) })
    if (isCancel(response)) throw new UsageError('Nothing was changed')
    return response
  }
  const first = await promptFor('New password', (text) => (fits(text) ? undefined : rule))
  await promptFor('Repeat it', (text) => (text === first ? undefined : 'The two are not the same'))
  return first
}

async function create(
  name: string,
  { role: text, passwordStdin = false, json = false }: PasswordOptions & { role: string },
): Promise<void> {
  const role = readRole(text, ROLES)
  if (!isOperatorName(name))
    throw new UsageError(
      'The name must be 2 to 64 small letters, digits and . _ @ -, a letter or digit first',
    )
  const { hashPassword } = await import('@svc/console-api/password')
  const passwordHash = await hashPassword(await newPassword(passwordStdin))
  const created = await operate((tx, random) => insertOperator(tx, random, { name, role, passwordHash }))
  printRecord(shown(created), json)
}

async function change(
  who: string,
  wanted: { readonly role?: Role; readonly disabled?: boolean },
  json: boolean,
): Promise<void> {
  const changed = await operate(async (tx) =>
    required(
      await updateOperator(tx, (await requireOperator(tx, who)).operatorId, wanted),
      'an operator is never deleted',
    ),
  )
  printRecord(shown(changed), json)
}

async function resetPassword(
  who: string,
  { passwordStdin = false, json = false }: PasswordOptions,
): Promise<void> {
  await operate((tx) => requireOperator(tx, who))
  const { hashPassword } = await import('@svc/console-api/password')
  const passwordHash = await hashPassword(await newPassword(passwordStdin))
  const operator = await operate(async (tx) => {
    const found = await requireOperator(tx, who)
    await setPasswordHash(tx, found.operatorId, passwordHash)
    recordAudit(tx, [{ action: 'operator.password_reset', target: found.operatorId }])
    return found
  })
  printRecord(shown(operator), json)
}

async function unlink(who: string, { json = false }: Json): Promise<void> {
  const { operator, unlinked } = await operate(async (tx) => {
    const found = await requireOperator(tx, who)
    await endSessions(tx, found.operatorId)
    return { operator: found, unlinked: await unlinkIdentity(tx, found.operatorId) }
  })
  printRecord({ ...shown(operator), unlinked }, json)
}

async function removePasskeys(who: string, { json = false }: Json): Promise<void> {
  const { operator, passkeysRemoved } = await operate(async (tx) => {
    const found = await requireOperator(tx, who)
    await endSessions(tx, found.operatorId)
    recordAudit(tx, [{ action: 'operator.passkeys_removed', target: found.operatorId }])
    return { operator: found, passkeysRemoved: await removeAllPasskeys(tx, found.operatorId) }
  })
  printRecord({ ...shown(operator), passkeysRemoved }, json)
}

async function resetSecondFactor(who: string, { json = false }: Json): Promise<void> {
  const { operator, reset } = await operate(async (tx) => {
    const found = await requireOperator(tx, who)
    await endSessions(tx, found.operatorId)
    return { operator: found, reset: await OPERATOR_FACTORS.remove(tx, found.operatorId) }
  })
  printRecord({ ...shown(operator), reset }, json)
}

async function requireOperator(tx: Tx, who: string): Promise<OperatorAccount> {
  const operator = await findOperator(tx, who)
  if (!operator)
    throw new UsageError(`There is no operator ${who}. See them all with: svc admin operator list`)
  return operator
}

/** Refusals are reported in one line, as everywhere on the command line. */
async function operate<T>(work: (tx: Tx, random: (size: number) => Uint8Array) => Promise<T>): Promise<T> {
  try {
    return await withInstallation(({ database, keyMaker }) =>
      database.operate((tx) => work(tx, keyMaker.random)),
    )
  } catch (error) {
    if (error instanceof Failure) throw new UsageError(error.description)
    throw error
  }
}
