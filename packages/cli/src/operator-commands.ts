import { type AccessWanted, changeAccess } from '@svc/console-api/identity/access-requests'
import { operator as operatorNoun, operatorToWire } from '@svc/console-api/identity/operator-operations'
import { findOperator, type OperatorAccount, updateOperator } from '@svc/console-api/identity/operator-store'
import { ROLES } from '@svc/console-api/identity/permissions'
import { required } from '@svc/kernel/invariant'
import type { Tx } from '@svc/platform/db/database'
import type { Command } from 'commander'
import { addAccessRequestCommands } from './access-request-commands.ts'
import { type AsOwner, refused, WAITS, withAdministrator } from './administrator.ts'
import { AS_OWNER } from './command-caller.ts'
import { addInvitationCommands } from './invitation-commands.ts'
import { addNounList, printNoun } from './noun-commands.ts'
import { readRole } from './operator-role.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}
type Changing = Json & AsOwner

export function addOperatorCommands(program: Command): void {
  const operator = program.command('operator').description('people who may use the console')
  addNounList<OperatorAccount>(operator, operatorNoun, {
    limit: 500,
    description: 'list all operators',
    example: 'svc admin operator list --status active',
  })
  for (const [name, disabled, description] of [
    ['disable', true, 'no more sign-in; sessions end at once in every process'],
    ['enable', false, 'undo disable'],
  ] as const)
    operator
      .command(`${name} <name>`)
      .description(description)
      .option(...AS_OWNER)
      .option('--json', 'print JSON')
      .addHelpText('after', `\nExample:\n  svc admin operator ${name} asha`)
      .action((who: string, options: Changing) =>
        disabled ? disable(who, options) : change(who, options, { kind: 'enable' }),
      )
  operator
    .command('role <name> <role>')
    .description(`change what an operator may do: ${ROLES.join(', ')}; less than before ends their sessions`)
    .option(...AS_OWNER)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin operator role asha operator')
    .action((who: string, role: string, options: Changing) =>
      change(who, options, { kind: 'role', role: readRole(role, ROLES) }),
    )
  operator
    .command('unlink <name>')
    .description(
      'forget whom the identity provider knows an operator as; the next sign-in by the name links again, sessions end',
    )
    .option(...AS_OWNER)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin operator unlink asha@example.com')
    .action((who: string, options: Changing) => change(who, options, { kind: 'identity' }))
  addFactorCommands(operator)
  addInvitationCommands(operator)
  addAccessRequestCommands(operator)
}

function addFactorCommands(operator: Command): void {
  operator
    .command('remove-passkeys <name>')
    .description('all passkeys of an operator stop working; sessions end at once in every process')
    .option(...AS_OWNER)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin operator remove-passkeys asha')
    .action((who: string, options: Changing) => change(who, options, { kind: 'passkeys' }))
  operator
    .command('reset-second-factor <name>')
    .description(
      'the authenticator app of an operator is asked no more; sessions end at once in every process',
    )
    .option(...AS_OWNER)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin operator reset-second-factor asha')
    .action((who: string, options: Changing) => change(who, options, { kind: 'second_factor' }))
}

async function disable(who: string, { asOwner, json = false }: Changing): Promise<void> {
  const changed = await refused(
    withAdministrator({ asOwner, command: 'operator disable' }, async ({ config, database }, { actor }) => {
      const disabled = await database.operate(
        async (tx) => updateOperator(tx, (await requireOperator(tx, who)).operatorId, { disabled: true }),
        'read committed',
        { actor },
      )
      return operatorToWire(required(disabled, 'an operator is never deleted'), config.BUSINESS_TIME_ZONE)
    }),
  )
  printNoun(changed, json)
}

/** What is printed of what was removed. */
const REMOVED = { identity: 'unlinked', passkeys: 'passkeysRemoved', second_factor: 'reset' } as const

async function change(who: string, { asOwner, json = false }: Changing, wanted: AccessWanted): Promise<void> {
  const { operator, approvalId, removed } = await refused(
    withAdministrator({ asOwner, command: `operator ${wanted.kind}` }, ({ config, database, keyMaker }, by) =>
      database.operate(
        async (tx) => {
          const { operatorId } = await requireOperator(tx, who)
          const tools = { config, random: keyMaker.random, now: new Date() }
          const { operator: changed, ...more } = await changeAccess(tx, tools, by, { ...wanted, operatorId })
          return { ...more, operator: operatorToWire(changed, config.BUSINESS_TIME_ZONE) }
        },
        'read committed',
        { actor: by.actor },
      ),
    ),
  )
  const name = wanted.kind in REMOVED ? REMOVED[wanted.kind as keyof typeof REMOVED] : undefined
  printNoun(
    {
      ...operator,
      ...(name !== undefined && { [name]: wanted.kind === 'passkeys' ? removed : removed > 0 }),
      ...(approvalId !== undefined && { approvalId }),
    },
    json,
  )
  if (approvalId !== undefined && !json) process.stderr.write(`${WAITS}\n`)
}

async function requireOperator(tx: Tx, who: string): Promise<OperatorAccount> {
  const operator = await findOperator(tx, who)
  if (!operator)
    throw new UsageError(`There is no operator ${who}. See them all with: svc admin operator list`)
  return operator
}
