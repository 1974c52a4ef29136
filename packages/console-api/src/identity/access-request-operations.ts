import { rfc3339 } from '@svc/kernel/time'
import { type Input, query, type Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { actorOf, asOperator } from '../as-operator.ts'
import {
  CONSOLE_API,
  consoleOperation,
  idParam,
  instant,
  listOf,
  maybe,
  record,
  text,
} from '../console-schema.ts'
import {
  ACCESS_REQUESTS_MAX,
  type AccessRequest,
  decideAccessRequest,
  listAccessRequests,
} from './access-requests.ts'
import { MEMBER_ACCESS } from './second-administrator.ts'

const TAG = 'Operators'
const PATH = `${CONSOLE_API}/operators/requests`

const AccessRequestRecord = record('AccessRequest', {
  approvalId: text(),
  kind: Type.Enum(['link', 'role', 'enable', 'passkeys', 'second_factor', 'identity', ...MEMBER_ACCESS], {
    description:
      '`link`: to become an administrator, or to choose another password. `passkeys`, `second_factor`, `identity`: that way to sign in is removed. `member_second_factor`: that of a member of a tenant. `member_link`, `member_role`, `member_enable`: a link for a member, more rights, the end of being disabled',
  }),
  name: text('The operator or the member, or whom a link invites'),
  role: maybe('Of a link or a role: which one'),
  status: Type.Enum(['waiting', 'approved', 'rejected', 'expired']),
  requestedBy: text(),
  requestedOn: instant,
  expiresOn: instant,
})

const accessRequestStatus = ({ expiresAt, outcome }: AccessRequest, now: Date) => {
  if (outcome !== null) return outcome.toLowerCase() as 'approved' | 'rejected' | 'expired'
  return expiresAt <= now ? 'expired' : 'waiting'
}

const toWire = (request: AccessRequest, timeZone: string, now: Date) => ({
  approvalId: request.approvalId,
  kind: request.kind,
  name: request.name,
  ...(request.role !== null && { role: request.role }),
  status: accessRequestStatus(request, now),
  requestedBy: request.requestedBy,
  requestedOn: rfc3339(request.requestedAt, timeZone),
  expiresOn: rfc3339(request.expiresAt, timeZone),
})

export const listAccessRequestsInConsole = query({
  ...consoleOperation,
  id: 'console.listAccessRequests',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List changes of operators that wait for a second administrator',
  permission: 'administer',
  result: listOf(AccessRequestRecord),
  errors: [],
  mount({ clock, config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async () => {
      const now = new Date(clock.now())
      const requests = await database.operate((tx) => listAccessRequests(tx, now))
      const data = requests.map((each) => toWire(each, timeZone, now))
      return {
        body: JSON.stringify({
          data,
          total: { count: data.length, exact: data.length < ACCESS_REQUESTS_MAX },
        }),
      }
    }
  },
})

async function decide(
  services: Services,
  input: Input<unknown, unknown, unknown>,
  approvalId: string,
  outcome: 'APPROVED' | 'REJECTED',
) {
  const now = new Date(services.clock.now())
  const decided = await asOperator(services, input, (tx) =>
    decideAccessRequest(tx, { approvalId, outcome, by: actorOf(input.caller), now }),
  )
  return { body: JSON.stringify(toWire(decided, services.config.BUSINESS_TIME_ZONE, now)) }
}

const FAILS = [
  'approval_not_found',
  'approval_closed',
  'approval_same_person',
  'operator_not_found',
  'last_administrator',
] as const

export const approveAccessRequest = query({
  ...consoleOperation,
  id: 'console.approveAccessRequest',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:approvalId/approve`,
  tag: TAG,
  summary: 'Approve a change of operators that another administrator requested',
  description:
    'It happens at once; the link of an invitation works from now on. The requester does not approve it; neither does an operator whom the requester created, invited, promoted or reset within `APPROVER_COOLING_DAYS`, or who did that to the requester.',
  permission: 'administer',
  params: idParam('approvalId'),
  result: AccessRequestRecord,
  errors: [...FAILS],
  mount(services) {
    return (input) => decide(services, input, input.params.approvalId, 'APPROVED')
  },
})

export const rejectAccessRequest = query({
  ...consoleOperation,
  id: 'console.rejectAccessRequest',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:approvalId/reject`,
  tag: TAG,
  summary: 'Reject a change of operators that waits for a second administrator',
  description: 'Nothing changes; the link of an invitation never works. Its requester may do it, too.',
  permission: 'administer',
  params: idParam('approvalId'),
  result: AccessRequestRecord,
  errors: [...FAILS],
  mount(services) {
    return (input) => decide(services, input, input.params.approvalId, 'REJECTED')
  },
})
