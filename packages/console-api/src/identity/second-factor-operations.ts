import { fail } from '@svc/contract/errors'
import { required } from '@svc/kernel/invariant'
import { recordAudit } from '@svc/platform/audit'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { actorOf, asOperator } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam } from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { byOperator, changeAccess, toolsOf, WaitsFor } from './access-requests.ts'
import { isPasswordAlone, requireProved } from './proof-age.ts'
import { PasswordAndCode, PROOF_FAILURES, proveOperator } from './prove-operator.ts'
import {
  FirstCode,
  labelOf,
  RecoveryCodes,
  SecondFactorRecord,
  SecondFactorStart,
  startToWire,
  stateToWire,
} from './second-factor-records.ts'
import { OPERATOR_FACTORS } from './second-factor-store.ts'
import { SessionRecord, sessionToWire } from './session-operations.ts'

const TAG = 'Second factor'
const PATH = `${CONSOLE_API}/session/second-factor`

export const showSecondFactor = query({
  ...consoleOperation,
  id: 'console.showSecondFactor',
  beforeSecondFactor: true,
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'Show your second factor',
  permission: 'view',
  result: SecondFactorRecord,
  errors: [],
  mount({ config, database, secondFactor }: ConsoleServices) {
    return async ({ caller }) => {
      const { actorId } = required(caller.actor, 'operators call')
      const state = await database.operate((tx) => secondFactor.state(tx, actorId))
      return { body: stateToWire(state, config.BUSINESS_TIME_ZONE) }
    }
  },
})

export const startSecondFactor = query({
  ...consoleOperation,
  id: 'console.startSecondFactor',
  beforeSecondFactor: true,
  stepUp: true,
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Begin to set up an authenticator app',
  description: 'It counts once `confirm` has taken a code of the app; until then this can be called again.',
  permission: 'view',
  result: SecondFactorStart,
  errors: ['second_factor_is_on', 'second_factor_required'],
  mount(services: ConsoleServices) {
    return async (input) => {
      requireProved(await services.sessions.current(input))
      const { actorId, name } = required(input.caller.actor, 'operators call')
      const label = labelOf(services.publicUrl(), name)
      const begun = await asOperator(services, input, (tx) => services.secondFactor.begin(tx, actorId, label))
      return { body: startToWire(begun) }
    }
  },
})

export const confirmSecondFactor = query({
  ...consoleOperation,
  id: 'console.confirmSecondFactor',
  beforeSecondFactor: true,
  stepUp: true,
  method: 'POST',
  path: `${PATH}/confirm`,
  tag: TAG,
  summary: 'Confirm an authenticator app by its first code',
  permission: 'view',
  body: FirstCode,
  result: RecoveryCodes,
  errors: [
    'second_factor_not_found',
    'second_factor_is_on',
    'second_factor_required',
    'wrong_code',
    'second_factor_locked',
  ],
  mount(services: ConsoleServices) {
    const { secondFactor, sessions } = services
    return async (input) => {
      const { actorId } = required(input.caller.actor, 'operators call')
      const session = await sessions.current(input)
      requireProved(session)
      const recoveryCodes = await asOperator(services, input, async (tx) => {
        const codes = await secondFactor.confirm(tx, actorId, input.body.code)
        if (codes) await sessions.addFactor(tx, session, 'totp')
        return codes
      })
      return { body: JSON.stringify({ recoveryCodes: recoveryCodes ?? fail('wrong_code') }) }
    }
  },
})

