import type { Services } from '@svc/server/http/operation'

/** With what a person proves who they are; `none` for the sandbox's click. A passkey counts as two. */
export type Factor = 'password' | 'totp' | 'recovery' | 'passkey' | 'oidc' | 'none'

/** Whether a session needs a second factor with which it did not begin. */
export const isFactorMissing = (
  needed: 'optional' | 'money' | 'all',
  movesMoney: boolean,
  factors: readonly Factor[],
): boolean =>
  (needed === 'all' || (needed === 'money' && movesMoney)) && factors.every((factor) => factor === 'password')

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
