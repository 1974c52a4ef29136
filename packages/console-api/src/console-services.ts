import type { Reconciliation } from '@svc/core/ledger/reconcile'
import type { Verdict } from '@svc/platform/audit-chain'
import type { Tx } from '@svc/platform/db/database'
import type { Services } from '@svc/server/http/operation'
import type { BackgroundCheck } from './background-check.ts'
import { ledgerChecks } from './faces/reconciliations.ts'
import { OPERATORS } from './identity/audience.ts'
import { FailedSignIns } from './identity/failed-sign-ins.ts'
import { IdentityProvider } from './identity/identity-provider.ts'
import { permits, type Role } from './identity/permissions.ts'
import { OPERATOR_FACTORS } from './identity/second-factor-store.ts'
import { OPERATOR_SESSIONS } from './identity/session-store.ts'
import { type SignIns, signInsOf } from './identity/sign-ins.ts'
import { auditChecks } from './records/audit-checks.ts'

/** What the console has besides the services of the API. */
export interface ConsoleServices extends Services, SignIns<Role> {
  readonly failedSignIns: FailedSignIns
  readonly identityProvider: IdentityProvider
  readonly auditChecks: BackgroundCheck<Verdict>
  readonly ledgerChecks: BackgroundCheck<Reconciliation>
}

/** The console's part of the composition. */
export function consoleServices(services: Services): ConsoleServices {
  const { database } = services
  const operate = <T>(_: string, work: (tx: Tx) => Promise<T>) => database.operate(work)
  return {
    ...services,
    ...signInsOf(services, OPERATORS, OPERATOR_FACTORS, {
      at: 'console',
      store: OPERATOR_SESSIONS,
      secondFactor: 'CONSOLE_SECOND_FACTOR',
      movesMoney: (role: Role) => permits(role, 'finance'),
      read: operate,
      write: operate,
    }),
    failedSignIns: new FailedSignIns(services),
    identityProvider: new IdentityProvider(services),
    auditChecks: auditChecks(services),
    ledgerChecks: ledgerChecks(services),
  }
}
