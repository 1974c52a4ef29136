import { fail } from '@svc/contract/errors'
import { Type } from 'typebox'
import type { ConsoleServices } from '../console-services.ts'
import type { SignInAttempt } from './failed-sign-ins.ts'
import { findCredentials, type OperatorAccount } from './operator-store.ts'
import { isPassword } from './password.ts'
import type { Factor } from './proof-age.ts'
import type { Admitted, SignInGate } from './sign-in-gate.ts'

/** Of a second factor, where there is one. */
export const OptionalCode = Type.Optional(
  Type.String({
    minLength: 6,
    maxLength: 11,
    description: 'Of the second factor: six digits of the authenticator app, or a recovery code',
  }),
)

/** What operators and members send to prove who they are. */
export const PasswordAndCode = {
  password: Type.String({ minLength: 1, maxLength: 256 }),
  code: OptionalCode,
}

/** How a proof fails. */
export const PROOF_FAILURES = [
  'wrong_password',
  'second_factor_required',
  'wrong_code',
  'second_factor_locked',
  'too_many_failed_attempts',
  'overloaded',
] as const

/** What a proof needs, in the console and on the command line. */
export interface ProofServices extends Pick<ConsoleServices, 'database' | 'failedSignIns' | 'secondFactor'> {
  readonly signInGate: Pick<SignInGate, 'enter'>
}

/** The operator whose password this is. Failed attempts are slowed down and audited. */
export async function checkPassword(
  services: ProofServices,
  attempt: SignInAttempt,
  password: string,
): Promise<OperatorAccount> {
  const { admitted, operator } = await operatorOfPassword(services, attempt, password)
  await admitted.passed()
  return operator
}

interface OfPassword {
  readonly operator: OperatorAccount
  readonly admitted: Admitted
}

async function operatorOfPassword(
  services: ProofServices,
  attempt: SignInAttempt,
  password: string,
): Promise<OfPassword> {
  const ended = services.failedSignIns.begin(attempt.address)
  try {
    return await judge(services, attempt, password)
  } finally {
    ended()
  }
}

async function judge(
  { database, failedSignIns, signInGate }: ProofServices,
  attempt: SignInAttempt,
  password: string,
): Promise<OfPassword> {
  let admitted: Admitted
  try {
    admitted = await signInGate.enter(attempt)
    const known = await database.operate((tx) => findCredentials(tx, attempt.name))
    const fits = await isPassword(known?.passwordHash, password, admitted.isKnown)
    if (known && fits) return { operator: known.operator, admitted }
  } catch (error) {
    failedSignIns.count(attempt.address)
    throw error
  }
  await failedSignIns.record(attempt)
  await admitted.failed()
  return fail('wrong_password')
}

/** The operator whose password this is, with a code where a second factor is set up. */
export async function proveOperator(
  services: ProofServices,
  attempt: SignInAttempt,
  { password, code }: { readonly password: string; readonly code?: string | undefined },
): Promise<{ operator: OperatorAccount; factors: readonly Factor[] }> {
  const { database, failedSignIns, secondFactor } = services
  const { admitted, operator } = await operatorOfPassword(services, attempt, password)
  const checked = await database.operate((tx) => secondFactor.check(tx, [operator.operatorId], code))
  if (checked !== 'wrong') {
    await admitted.passed()
    return { operator, factors: checked === 'none' ? ['password'] : ['password', checked] }
  }
  await failedSignIns.record({ ...attempt, reason: 'wrong_code' })
  await admitted.failed()
  return fail('wrong_code')
}
