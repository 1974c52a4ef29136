import { type Permission, permits } from '@svc/console-api/identity/permissions'
import { type CommandContext, cliActor } from './context.ts'
import { signedInOperator } from './signed-in-operator.ts'
import { UsageError } from './usage-error.ts'

/**
 * Who moves money by the command line: the operator whose name and password the settings hold, so that no one approves
 * what they prepared (decision R10). In sandbox mode, without these, the account that the command runs on.
 */
export async function moneyActor(context: CommandContext, needed: Permission = 'finance'): Promise<string> {
  const { config } = context
  if (config.SVC_OPERATOR === undefined || config.SVC_OPERATOR_PASSWORD === undefined) {
    if (config.SVC_MODE === 'sandbox') return cliActor()
    throw new UsageError('Set SVC_OPERATOR and SVC_OPERATOR_PASSWORD: money is moved in an operator’s name.')
  }
  const { name, role } = await signedInOperator(context)
  if (!permits(role, needed)) {
    const what = needed === 'contest' ? 'contest disputes' : 'move money'
    throw new UsageError(`The operator ${name} has the role ${role}, which may not ${what}.`)
  }
  return `operator ${name}`
}
