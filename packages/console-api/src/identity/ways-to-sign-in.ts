import { type Operation, query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { asOperator } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam } from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { byOperator, changeAccess, toolsOf, WaitsFor } from './access-requests.ts'
import type { AccessReset } from './second-administrator.ts'

/** Takes a way to sign in from an operator. */
const removal = (
  kind: AccessReset,
  path: string,
  { why, ...described }: Pick<Operation, 'id' | 'tag' | 'summary'> & { readonly why: string },
) =>
  query({
    ...consoleOperation,
    ...described,
    stepUp: true,
    method: 'DELETE',
    path: `${CONSOLE_API}/operators/:operatorId/${path}`,
    description: `${why}. Ends all sessions of the operator within a second. In live mode it waits for a second administrator: \`approvalId\` says so.`,
    permission: 'administer',
    params: idParam('operatorId'),
    result: closed({
      removed: Type.Boolean({ description: 'Whether there was one' }),
      approvalId: WaitsFor,
    }),
    errors: ['operator_not_found', 'last_administrator', 'approval_open'],
    mount(services: ConsoleServices) {
      return async (input) => {
        const { operatorId } = input.params
        const { approvalId, removed } = await asOperator(services, input, (tx) =>
          changeAccess(tx, toolsOf(services), byOperator(input), { kind, operatorId }),
        )
        return { body: JSON.stringify({ removed, approvalId }) }
      }
    },
  })

export const removeOperatorPasskeys = removal('passkeys', 'passkeys', {
  id: 'console.removeOperatorPasskeys',
  tag: 'Passkeys',
  summary: 'Remove all passkeys of an operator',
  why: 'For one who has lost a device',
})

export const resetSecondFactor = removal('second_factor', 'second-factor', {
  id: 'console.resetSecondFactor',
  tag: 'Second factor',
  summary: 'Reset the second factor of an operator',
  why: 'For one who has lost the phone with the authenticator app',
})

export const unlinkOperator = removal('identity', 'identity', {
  id: 'console.unlinkOperator',
  tag: 'Single sign-on',
  summary: 'Unlink an operator from the identity provider',
  why: 'For a person with a new account at the provider: the next sign-in by the name links again',
})
