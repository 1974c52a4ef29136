import { fail } from '@svc/contract/errors'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { required } from '@svc/kernel/invariant'
import { recordAudit } from '@svc/platform/audit'
import { Type } from 'typebox'
import { actorOf, asOperator } from '../as-operator.ts'
import { CONSOLE_API, consoleOperation, maybe } from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { OPERATORS, type Person } from './audience.ts'
import type { Entry, Face, Identity } from './face.ts'
import { ANONYMOUS } from './failed-sign-ins.ts'
import { findOperator, type OperatorAccount, setPasswordHash } from './operator-store.ts'
import { OPERATOR_PASSKEYS } from './passkey-store.ts'
import { permissionsOf, type Role } from './permissions.ts'
import { checkPassword, proveOperator } from './prove-operator.ts'
import { OPERATOR_FACTORS } from './second-factor-store.ts'
import { beginSession } from './session-operations.ts'
import { SessionRecord } from './session-records.ts'
import { OPERATOR_SESSIONS } from './session-store.ts'

const operatorOf = ({ actor }: Person) => required(actor, 'operators call')

/** Who acts while an operator signs in. */
export const callerOf = ({ operatorId, name }: Pick<OperatorAccount, 'operatorId' | 'name'>): Person => ({
  tenantId: PLATFORM_TENANT,
  actor: { actorId: operatorId, name },
})

const keyOf = (person: Person) => [operatorOf(person).actorId]

/** With what operators begin sessions. */
export const operatorEntry = (services: ConsoleServices): Entry => ({
  audience: OPERATORS,
  devices: services.devices,
  sessions: services.sessions,
  keyOf,
  whose: async ({ personId: operatorId, name, role }) => ({
    operator: { operatorId, name, role, permissions: permissionsOf(role as Role) },
  }),
  act: (request, work) => asOperator(services, request, work),
  record: (tx, { caller }, act) => recordAudit(tx, [{ ...act, target: operatorOf(caller).actorId }]),
})

/** How operators prove again who they are. */
function proofsOf(services: ConsoleServices): Pick<Identity, 'checkPassword' | 'prove'> {
  const attemptOf = ({ address, caller, headers, requestId }: Parameters<Identity['prove']>[0]) => {
    const { name } = operatorOf(caller)
    const device = services.devices.find({ headers }, name)
    return { actor: actorOf(caller), address, device, name, requestId }
  }
  return {
    checkPassword(request, password) {
      const attempt = { ...attemptOf(request), action: 'operator.password_change_failed' } as const
      return checkPassword(services, attempt, password)
    },
    async prove(request, given) {
      if (services.config.CONSOLE_PASSWORDS === 'off') fail('passwords_off')
      const attempt = { ...attemptOf(request), action: 'operator.step_up_failed' } as const
      return (await proveOperator(services, attempt, given)).factors
    },
  }
}

/** Operators, who act in transactions that see every tenant. */
export const CONSOLE_FACE: Face<ConsoleServices> = {
  id: 'console',
  api: CONSOLE_API,
  audience: OPERATORS,
  passkeys: OPERATOR_PASSKEYS,
  factors: OPERATOR_FACTORS,
  sessions: OPERATOR_SESSIONS,
  session: SessionRecord,
  about: {
    fields: {
      dayEndsAt: Type.Integer({ description: 'The minute of the day at which a business day ends' }),
      passwords: Type.Boolean({ description: 'Whether operators may sign in with a password' }),
      singleSignOn: maybe('Host of the identity provider, where there is one'),
    },
    of: ({ config }) => ({
      dayEndsAt: config.BUSINESS_DAY_CUTOFF,
      passwords: config.CONSOLE_PASSWORDS === 'on',
      singleSignOn: config.OIDC_ISSUER && new URL(config.OIDC_ISSUER).host,
    }),
  },
  own: { ...consoleOperation, permission: 'view' },
  identity(services) {
    const { database, failedSignIns, passkeys, secondFactor } = services
    const entry = operatorEntry(services)
    return {
      ...entry,
      ...proofsOf(services),
      passkeys,
      secondFactor,
      registrant: async (caller) => ({
        tenantId: PLATFORM_TENANT,
        owner: keyOf(caller),
        label: operatorOf(caller).name,
      }),
      setPassword: (tx, [operatorId = ''], passwordHash, keep) =>
        setPasswordHash(tx, operatorId, passwordHash, keep),
      read: (_, work) => database.operate(work),
      within: (_, work) => database.operate(work),
      tenantOf: () => [],
      async find(tx, [operatorId = '']) {
        const operator = await findOperator(tx, operatorId)
        return (
          operator && {
            name: operator.name,
            isDisabled: operator.disabledAt !== null,
            enter: (request, factors) =>
              beginSession(services, entry, callerOf(operator), request, { factors }),
          }
        )
      },
      refused: ({ name, reason }, { address, requestId }) =>
        failedSignIns.record({
          action: 'operator.sign_in_failed',
          actor: ANONYMOUS,
          address,
          requestId,
          name,
          reason,
        }),
    }
  },
}
