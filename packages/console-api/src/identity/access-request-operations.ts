import { rfc3339 } from '@svc/kernel/time'
import { type Input, query, type Services } from '@svc/server/http/operation'
import { choiceFilter, listOf, type Resource, recordOf, toRecord } from '@svc/server/http/resource'
import { Type } from 'typebox'
import { actorOf, asOperator } from '../as-operator.ts'
import {
  CONSOLE_API,
  consoleOperation,
  idParam,
  instant,
  maybe,
  maybeInstant,
  text,
} from '../console-schema.ts'
import { ACCESS_REQUESTS, type AccessRequest, decideAccessRequest, stillWaits } from './access-requests.ts'
import { MEMBER_ACCESS } from './second-administrator.ts'

const TAG = 'Operators'
const PATH = `${CONSOLE_API}/operators/requests`

const STATES = ['waiting', 'approved', 'rejected', 'expired'] as const
export type ListedAccessRequest = AccessRequest & { readonly status: (typeof STATES)[number] }

const asOf = (request: AccessRequest, now: Date): ListedAccessRequest => {
  const decided = request.outcome?.toLowerCase() as Lowercase<NonNullable<AccessRequest['outcome']>>
  return { ...request, status: decided ?? (stillWaits(request, now) ? 'waiting' : 'expired') }
}

/** What a second administrator decides (decision R10), as the console and the command line show it. */
export const accessRequest = {
  titles: { operator: 'AccessRequest' },
  from: ACCESS_REQUESTS,
  // They belong to no tenant.
  tenant: 'r.approval_id',
  keys: [
    { sql: 'r.requested_at', type: 'timestamptz' },
    { sql: 'r.approval_id', type: 'text' },
  ],
  shown: (row, { clock }) => asOf(row, new Date(clock.now())),
  fields: {
    approvalId: { schema: text(), of: ({ approvalId }) => approvalId },
    kind: {
      schema: Type.Enum(
        ['link', 'role', 'enable', 'passkeys', 'second_factor', 'identity', ...MEMBER_ACCESS],
        {
          description:
            '`link`: to become an operator, or to choose another password. `passkeys`, `second_factor`, `identity`: that way to sign in is removed. `member_second_factor`: that of a member of a tenant. `member_link`, `member_role`, `member_enable`: a link for a member, more rights, the end of being disabled',
        },
      ),
      of: ({ kind }) => kind,
    },
    name: {
      schema: text('The operator or the member, or whom a link invites'),
      of: ({ name }) => name,
    },
    role: { schema: maybe('Of a link or a role: which one'), of: ({ role }) => role },
    status: { schema: Type.Enum([...STATES]), of: ({ status }) => status },
    requestedBy: { schema: text(), of: ({ requestedBy }) => requestedBy },
    requestedOn: { schema: instant, of: ({ requestedAt }, timeZone) => rfc3339(requestedAt, timeZone) },
    expiresOn: { schema: instant, of: ({ expiresAt }, timeZone) => rfc3339(expiresAt, timeZone) },
    decidedBy: { schema: maybe('`svc` for one that expired'), of: ({ decidedBy }) => decidedBy },
    decidedOn: {
      schema: maybeInstant,
      of: ({ decidedAt }, timeZone) => decidedAt && rfc3339(decidedAt, timeZone),
    },
  },
  filters: {
    listed: {
      schema: choiceFilter(['waiting', 'all'], 'Those that wait, or all', 'waiting'),
      sql: (filters, listed, _, { shownBy }) =>
        listed === 'waiting' &&
        filters.add(
          `r.outcome is null and r.expires_at > ? and not exists (select from operator_invitations i
             where i.invitation_id = r.invitation_id and i.revoked_at is not null)`,
          shownBy && new Date(shownBy.clock.now()),
        ),
    },
  },
} satisfies Resource<ListedAccessRequest>

const AccessRequestRecord = recordOf(accessRequest, 'operator')
const toWire = toRecord<ListedAccessRequest>(accessRequest, 'operator')

export const listAccessRequestsInConsole = listOf<ListedAccessRequest>(accessRequest, {
  ...consoleOperation,
  id: 'console.listAccessRequests',
  path: PATH,
  tag: TAG,
  summary: 'List changes of who may act that need a second administrator',
  description: 'By default those that wait.',
  permission: 'administer',
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
  return { body: JSON.stringify(toWire(asOf(decided, now), services.config.BUSINESS_TIME_ZONE)) }
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
