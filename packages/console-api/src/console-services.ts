import type { Reconciliation } from '@svc/core/ledger/reconcile'
import type { Verdict } from '@svc/platform/audit-chain'
import type { Services } from '@svc/server/http/operation'
import { auditChecks } from './audit-checks.ts'
import type { BackgroundCheck } from './background-check.ts'
import { Challenges } from './challenges.ts'
import { FailedSignIns } from './failed-sign-ins.ts'
import { IdentityProvider } from './identity-provider.ts'
import { Passkeys } from './passkeys.ts'
import { ledgerChecks } from './reconciliations.ts'
import { SecondFactor } from './second-factor.ts'
import { OPERATOR_FACTORS } from './second-factor-store.ts'
import { Sessions } from './sessions.ts'
import { SignInGate } from './sign-in-gate.ts'

/** What the console has besides the services of the API. */
export interface ConsoleServices extends Services {
  readonly sessions: Sessions
  readonly signInGate: SignInGate
  readonly failedSignIns: FailedSignIns
  readonly challenges: Challenges
  readonly identityProvider: IdentityProvider
  readonly passkeys: Passkeys
  readonly secondFactor: SecondFactor<string>
  readonly auditChecks: BackgroundCheck<Verdict>
  readonly ledgerChecks: BackgroundCheck<Reconciliation>
}

/** The console's part of the composition. */
export function consoleServices(services: Services): ConsoleServices {
  const challenges = new Challenges(services)
  return {
    ...services,
    sessions: new Sessions(services),
    signInGate: new SignInGate(services.config.SIGN_IN_FAILURES_PER_MINUTE),
    failedSignIns: new FailedSignIns(services),
    challenges,
    passkeys: new Passkeys({ ...services, challenges }),
    secondFactor: new SecondFactor(services, OPERATOR_FACTORS),
    identityProvider: new IdentityProvider(services),
    auditChecks: auditChecks(services),
    ledgerChecks: ledgerChecks(services),
  }
}
