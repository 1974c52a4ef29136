import { fail } from '@svc/contract/errors'
import { rfc3339 } from '@svc/kernel/time'
import { type Operation, query, type Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { closed, idParam, instant, record, text } from '../console-schema.ts'
import { browserOf } from './browser-name.ts'
import type { Face } from './face.ts'
import type { OwnSession } from './session-store.ts'

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

/** Where the person is signed in, and how to sign out elsewhere. */
export function ownSessions<S extends Services>(face: Face<S>): readonly Operation<S>[] {
  const path = `${face.api}/sessions`
  const shared = { ...face.own, tag: TAG, beforeSecondFactor: true } as const
  const list = query({
    ...shared,
    id: `${face.id}.listSessions`,
    method: 'GET',
    path,
    summary: 'List your sessions',
    description: 'Those that have not ended, the last used first.',
    result: closed({ data: Type.Array(OwnSessionRecord) }),
    errors: [],
    mount(services: S) {
      const { keyOf, read, sessions } = face.identity(services)
      return async ({ caller, headers }) => {
        const { digest } = await sessions.current({ headers })
        const bounds = sessions.bounds()
        const found = await read(caller, (tx) => face.sessions.list(tx, keyOf(caller), digest, bounds))
        const data = found.map((each) => ownSessionToWire(each, services.config.BUSINESS_TIME_ZONE))
        return { body: JSON.stringify({ data }) }
      }
    },
  })
  return [list, ...endSessions(face, path)]
}

function endSessions<S extends Services>(face: Face<S>, path: string): readonly Operation<S>[] {
  const shared = { ...face.own, tag: TAG, beforeSecondFactor: true } as const
  const { who } = face.audience
  const endOne = query({
    ...shared,
    id: `${face.id}.endSession`,
    method: 'DELETE',
    path: `${path}/:sessionId`,
    summary: 'End one of your sessions',
    description: 'It ends at once, in every process.',
    params: idParam('sessionId'),
    result: closed({ ended: Type.Boolean() }),
    errors: ['session_not_found'],
    mount(services: S) {
      const { act, keyOf, record } = face.identity(services)
      return async (input) => {
        const { sessionId } = input.params
        await act(input, async (tx) => {
          if (!(await face.sessions.endOne(tx, keyOf(input.caller), sessionId))) fail('session_not_found')
          record(tx, input, { action: `${who}.session_ended`, details: { sessionId } })
        })
        return { body: '{"ended":true}' }
      }
    },
  })
  const endOthers = query({
    ...shared,
    id: `${face.id}.endOtherSessions`,
    method: 'DELETE',
    path,
    summary: 'End all your other sessions',
    description: 'They end at once, in every process; the one that asks stays.',
    result: closed({ ended: Type.Integer({ description: 'How many there were' }) }),
    errors: [],
    mount(services: S) {
      const { act, keyOf, record, sessions } = face.identity(services)
      return async (input) => {
        const { digest } = await sessions.current(input)
        const ended = await act(input, async (tx) => {
          const count = await face.sessions.endOthers(tx, keyOf(input.caller), digest)
          record(tx, input, { action: `${who}.other_sessions_ended`, details: { count } })
          return count
        })
        return { body: JSON.stringify({ ended }) }
      }
    },
  })
  return [endOne, endOthers]
}
