import { actorOf } from '@svc/console-api/as-operator'
import { Failure } from '@svc/contract/errors'
import type { Tx } from '@svc/platform/db/database'
import { commandCaller } from './command-caller.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { UsageError } from './usage-error.ts'

/**
 * One transaction of a command that changes who may act, in the name of the administrator who is signed in, as the audit
 * names them. In live mode, and on a database of an installation in live mode, it needs one (decision R10).
 */
export const asAdministrator = <T>(
  _command: string,
  work: (tx: Tx, context: CommandContext, actor: string) => Promise<T>,
): Promise<T> =>
  refused(
    withInstallation(async (context) => {
      const actor = actorOf(await commandCaller(context, { permission: 'administer', stepUp: true }))
      return context.database.operate((tx) => work(tx, context, actor), 'read committed', { actor })
    }),
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
