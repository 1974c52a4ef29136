import { findCredentials, type OperatorAccount } from '@svc/console-api/operator-store'
import { permits } from '@svc/console-api/permissions'
import type { PostingTools } from '@svc/console-api/postings'
import { Failure } from '@svc/contract/errors'
import { idMaker } from '@svc/contract/id-kinds'
import { systemClock } from '@svc/kernel/time'
import { type CommandContext, cliActor } from './context.ts'
import { UsageError } from './usage-error.ts'

/**
 * Who moves money by the command line: the operator whose name and password the settings hold, so that no one approves
 * what they prepared (decision R10). In sandbox mode, without these, the account that the command runs on.
 */
export async function moneyActor(context: CommandContext): Promise<string> {
  const { config, database } = context
  const { SVC_OPERATOR: name, SVC_OPERATOR_PASSWORD: password, SVC_MODE } = config
  if (name === undefined || password === undefined) {
    if (SVC_MODE === 'sandbox') return cliActor()
    throw new UsageError('Set SVC_OPERATOR and SVC_OPERATOR_PASSWORD: money is moved in an operator’s name.')
  }
  const { isPassword } = await import('@svc/console-api/password')
  const known = await database.operate((tx) => findCredentials(tx, name))
  if (!(await isPassword(known?.passwordHash, password.reveal())) || !known)
    throw new UsageError('SVC_OPERATOR and SVC_OPERATOR_PASSWORD fit no active operator.')
  const { role } = known.operator
  if (!permits(role, 'finance'))
    throw new UsageError(`The operator ${name} has the role ${role}, which may not move money.`)
  await requireCode(context, known.operator)
  return `operator ${name}`
}

/** Throws `UsageError` where the operator has a second factor and `SVC_OPERATOR_CODE` is none of its codes. */
async function requireCode(
  { config, database, keyMaker: { keyring, random } }: CommandContext,
  { name, operatorId }: OperatorAccount,
): Promise<void> {
  const { SecondFactor } = await import('@svc/console-api/second-factor')
  const { OPERATOR_FACTORS } = await import('@svc/console-api/second-factor-store')
  const factor = new SecondFactor({ clock: systemClock, keyring, random }, OPERATOR_FACTORS)
  const code = config.SVC_OPERATOR_CODE?.reveal()
  try {
    const checked = await database.operate((tx) => factor.check(tx, operatorId, code))
    if (checked !== 'wrong') return
  } catch (error) {
    if (error instanceof Failure)
      throw new UsageError(`${error.description}. Set SVC_OPERATOR_CODE to a code of ${name}.`)
    throw error
  }
  throw new UsageError(`SVC_OPERATOR_CODE is not a code of ${name}, or was used before: each works once.`)
}

/** What postings of this call need. */
export const postingTools = ({ commands, config, database, keyMaker }: CommandContext): PostingTools => ({
  commands,
  config,
  database,
  newId: idMaker(systemClock, keyMaker.random),
})
