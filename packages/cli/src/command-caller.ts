import { hasAdministrator } from '@svc/console-api/identity/operator-store'
import { type Permission, requirePermission } from '@svc/console-api/identity/permissions'
import { needsTwoAdministrators } from '@svc/console-api/identity/second-administrator'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { connectionOptions } from '@svc/platform/db/connection-options'
import { DatabaseClient } from '@svc/platform/db/server-locator'
import type { Actor, Caller, Operation } from '@svc/server/http/operation'
import { type CommandContext, cliActor } from './context.ts'
import { signedInOperator } from './signed-in-operator.ts'
import { UsageError } from './usage-error.ts'

export const AS_OWNER = [
  '--as-owner',
  'without an administrator, by the login of DATABASE_OWNER_URL: for the first one, and where none can sign in; alerts all operators',
] as const

export const SIGN_IN =
  'Set SVC_OPERATOR and SVC_OPERATOR_PASSWORD: in live mode this is done in an operator’s name.'

const callerOf = (actor: Actor): Caller => ({ tenantId: PLATFORM_TENANT, actor })

/** The account of this machine that the command runs on. */
const account = (): Actor => ({ actorId: cliActor(), name: cliActor(), role: 'admin', isAccount: true })

/**
 * In whose name a command runs an operation of operators: of the one whose name and password the settings hold, with
 * the rights of their role, as in the console. Without these it is the account of the machine; in live mode only for
 * what needs no proof of who acts, and changes nothing that only administrators change (decision R10).
 */
export async function commandCaller(
  context: CommandContext,
  { method, permission = 'view', stepUp }: Partial<Pick<Operation, 'method' | 'permission' | 'stepUp'>>,
): Promise<Caller> {
  const { config, database } = context
  if (config.SVC_OPERATOR !== undefined && config.SVC_OPERATOR_PASSWORD !== undefined) {
    const { operatorId, name, role } = await signedInOperator(context)
    requirePermission(role, permission as Permission)
    return callerOf({ actorId: operatorId, name, role })
  }
  const needsProof = stepUp || (permission === 'administer' && method !== 'GET')
  const isLive = await database.operate((tx) => needsTwoAdministrators(tx, config))
  // Some operations ask for a proof of some requests only.
  if (!needsProof || !isLive) return { ...callerOf(account()), isProofStale: isLive }
  if (permission !== 'administer') throw new UsageError(SIGN_IN)
  throw new UsageError(
    (await database.operate(hasAdministrator))
      ? 'Set SVC_OPERATOR and SVC_OPERATOR_PASSWORD: only a signed-in administrator does this. Where none can sign in, the owner of the database does: DATABASE_OWNER_URL and --as-owner.'
      : 'There is no administrator yet. The owner of the database makes the first: set DATABASE_OWNER_URL and add --as-owner.',
  )
}

/** With the login of the database's owner: its act is written first, which alerts all operators. */
export async function ownerCaller({ database }: CommandContext, command: string): Promise<Caller> {
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
  return callerOf({ ...account(), isOwner: true })
}
