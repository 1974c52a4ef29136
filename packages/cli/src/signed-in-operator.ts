import type { OperatorAccount } from '@svc/console-api/identity/operator-store'
import { type Factor, isFactorMissing } from '@svc/console-api/identity/proof-age'
import { Failure } from '@svc/contract/errors'
import { required } from '@svc/kernel/invariant'
import { systemClock } from '@svc/kernel/time'
import { openLog } from '@svc/platform/log'
import { openMetrics } from '@svc/platform/metrics'
import { type CommandContext, cliActor } from './context.ts'
import { signInGate } from './sign-in-gate.ts'
import { UsageError } from './usage-error.ts'

/** Where an attempt comes from, as the audit names it. */
const ADDRESS = 'command line'

/** The operator of `SVC_OPERATOR`, proved as at the console's sign-in (decision O2). Throws `UsageError`. */
export async function signedInOperator(context: CommandContext): Promise<OperatorAccount> {
  const { config } = context
  const name = required(config.SVC_OPERATOR, 'the caller checked it')
  const password = required(config.SVC_OPERATOR_PASSWORD, 'the caller checked it')
  if (config.CONSOLE_PASSWORDS === 'off')
    throw new UsageError(
      'CONSOLE_PASSWORDS is off, and the command line knows operators by their passwords only. Do this in the console, signed in with the identity provider or a passkey.',
    )
  const { operator, factors } = await prove(context, name, password.reveal())
  const person = { movesMoney: true, hasSecondFactor: operator.hasSecondFactor }
  if (isFactorMissing(config.CONSOLE_SECOND_FACTOR, person, factors))
    throw new UsageError(
      `A password alone is not enough for ${name}, and the command line cannot use passkeys. Set up an authenticator app under “Your account” in the console, then set SVC_OPERATOR_CODE to a code of it; or do this in the console.`,
    )
  return operator
}

/** Throws `UsageError` for a wrong password, and for a missing or wrong code. Failures are slowed down and audited. */
async function prove(
  context: CommandContext,
  name: string,
  password: string,
): Promise<{ operator: OperatorAccount; factors: readonly Factor[] }> {
  const { config, database, keyMaker } = context
  const { keyring, random } = keyMaker
  const { FailedSignIns } = await import('@svc/console-api/identity/failed-sign-ins')
  const { proveOperator } = await import('@svc/console-api/identity/prove-operator')
  const { SecondFactor } = await import('@svc/console-api/identity/second-factor')
  const { OPERATOR_FACTORS } = await import('@svc/console-api/identity/second-factor-store')
  const log = openLog('warn', process.stderr)
  const actor = cliActor()
  const services = {
    database,
    failedSignIns: new FailedSignIns({ config, database, log, metrics: openMetrics(new Set()) }),
    secondFactor: new SecondFactor({ clock: systemClock, keyring, random }, OPERATOR_FACTORS),
    signInGate: signInGate(context, actor),
  }
  const attempt = { action: 'operator.sign_in_failed', actor, address: ADDRESS, name, requestId: '' } as const
  const code = config.SVC_OPERATOR_CODE?.reveal()
  try {
    return await proveOperator(services, attempt, { password, code })
  } catch (error) {
    throw error instanceof Failure ? new UsageError(reasonOf(error, name)) : error
  }
}

function reasonOf({ code, description }: Failure, name: string): string {
  switch (code) {
    case 'wrong_password':
      return 'SVC_OPERATOR and SVC_OPERATOR_PASSWORD fit no active operator.'
    case 'wrong_code':
      return `SVC_OPERATOR_CODE is not a code of ${name}, or was used before: each works once.`
    case 'second_factor_required':
      return `${description}. Set SVC_OPERATOR_CODE to a code of ${name}.`
    default:
      return `${description}. Try again later.`
  }
}
