import { fail } from '@svc/contract/errors'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { CONSOLE_API, closed } from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { callerOf, operatorEntry } from './console-face.ts'
import { ANONYMOUS } from './failed-sign-ins.ts'
import { findOperator, insertOperator, SANDBOX_OPERATOR } from './operator-store.ts'
import { PasswordAndCode, PROOF_FAILURES, proveOperator } from './prove-operator.ts'
import { beginSession } from './session-operations.ts'
import { SessionRecord } from './session-records.ts'

const TAG = 'Session'

export const signIn = query({
  id: 'console.signIn',
  method: 'POST',
  path: `${CONSOLE_API}/session`,
  tag: TAG,
  summary: 'Sign in',
  description:
    'Sets the session cookie; a session that the browser had before ends. After several failures of a name or an address the next attempts wait a second each (decision A11); a right password always passes. An operator with an authenticator app sends its `code` too; one with a passkey alone gets a session that reaches nothing but the own account: `POST /session/passkey` begins a whole one.',
  auth: 'none',
  envelope: 'problem',
  body: closed({
    name: Type.String({ minLength: 1, maxLength: 100 }),
    ...PasswordAndCode,
  }),
  result: SessionRecord,
  errors: ['not_signed_in', 'passwords_off', ...PROOF_FAILURES],
  mount(services: ConsoleServices) {
    const entry = operatorEntry(services)
    return async ({ address, body: { name, ...given }, headers, requestId }) => {
      if (services.config.CONSOLE_PASSWORDS === 'off') fail('passwords_off')
      const attempt = {
        action: 'operator.sign_in_failed',
        actor: ANONYMOUS,
        address,
        name,
        requestId,
        device: services.devices.find({ headers }, name),
      } as const
      const { operator, factors } = await proveOperator(services, attempt, given)
      return beginSession(services, entry, callerOf(operator), { address, headers, requestId }, { factors })
    }
  },
})

/** One click, without a password: in sandbox mode only, and from this machine only. */
export const signInToSandbox = query({
  id: 'console.signInToSandbox',
  method: 'POST',
  path: `${CONSOLE_API}/session/sandbox`,
  tag: TAG,
  summary: 'Sign in to the sandbox with one click',
  description: 'As the administrator `sandbox`. Exists in sandbox mode only, and only over loopback.',
  auth: 'loopback',
  envelope: 'problem',
  sandboxOnly: true,
  result: SessionRecord,
  errors: ['route_not_found', 'not_signed_in', 'already_exists'],
  mount(services: ConsoleServices) {
    const { database, failedSignIns, random } = services
    const entry = operatorEntry(services)
    return async ({ address, headers, requestId }) => {
      const operator = await database.operate(
        async (tx) =>
          (await findOperator(tx, SANDBOX_OPERATOR)) ??
          (await insertOperator(tx, random, { name: SANDBOX_OPERATOR, role: 'admin', passwordHash: null })),
      )
      if (operator.disabledAt) {
        const who = { actor: ANONYMOUS, address, name: SANDBOX_OPERATOR, requestId }
        await failedSignIns.record({ action: 'operator.sign_in_failed', ...who })
        fail('not_signed_in', {
          description: `The operator ${SANDBOX_OPERATOR} is disabled`,
          command: `svc admin operator enable ${SANDBOX_OPERATOR}`,
        })
      }
      const proof = { factors: ['none'] } as const
      return beginSession(services, entry, callerOf(operator), { address, headers, requestId }, proof)
    }
  },
})
