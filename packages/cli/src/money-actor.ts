import { actorOf } from '@svc/console-api/as-operator'
import type { Permission } from '@svc/console-api/identity/permissions'
import { commandCaller } from './command-caller.ts'
import type { CommandContext } from './context.ts'

/** In whose name a command moves money, as the audit names them: no one approves what they prepared (decision R10). */
export const moneyActor = async (
  context: CommandContext,
  permission: Permission = 'finance',
): Promise<string> => actorOf(await commandCaller(context, { permission, stepUp: true }))
