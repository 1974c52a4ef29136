import type { Services } from '@svc/server/http/operation'
import type { Audience } from './audience.ts'
import { Challenges } from './challenges.ts'
import { KnownDevices } from './known-devices.ts'
import { Passkeys } from './passkeys.ts'
import { SecondFactor } from './second-factor.ts'
import type { FactorStore } from './second-factor-store.ts'
import { type SessionKind, Sessions } from './sessions.ts'
import { SignInGate } from './sign-in-gate.ts'

/** By what people of one audience sign in, and stay signed in. */
export interface SignIns<R extends string> {
  readonly challenges: Challenges
  readonly devices: KnownDevices
  readonly passkeys: Passkeys
  readonly secondFactor: SecondFactor
  readonly sessions: Sessions<R>
  readonly signInGate: SignInGate
}

export function signInsOf<R extends string>(
  services: Services,
  audience: Audience,
  factors: FactorStore,
  kind: SessionKind<R>,
): SignIns<R> {
  const { at, write } = kind
  const challenges = new Challenges(services, audience)
  return {
    challenges,
    devices: new KnownDevices(services, at),
    passkeys: new Passkeys({ ...services, challenges, pageName: `svc ${at}`, within: write }),
    secondFactor: new SecondFactor(services, factors),
    sessions: new Sessions(services, kind),
    signInGate: new SignInGate(services.config.SIGN_IN_FAILURES_PER_MINUTE),
  }
}
