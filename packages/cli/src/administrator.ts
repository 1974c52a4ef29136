import { byOperator } from '@svc/console-api/identity/access-requests'
import type { Role } from '@svc/console-api/identity/permissions'
import type { Administrator } from '@svc/console-api/identity/second-administrator'
import { Failure } from '@svc/contract/errors'
import { required } from '@svc/kernel/invariant'
import type { Tx } from '@svc/platform/db/database'
import { commandCaller, ownerCaller } from './command-caller.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { UsageError } from './usage-error.ts'

/** The administrator in whose name a command changes who may act. */
export interface CommandAdministrator extends Administrator {
  /** Absent without a sign-in: in a sandbox, before the first administrator, and for the owner of the database. */
  readonly operator?: { readonly operatorId: string; readonly role: Role }
}

export interface AsOwner {
  readonly asOwner?: boolean | undefined
}

export const WAITS =
  'A second administrator must approve it: svc admin operator approve <approvalId>, or under Operators in the console.'

/**
 * Runs a command that changes who may act. In live mode, and on a database of an installation in live mode, it needs the
 * name and password of an administrator (decision R10), or the login that owns the database, which alerts all operators.
 */
export const withAdministrator = <T>(
  { asOwner = false, command }: AsOwner & { readonly command: string },
  work: (context: CommandContext, by: CommandAdministrator) => Promise<T>,
): Promise<T> =>
  withInstallation(async (context) => {
    const caller = asOwner
      ? await ownerCaller(context, command)
      : await commandCaller(context, { permission: 'administer', stepUp: true })
    const { actorId: operatorId, role, isAccount } = required(caller.actor, 'operators call')
    const operator = isAccount ? undefined : { operatorId, role: role as Role }
    return work(context, { ...byOperator({ caller }), ...(operator && { operator }) })
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
