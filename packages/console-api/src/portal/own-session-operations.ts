import { fail } from '@svc/contract/errors'
import { recordActs } from '@svc/platform/audit'
import { statement } from '@svc/platform/db/statement'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { closed, idParam } from '../console-schema.ts'
import { OwnSessionRecord, ownSessionToWire } from '../identity/own-session-operations.ts'
import { type OwnSessionRow, toOwnSession } from '../identity/own-sessions.ts'
import { asMember, memberOperation, PORTAL_API, type PortalServices } from './portal-services.ts'

const TAG = 'Session'
const PATH = `${PORTAL_API}/sessions`

/** Names a session to its person: a part of the keyed digest, which opens nothing. */
const SESSION_ID = `encode(substr(digest, 1, 12), 'hex')`

const LIST = statement<OwnSessionRow>(
  'member_own_sessions',
  `select ${SESSION_ID} as session_id, digest = $3 as is_current, address, user_agent, factors, created_at, seen_at, expires_at
   from member_sessions where tenant_id = $1 and member_id = $2 and expires_at > $4 and seen_at > $5
   order by seen_at desc, digest`,
)
const END_ONE = statement<{ ended: number }>(
  'member_own_session_end',
  `delete from member_sessions where tenant_id = $1 and member_id = $2 and ${SESSION_ID} = $3 returning 1 as ended`,
)
const END_OTHERS = statement<{ ended: number }>(
  'member_own_sessions_end',
  'delete from member_sessions where tenant_id = $1 and member_id = $2 and digest <> $3 returning 1 as ended',
)

export const listOwnMemberSessions = query({
  ...memberOperation,
  id: 'portal.listSessions',
  beforeSecondFactor: true,
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List your sessions',
  description: 'Those that have not ended, the last used first.',
  role: 'viewer',
  result: closed({ data: Type.Array(OwnSessionRecord) }),
  errors: [],
  mount({ config, database, members }: PortalServices) {
    return async (input) => {
      const { tenantId, memberId, digest } = await members.current(input)
      const { now, idleSince } = members.bounds()
      const rows = await database.read([tenantId], (tx) =>
        tx.query(LIST, [tenantId, memberId, digest, now, idleSince]),
      )
      const data = rows.map((row) => ownSessionToWire(toOwnSession(row), config.BUSINESS_TIME_ZONE))
      return { body: JSON.stringify({ data }) }
    }
  },
})

export const endOwnMemberSession = query({
  ...memberOperation,
  id: 'portal.endSession',
  beforeSecondFactor: true,
  method: 'DELETE',
  path: `${PATH}/:sessionId`,
  tag: TAG,
  summary: 'End one of your sessions',
  description: 'It ends at once, in every process.',
  role: 'viewer',
  params: idParam('sessionId'),
  result: closed({ ended: Type.Boolean() }),
  errors: ['session_not_found'],
  mount(services: PortalServices) {
    return async (input) => {
      const { tenantId, memberId, name } = await services.members.current(input)
      const { sessionId } = input.params
      await asMember(services, input, async (tx) => {
        const ended = await tx.query(END_ONE, [tenantId, memberId, sessionId])
        if (ended.length === 0) fail('session_not_found')
        const act = { action: 'member.session_ended', target: memberId, member: name, tenantId }
        recordActs(tx, [{ ...act, requestId: input.requestId, details: { sessionId } }])
      })
      return { body: '{"ended":true}' }
    }
  },
})

export const endOtherMemberSessions = query({
  ...memberOperation,
  id: 'portal.endOtherSessions',
  beforeSecondFactor: true,
  method: 'DELETE',
  path: PATH,
  tag: TAG,
  summary: 'End all your other sessions',
  description: 'They end at once, in every process; the one that asks stays.',
  role: 'viewer',
  result: closed({ ended: Type.Integer({ description: 'How many there were' }) }),
  errors: [],
  mount(services: PortalServices) {
    return async (input) => {
      const { tenantId, memberId, name, digest } = await services.members.current(input)
      const ended = await asMember(services, input, async (tx) => {
        const { length: count } = await tx.query(END_OTHERS, [tenantId, memberId, digest])
        const act = { action: 'member.other_sessions_ended', target: memberId, member: name, tenantId }
        recordActs(tx, [{ ...act, requestId: input.requestId, details: { count } }])
        return count
      })
      return { body: JSON.stringify({ ended }) }
    }
  },
})
