import { fail } from '@svc/contract/errors'
import { rfc3339 } from '@svc/kernel/time'
import { recordAudit } from '@svc/platform/audit'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { asOperator } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam, instant, record, text } from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { browserOf } from './browser-name.ts'
import { endOwnSession, endOwnSessions, listOwnSessions, type OwnSession } from './own-sessions.ts'

const TAG = 'Session'

export const OwnSessionRecord = record('OwnSession', {
  sessionId: text(),
  isCurrent: Type.Boolean({ description: 'Whether it is the one that asks' }),
  address: text('From which the person signed in'),
  browser: text('Browser and system, as the browser names them; `Unknown browser` where it does not'),
  factors: Type.Array(text(), { description: 'With what the person proved who they are' }),
  signedInOn: instant,
  lastUsedOn: text('RFC 3339; at most a minute late'),
  expiresOn: instant,
})

export const ownSessionToWire = (session: OwnSession, timeZone: string) => ({
  sessionId: session.sessionId,
  isCurrent: session.isCurrent,
  address: session.address,
  browser: browserOf(session.userAgent),
  factors: session.factors,
  signedInOn: rfc3339(session.createdAt, timeZone),
  lastUsedOn: rfc3339(session.seenAt, timeZone),
  expiresOn: rfc3339(session.expiresAt, timeZone),
})

export const listSessions = query({
  ...consoleOperation,
  id: 'console.listSessions',
  beforeSecondFactor: true,
  method: 'GET',
  path: `${CONSOLE_API}/sessions`,
  tag: TAG,
  summary: 'List your sessions',
  description: 'Those that have not ended, the last used first.',
  permission: 'view',
  result: closed({ data: Type.Array(OwnSessionRecord) }),
  errors: [],
  mount({ config, database, sessions }: ConsoleServices) {
    return async ({ headers }) => {
      const current = await sessions.current({ headers })
      const found = await database.operate((tx) => listOwnSessions(tx, current, sessions.bounds()))
      return {
        body: JSON.stringify({
          data: found.map((each) => ownSessionToWire(each, config.BUSINESS_TIME_ZONE)),
        }),
      }
    }
  },
})

export const endSession = query({
  ...consoleOperation,
  id: 'console.endSession',
  beforeSecondFactor: true,
  method: 'DELETE',
  path: `${CONSOLE_API}/sessions/:sessionId`,
  tag: TAG,
  summary: 'End one of your sessions',
  description: 'It ends at once, in every process.',
  permission: 'view',
  params: idParam('sessionId'),
  result: closed({ ended: Type.Boolean() }),
  errors: ['session_not_found'],
  mount(services: ConsoleServices) {
    return async (input) => {
      const { actorId } = (await services.sessions.current(input)).operator
      const { sessionId } = input.params
      await asOperator(services, input, async (tx) => {
        if (!(await endOwnSession(tx, actorId, sessionId))) fail('session_not_found')
        recordAudit(tx, [{ action: 'operator.session_ended', target: actorId, details: { sessionId } }])
      })
      return { body: '{"ended":true}' }
    }
  },
})

export const endOtherSessions = query({
  ...consoleOperation,
  id: 'console.endOtherSessions',
  beforeSecondFactor: true,
  method: 'DELETE',
  path: `${CONSOLE_API}/sessions`,
  tag: TAG,
  summary: 'End all your other sessions',
  description: 'They end at once, in every process; the one that asks stays.',
  permission: 'view',
  result: closed({ ended: Type.Integer({ description: 'How many there were' }) }),
  errors: [],
  mount(services: ConsoleServices) {
    return async (input) => {
      const current = await services.sessions.current(input)
      const { actorId } = current.operator
      const ended = await asOperator(services, input, async (tx) => {
        const count = await endOwnSessions(tx, actorId, current.digest)
        recordAudit(tx, [{ action: 'operator.other_sessions_ended', target: actorId, details: { count } }])
        return count
      })
      return { body: JSON.stringify({ ended }) }
    }
  },
})
