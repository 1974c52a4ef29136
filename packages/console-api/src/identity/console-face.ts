import { fail } from '@svc/contract/errors'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { required } from '@svc/kernel/invariant'
import { recordAudit } from '@svc/platform/audit'
import type { Caller } from '@svc/server/http/operation'
import { actorOf, asOperator } from '../as-operator.ts'
import { CONSOLE_API, consoleOperation } from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { OPERATORS } from './audience.ts'
import type { Face } from './face.ts'
import { findOperator } from './operator-store.ts'
import { OPERATOR_SESSIONS } from './own-sessions.ts'
import { OPERATOR_PASSKEYS } from './passkey-store.ts'
import { proveOperator } from './prove-operator.ts'
import { OPERATOR_FACTORS } from './second-factor-store.ts'
import { ANONYMOUS, beginSession, sessionToWire } from './session-operations.ts'

const operatorOf = ({ actor }: Caller) => required(actor, 'operators call')

/** Operators, who act in transactions that see every tenant. */
export const CONSOLE_FACE: Face<ConsoleServices> = {
  id: 'console',
  api: CONSOLE_API,
  audience: OPERATORS,
  passkeys: OPERATOR_PASSKEYS,
  factors: OPERATOR_FACTORS,
  sessions: OPERATOR_SESSIONS,
  own: { ...consoleOperation, permission: 'view' },
  identity(services) {
    const { config, database, failedSignIns, passkeys, secondFactor, sessions } = services
    const keyOf = (caller: Caller) => [operatorOf(caller).actorId]
    return {
      passkeys,
      secondFactor,
      keyOf,
      registrant: async (caller) => ({
        tenantId: PLATFORM_TENANT,
        owner: keyOf(caller),
        label: operatorOf(caller).name,
      }),
      current: async (request) => ({ tenantId: PLATFORM_TENANT, ...(await sessions.current(request)) }),
      bounds: () => sessions.bounds(),
      addFactor: (tx, session, factor) => sessions.addFactor(tx, session, factor),
      renew: (tx, session, factors) => sessions.renew(tx, session, factors),
      async prove({ address, caller, headers, requestId }, given) {
        if (config.CONSOLE_PASSWORDS === 'off') fail('passwords_off')
        const { name } = operatorOf(caller)
        const device = services.devices.find({ headers }, name)
        const attempt = { actor: actorOf(caller), address, device, name, requestId }
        const { factors } = await proveOperator(
          services,
          { ...attempt, action: 'operator.step_up_failed' },
          given,
        )
        return factors
      },
      show: async (request) => sessionToWire(await sessions.current(request), services),
      read: (_, work) => database.operate(work),
      act: (request, work) => asOperator(services, request, work),
      record: (tx, { caller }, act) => recordAudit(tx, [{ ...act, target: operatorOf(caller).actorId }]),
      within: (_, work) => database.operate(work),
      tenantOf: () => [],
      async find(tx, [operatorId = '']) {
        const operator = await findOperator(tx, operatorId)
        return (
          operator && {
            name: operator.name,
            isDisabled: operator.disabledAt !== null,
            enter: (request, factors) => beginSession(services, operator, request, factors),
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
