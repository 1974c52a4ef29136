import { fail } from '@svc/contract/errors'
import { recordAudit } from '@svc/platform/audit'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { asOperator } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam, listOf, record, text } from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { findOperator } from './operator-store.ts'
import { OwnSessionRecord, ownSessionToWire } from './own-session-operations.ts'
import { ALL_MAX, OPERATOR_SESSIONS } from './session-store.ts'

const TAG = 'Operators'
const PATH = `${CONSOLE_API}/operators/sessions`
/** Where anybody is signed in to the console. */
export const listOperatorSessions = query({
  ...consoleOperation,
  id: 'console.listOperatorSessions',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List the sessions of all operators',
  description: 'Those that have not ended, the last used first.',
  permission: 'administer',
  result: listOf(
    record('OperatorSession', { ...OwnSessionRecord.properties, operatorId: text(), operatorName: text() }),
  ),
  errors: [],
  mount({ config, database, sessions }: ConsoleServices) {
    return async ({ headers }) => {
      const { digest } = await sessions.current({ headers })
      const { found, names } = await database.operate(async (tx) => {
        const sessionsOfAll = await OPERATOR_SESSIONS.listAll(tx, [], digest, sessions.bounds())
        const people = new Set(sessionsOfAll.map(({ personId }) => personId))
        const named = [...people].map(async (id) => [id, (await findOperator(tx, id))?.name ?? id] as const)
        return { found: sessionsOfAll, names: new Map(await Promise.all(named)) }
      })
      const data = found.map(({ personId, ...session }) => ({
        ...ownSessionToWire(session, config.BUSINESS_TIME_ZONE),
        operatorId: personId,
        operatorName: names.get(personId) ?? personId,
      }))
      return {
        body: JSON.stringify({ data, total: { count: data.length, exact: data.length < ALL_MAX } }),
      }
    }
  },
})

export const endOperatorSession = query({
  ...consoleOperation,
  id: 'console.endOperatorSession',
  stepUp: true,
  method: 'DELETE',
  path: `${PATH}/:sessionId`,
  tag: TAG,
  summary: 'End a session of an operator',
  description: 'It ends at once, in every process. The operator can sign in again: disable who must not.',
  permission: 'administer',
  params: idParam('sessionId'),
  result: closed({ ended: Type.Boolean() }),
  errors: ['session_not_found'],
  mount(services: ConsoleServices) {
    return async (input) => {
      const { sessionId } = input.params
      await asOperator(services, input, async (tx) => {
        const target = await OPERATOR_SESSIONS.endAny(tx, [], sessionId)
        if (target === undefined) return fail('session_not_found')
        recordAudit(tx, [{ action: 'operator.session_ended', target, details: { sessionId } }])
      })
      return { body: '{"ended":true}' }
    }
  },
})
