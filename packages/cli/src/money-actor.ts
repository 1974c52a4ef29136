import { findCredentials } from '@svc/console-api/operator-store'
import type { PostingTools } from '@svc/console-api/postings'
import { idMaker } from '@svc/contract/id-kinds'
import { systemClock } from '@svc/kernel/time'
import { type CommandContext, cliActor } from './context.ts'
import { UsageError } from './usage-error.ts'

/**
 * Who moves money by the command line: the operator whose name and password the settings hold, so that no one approves
 * what they prepared (decision R10). In sandbox mode, without these, the account that the command runs on.
 */
export async function moneyActor({ config, database }: CommandContext): Promise<string> {
  const { SVC_OPERATOR: name, SVC_OPERATOR_PASSWORD: password, SVC_MODE } = config
  if (name === undefined || password === undefined) {
    if (SVC_MODE === 'sandbox') return cliActor()
    throw new UsageError('Set SVC_OPERATOR and SVC_OPERATOR_PASSWORD: money is moved in an operator’s name.')
  }
  const { isPassword } = await import('@svc/console-api/password')
  const known = await database.operate((tx) => findCredentials(tx, name))
  if (!(await isPassword(known?.passwordHash, password.reveal())) || !known)
    throw new UsageError('SVC_OPERATOR and SVC_OPERATOR_PASSWORD fit no active operator.')
  if (known.operator.role === 'viewer')
    throw new UsageError(`The operator ${name} is a viewer and cannot move money.`)
  return `operator ${name}`
}

/** What postings of this call need. */
export const postingTools = ({ commands, config, database, keyMaker }: CommandContext): PostingTools => ({
  commands,
  config,
  database,
  newId: idMaker(systemClock, keyMaker.random),
})
