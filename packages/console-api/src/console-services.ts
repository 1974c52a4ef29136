import type { Reconciliation } from '@svc/core/ledger/reconcile'
import type { Verdict } from '@svc/platform/audit-chain'
import type { Tx } from '@svc/platform/db/database'
import type { Services } from '@svc/server/http/operation'
import type { BackgroundCheck } from './background-check.ts'
import { ledgerChecks } from './faces/reconciliations.ts'
import { OPERATORS } from './identity/audience.ts'
import { Challenges } from './identity/challenges.ts'
import { FailedSignIns } from './identity/failed-sign-ins.ts'
import { IdentityProvider } from './identity/identity-provider.ts'
import { KnownDevices } from './identity/known-devices.ts'
import { Passkeys } from './identity/passkeys.ts'
import { permits, type Role } from './identity/permissions.ts'
import { SecondFactor } from './identity/second-factor.ts'
import { OPERATOR_FACTORS } from './identity/second-factor-store.ts'
import { OPERATOR_SESSIONS } from './identity/session-store.ts'
import { Sessions } from './identity/sessions.ts'
import { SignInGate } from './identity/sign-in-gate.ts'
import { auditChecks } from './records/audit-checks.ts'

/** What the console has besides the services of the API. */
export interface ConsoleServices extends Services {
  readonly sessions: Sessions<Role>
  readonly signInGate: SignInGate
  readonly devices: KnownDevices
  readonly failedSignIns: FailedSignIns
  readonly challenges: Challenges
  readonly identityProvider: IdentityProvider
  readonly passkeys: Passkeys
  readonly secondFactor: SecondFactor
  readonly auditChecks: BackgroundCheck<Verdict>
  readonly ledgerChecks: BackgroundCheck<Reconciliation>
}

/** The console's part of the composition. */
export function consoleServices(services: Services): ConsoleServices {
  const { database } = services
  const operate = <T>(_: string, work: (tx: Tx) => Promise<T>) => database.operate(work)
  const challenges = new Challenges(services, OPERATORS)
  return {
    ...services,
    sessions: new Sessions(services, {
      at: 'console',
      store: OPERATOR_SESSIONS,
      secondFactor: 'CONSOLE_SECOND_FACTOR',
      movesMoney: (role: Role) => permits(role, 'finance'),
      read: operate,
      write: operate,
    }),
    signInGate: new SignInGate(services.config.SIGN_IN_FAILURES_PER_MINUTE),
    devices: new KnownDevices(services, 'console'),
    failedSignIns: new FailedSignIns(services),
    challenges,
    passkeys: new Passkeys({
      ...services,
      challenges,
      pageName: 'svc console',
      within: operate,
    }),
    secondFactor: new SecondFactor(services, OPERATOR_FACTORS),
    identityProvider: new IdentityProvider(services),
    auditChecks: auditChecks(services),
    ledgerChecks: ledgerChecks(services),
  }
}
