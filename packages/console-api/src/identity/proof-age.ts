import { fail } from '@svc/contract/errors'
import type { Caller, Services } from '@svc/server/http/operation'

/** With what a person proves who they are; `none` for the sandbox's click. A passkey counts as two. */
export type Factor = 'password' | 'totp' | 'recovery' | 'passkey' | 'oidc' | 'none'

export const isPasswordAlone = (factors: readonly Factor[]): boolean =>
  factors.every((factor) => factor === 'password')

interface Person {
  readonly movesMoney: boolean
  /** Whether one is set up: it is always asked for. */
  readonly hasSecondFactor: boolean
}

/** Whether a person needs a second factor besides what they proved who they are with. */
export const isFactorMissing = (
  needed: 'optional' | 'money' | 'all',
  { movesMoney, hasSecondFactor }: Person,
  factors: readonly Factor[],
): boolean =>
  (hasSecondFactor || needed === 'all' || (needed === 'money' && movesMoney)) && isPasswordAlone(factors)

/**
 * For what changes how a person signs in: throws `second_factor_required` where a second factor is set up and the
 * session has proved the password alone. A stolen password would else add a factor of the thief's.
 */
export function requireProved(session: {
  readonly hasSecondFactor: boolean
  readonly factors: readonly Factor[]
}): void {
  if (session.hasSecondFactor && isPasswordAlone(session.factors))
    fail('second_factor_required', {
      description: 'Sign in with the second factor that you have; then change how you sign in',
    })
}

interface Proof {
  readonly authenticatedAt: Date
  readonly factors: readonly Factor[]
}

/** Whether the person proved long ago who they are. The sandbox's click proves nothing, and cannot be repeated. */
export function isProofStale(
  { clock, config }: Pick<Services, 'clock' | 'config'>,
  { authenticatedAt, factors }: Proof,
): boolean {
  const { CONSOLE_STEP_UP_MINUTES: minutes } = config
  if (minutes === 0 || factors.includes('none')) return false
  return authenticatedAt.getTime() < clock.now() - minutes * 60_000
}

/** Where only some requests of an operation need a recent sign-in. Throws `step_up_required`. */
export function requireRecentProof({ isProofStale: isStale }: Caller): void {
  if (isStale) fail('step_up_required')
}
