import { hasAdministrator } from '@svc/console-api/identity/operator-store'
import { permits, type Role } from '@svc/console-api/identity/permissions'
import { type Administrator, needsTwoAdministrators } from '@svc/console-api/identity/second-administrator'
import { Failure } from '@svc/contract/errors'
import { connectionOptions } from '@svc/platform/db/connection-options'
import type { Tx } from '@svc/platform/db/database'
import { DatabaseClient } from '@svc/platform/db/server-locator'
import { type CommandContext, cliActor, withInstallation } from './context.ts'
import { signedInOperator } from './signed-in-operator.ts'
import { UsageError } from './usage-error.ts'

/** The administrator in whose name a command changes who may act. */
export interface CommandAdministrator extends Administrator {
  /** Absent without a sign-in: in a sandbox, before the first administrator, and for the owner of the database. */
  readonly operator?: { readonly operatorId: string; readonly role: Role }
}

export interface AsOwner {
  readonly asOwner?: boolean | undefined
}

export const AS_OWNER = [
  '--as-owner',
  'without an administrator, by the login of DATABASE_OWNER_URL: for the first one, and where none can sign in; alerts all operators',
] as const

export const WAITS =
  'A second administrator must approve it: svc admin operator approve <approvalId>, or under Operators in the console.'

/**
 * Runs a command that changes who may act. In live mode, and on a database of an installation in live mode, it needs the
 * name and password of an administrator (decision R10), or the login that owns the database, which alerts all operators.
 * Before there is an administrator, `beforeFirst` says whether it may run without.
 */
export const withAdministrator = <T>(
  {
    asOwner = false,
    command,
    beforeFirst = true,
  }: AsOwner & {
    readonly command: string
    readonly beforeFirst?: boolean
  },
  work: (context: CommandContext, by: CommandAdministrator) => Promise<T>,
): Promise<T> =>
  withInstallation(async (context) => {
    if (asOwner) {
      await enterOwnerAct(context, command)
      return work(context, { actor: cliActor(), alone: true })
    }
    return work(context, await administrator(context, beforeFirst))
  })

/** One transaction in the name of the administrator who is signed in, as the audit names them. */
export const asAdministrator = <T>(
  command: string,
  work: (tx: Tx, context: CommandContext, actor: string) => Promise<T>,
): Promise<T> =>
  refused(
    withAdministrator({ command }, (context, { actor }) =>
      context.database.operate((tx) => work(tx, context, actor), 'read committed', { actor }),
    ),
  )

/** Refusals are reported in one line, as everywhere on the command line. */
export async function refused<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Failure) throw new UsageError(error.description)
    throw error
  }
}

async function administrator(context: CommandContext, beforeFirst: boolean): Promise<CommandAdministrator> {
  const { config, database } = context
  const isSignedIn = config.SVC_OPERATOR !== undefined && config.SVC_OPERATOR_PASSWORD !== undefined
  const [isLive, exists] = await database.operate(async (tx) => [
    await needsTwoAdministrators(tx, config),
    await hasAdministrator(tx),
  ])
  if (!exists && (!isLive || beforeFirst)) return { actor: cliActor() }
  if (!exists)
    throw new UsageError(
      'There is no administrator yet. The owner of the database makes the first: set DATABASE_OWNER_URL and add --as-owner.',
    )
  if (!isSignedIn) {
    if (!isLive) return { actor: cliActor() }
    throw new UsageError(
      'Set SVC_OPERATOR and SVC_OPERATOR_PASSWORD: only a signed-in administrator does this. Where none can sign in, the owner of the database does: DATABASE_OWNER_URL and --as-owner.',
    )
  }
  const operator = await signedInOperator(context)
  if (!permits(operator.role, 'administer'))
    throw new UsageError(
      `The operator ${operator.name} has the role ${operator.role}: only an administrator does this.`,
    )
  return { actor: `operator ${operator.name}`, operator }
}

/** Written by the owner's login, before anything is done: no other login may, and the alert is there whatever comes after. */
async function enterOwnerAct({ database }: CommandContext, command: string): Promise<void> {
  const client = new DatabaseClient(connectionOptions(database.address, undefined))
  await client.connect()
  try {
    await client.query('set role svc_owner')
    await client.query('insert into svc.owner_acts (by, command) values ($1, $2)', [cliActor(), command])
  } catch (error) {
    throw new UsageError(
      `--as-owner needs the login that owns the database, in DATABASE_OWNER_URL: ${(error as Error).message}`,
    )
  } finally {
    await client.end()
  }
}