export const renewRecoveryCodes = query({
  ...consoleOperation,
  id: 'console.renewRecoveryCodes',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/recovery-codes`,
  tag: TAG,
  summary: 'Get new recovery codes',
  description: 'Those of before stop working.',
  permission: 'view',
  result: RecoveryCodes,
  errors: ['second_factor_not_found'],
  mount(services: ConsoleServices) {
    const { secondFactor } = services
    return async (input) => {
      const { actorId } = required(input.caller.actor, 'operators call')
      const recoveryCodes = await asOperator(services, input, async (tx) => {
        const { confirmedAt } = await secondFactor.state(tx, actorId)
        if (!confirmedAt) return fail('second_factor_not_found')
        recordAudit(tx, [{ action: 'operator.recovery_codes_renewed', target: actorId }])
        return secondFactor.renewRecoveryCodes(tx, actorId)
      })
      return { body: JSON.stringify({ recoveryCodes }) }
    }
  },
})

export const removeOwnSecondFactor = query({
  ...consoleOperation,
  id: 'console.removeOwnSecondFactor',
  stepUp: true,
  method: 'DELETE',
  path: PATH,
  tag: TAG,
  summary: 'Remove your authenticator app',
  description: 'Its recovery codes stop working too.',
  permission: 'view',
  result: closed({ removed: Type.Boolean() }),
  errors: ['second_factor_not_found'],
  mount(services: ConsoleServices) {
    return async (input) => {
      const { actorId } = required(input.caller.actor, 'operators call')
      const removed = await asOperator(services, input, (tx) => OPERATOR_FACTORS.remove(tx, actorId))
      return { body: JSON.stringify({ removed: removed || fail('second_factor_not_found') }) }
    }
  },
})

export const resetSecondFactor = query({
  ...consoleOperation,
  id: 'console.resetSecondFactor',
  stepUp: true,
  method: 'DELETE',
  path: `${CONSOLE_API}/operators/:operatorId/second-factor`,
  tag: TAG,
  summary: 'Reset the second factor of an operator',
  description:
    'For one who has lost the device. Ends all sessions of the operator. In live mode it waits for a second administrator: `approvalId` says so.',
  permission: 'administer',
  params: idParam('operatorId'),
  result: closed({ removed: Type.Boolean(), approvalId: WaitsFor }),
  errors: ['operator_not_found', 'second_factor_not_found', 'last_administrator', 'approval_open'],
  mount(services: ConsoleServices) {
    return async (input) => {
      const { operatorId } = input.params
      const { approvalId, removed } = await asOperator(services, input, async (tx) => {
        const change = { kind: 'second_factor', operatorId } as const
        const changed = await changeAccess(tx, toolsOf(services), byOperator(input), change)
        return changed.approvalId || changed.removed > 0 ? changed : fail('second_factor_not_found')
      })
      return { body: JSON.stringify({ removed: removed > 0, approvalId }) }
    }
  },
})

export const stepUp = query({
  ...consoleOperation,
  id: 'console.stepUp',
  beforeSecondFactor: true,
  method: 'POST',
  path: `${CONSOLE_API}/session/step-up`,
  tag: TAG,
  summary: 'Prove again that it is you',
  description:
    'Money moves, keys, webhook endpoints, changes to operators, and what cannot be undone need a sign-in of at most `CONSOLE_STEP_UP_MINUTES` ago. Without a password, or with a passkey and no authenticator app, sign in again instead.',
  permission: 'view',
  body: closed(PasswordAndCode),
  result: SessionRecord,
  errors: ['passwords_off', 'second_factor_needed', ...PROOF_FAILURES],
  mount(services: ConsoleServices) {
    const { config, sessions } = services
    return async (input) => {
      if (config.CONSOLE_PASSWORDS === 'off') fail('passwords_off')
      const { address, body, caller, requestId } = input
      const { name } = required(caller.actor, 'operators call')
      const action = 'operator.step_up_failed'
      const attempt = { action, actor: actorOf(caller), address, name, requestId } as const
      const { factors, operator } = await proveOperator(services, attempt, body)
      // One with an app was asked for a code.
      if (operator.hasSecondFactor && isPasswordAlone(factors))
        fail('second_factor_needed', { description: 'A password alone is not enough: use your passkey' })
      await asOperator(services, input, async (tx) =>
        sessions.renew(tx, await sessions.current(input), factors),
      )
      return { body: sessionToWire(await sessions.current(input), services) }
    }
  },
})
