import { fail } from '@svc/contract/errors'
import { required } from '@svc/kernel/invariant'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { type Input, query, type Services } from '@svc/server/http/operation'
import { choiceFilter, fieldsOf, listOf, type Resource, recordOf, toRecord } from '@svc/server/http/resource'
import { Type } from 'typebox'
import { asOperator } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  instant,
  maybe,
  record,
  text,
} from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { acceptInvitationOf } from './accept-invitation.ts'
import { byOperator, toolsOf } from './access-requests.ts'
import { callerOf, operatorEntry } from './console-face.ts'
import {
  findInvitation,
  INVITATIONS,
  type Invitation,
  type InvitationState,
  type InvitationTools,
  insertInvitation,
  insertPasswordLink,
  invitationLink,
  type NewInvitation,
  OPEN_INVITATION,
  requireOpen,
  revokeInvitationOf,
  stateOf,
} from './invitation-store.ts'
import { LINK_HOURS, LinkHours, newSecret } from './links.ts'
import { OperatorName, Role as OperatorRole } from './operator-operations.ts'
import { hashPassword } from './password.ts'
import { ROLES, type Role } from './permissions.ts'
import type { Administrator } from './second-administrator.ts'
import { beginSession } from './session-operations.ts'
import { NewPassword, SessionRecord } from './session-records.ts'

const TAG = 'Invitations'

type Shown = Invitation & { readonly status: InvitationState }

const STATES = ['open', 'waiting', 'accepted', 'revoked', 'expired'] as const

/** Invitations of operators, as the console and the command line show them. */
export const invitation = {
  titles: { operator: 'Invitation' },
  from: INVITATIONS,
  // They belong to no tenant.
  tenant: 'i.invitation_id',
  keys: [
    { sql: 'i.created_at', type: 'timestamptz' },
    { sql: 'i.invitation_id', type: 'text' },
  ],
  shown: (row, { clock }) => ({ ...row, status: stateOf(row, new Date(clock.now())) }),
  fields: {
    invitationId: { schema: text(), of: ({ invitationId }) => invitationId },
    name: { schema: text('Name with which the operator will sign in'), of: ({ name }) => name },
    role: { schema: OperatorRole, of: ({ role }) => role },
    status: {
      schema: Type.Enum(STATES, {
        description: '`waiting`: a second administrator must approve it before its link works',
      }),
      of: ({ status }) => status,
    },
    replacesPassword: {
      schema: Type.Boolean({
        description: 'Whether the link lets an operator who exists choose another password',
      }),
      of: ({ resets }) => resets !== null,
    },
    createdOn: { schema: instant, of: ({ createdAt }, timeZone) => rfc3339(createdAt, timeZone) },
    createdBy: { schema: text('Who invited, as the audit names them'), of: ({ createdBy }) => createdBy },
    expiresOn: { schema: instant, of: ({ expiresAt }, timeZone) => rfc3339(expiresAt, timeZone) },
  },
  filters: {
    listed: {
      schema: choiceFilter(['open', 'all'], 'Those that were neither accepted nor revoked, or all', 'open'),
      sql: (filters, listed) => {
        if (listed === 'open') filters.conditions.push(OPEN_INVITATION)
      },
    },
    role: { schema: choiceFilter(ROLES), sql: 'i.role = ?' },
  },
} satisfies Resource<Shown>

const fields = fieldsOf(invitation, 'operator')
const InvitationRecord = recordOf(invitation, 'operator')
const shownToWire = toRecord<Shown>(invitation, 'operator')
/** An invitation as it stands at an instant. */
export const invitationToWire = (row: Invitation, timeZone: string, now: Date) =>
  shownToWire({ ...row, status: stateOf(row, now) }, timeZone)

const Token = Type.String({ minLength: 1, maxLength: 100, description: 'What is behind `#` in the link' })

const NewInvitationRecord = record('NewInvitation', {
  ...fields,
  link: text('Address for the invited person; only here and only now'),
  approvalId: maybe('What a second administrator must approve before the link works'),
})

/** The link that an administrator makes, in the response and nowhere else. */
async function linkMade(
  services: Services,
  input: Input<unknown, unknown, unknown>,
  hours: number = LINK_HOURS,
  make: (tx: Tx, tools: InvitationTools, by: Administrator, link: LinkWanted) => Promise<Invitation>,
) {
  const { config, publicUrl } = services
  const tools = toolsOf(services)
  const { actorId: operatorId, isAccount, role } = required(input.caller.actor, 'operators call')
  const token = newSecret(tools.random)
  const maker = isAccount ? undefined : { operatorId, role: role as Role }
  const made = await asOperator(services, input, (tx) =>
    make(tx, tools, byOperator(input), { hours, token, maker }),
  )
  const link = invitationLink(publicUrl(), token)
  const shown = invitationToWire(made, config.BUSINESS_TIME_ZONE, tools.now)
  return { body: JSON.stringify({ ...shown, link, approvalId: made.approvalId ?? undefined }) }
}

type LinkWanted = Pick<NewInvitation, 'hours' | 'token' | 'maker'>

export const listInvitations = listOf<Shown>(invitation, {
  ...consoleOperation,
  id: 'console.listInvitations',
  path: `${CONSOLE_API}/operators/invitations`,
  tag: TAG,
  summary: 'List invitations',
  description: 'By default all that were neither accepted nor revoked.',
  permission: 'administer',
})

export const inviteOperator = query({
  ...consoleOperation,
  id: 'console.inviteOperator',
  stepUp: true,
  method: 'POST',
  path: `${CONSOLE_API}/operators/invitations`,
  tag: TAG,
  summary: 'Invite operator',
  description:
    'Returns a link that works once, for the invited person, who chooses a password there. It is shown this one time: the service stores a keyed digest of it. An expired invitation of the same name is replaced. The role cannot be above yours, and the invitation ends when you lose that role. In live mode the link to the role `admin` works once a second administrator has approved it.',
  permission: 'administer',
  body: closed({ name: OperatorName, role: OperatorRole, hours: LinkHours }),
  result: NewInvitationRecord,
  errors: ['already_exists', 'approval_open', 'too_many_invitations'],
  mount(services) {
    return (input) => {
      const { hours, name } = input.body
      const role = input.body.role as Role
      return linkMade(services, input, hours, (tx, tools, by, link) =>
        insertInvitation(tx, tools, by, { ...link, name, role }),
      )
    }
  },
})

export const linkOperator = query({
  ...consoleOperation,
  id: 'console.linkOperator',
  stepUp: true,
  method: 'POST',
  path: `${CONSOLE_API}/operators/:operatorId/link`,
  tag: TAG,
  summary: 'Make a link with which an operator chooses another password',
  description:
    'For one who lost the password. The link works once and replaces the password alone: a second factor stays. Sessions end when it is used. In live mode it works once a second administrator has approved it.',
  permission: 'administer',
  params: idParam('operatorId'),
  body: closed({ hours: LinkHours }),
  result: NewInvitationRecord,
  errors: ['operator_not_found', 'already_exists', 'approval_open', 'too_many_invitations'],
  mount(services) {
    return (input) =>
      linkMade(services, input, input.body.hours, (tx, tools, by, link) =>
        insertPasswordLink(tx, tools, by, { ...link, idOrName: input.params.operatorId }),
      )
  },
})

export const revokeInvitation = query({
  ...consoleOperation,
  id: 'console.revokeInvitation',
  method: 'DELETE',
  path: `${CONSOLE_API}/operators/invitations/:invitationId`,
  tag: TAG,
  summary: 'Revoke invitation',
  description: 'Its link stops working at once.',
  permission: 'administer',
  params: idParam('invitationId'),
  result: InvitationRecord,
  errors: ['invitation_not_found'],
  mount(services) {
    const { clock, config } = services
    return async (input) => {
      const now = new Date(clock.now())
      const revoked = await asOperator(services, input, (tx) =>
        revokeInvitationOf(tx, input.params.invitationId, now),
      )
      const ended = revoked ?? fail('invitation_not_found')
      return { body: JSON.stringify(invitationToWire(ended, config.BUSINESS_TIME_ZONE, now)) }
    }
  },
})

const ENDED = [
  'invitation_not_found',
  'invitation_not_approved',
  'invitation_used',
  'invitation_revoked',
  'invitation_expired',
] as const

/** The token is in the body: paths are logged. */
export const showInvitation = query({
  id: 'console.showInvitation',
  method: 'POST',
  path: `${CONSOLE_API}/invitation`,
  tag: TAG,
  summary: 'Show the invitation of a link',
  auth: 'none',
  limitedBy: 'address',
  envelope: 'problem',
  body: closed({ token: Token }),
  result: record('OfferedInvitation', {
    name: text('Name with which the operator will sign in'),
    role: OperatorRole,
    invitedBy: text('Who invited, as the audit names them'),
    expiresOn: instant,
  }),
  errors: [...ENDED],
  mount(services: ConsoleServices) {
    const { clock, config, database, keyring } = services
    return async ({ body: { token } }) => {
      const found = await database.operate((tx) => findInvitation(tx, keyring, token))
      const { name, role, createdBy, expiresAt } = requireOpen(found, new Date(clock.now()))
      const expiresOn = rfc3339(expiresAt, config.BUSINESS_TIME_ZONE)
      return { body: JSON.stringify({ name, role, invitedBy: createdBy, expiresOn }) }
    }
  },
})

export const acceptInvitation = query({
  id: 'console.acceptInvitation',
  method: 'POST',
  path: `${CONSOLE_API}/invitation/accept`,
  tag: TAG,
  summary: 'Accept an invitation',
  description:
    'Creates the operator with this password, or replaces the password of the one whom the link is for, and signs in. A session that the browser had before ends.',
  auth: 'none',
  limitedBy: 'address',
  envelope: 'problem',
  body: closed({ token: Token, password: NewPassword }),
  result: SessionRecord,
  errors: [...ENDED, 'not_signed_in', 'passwords_off', 'already_exists', 'overloaded', 'password_too_weak'],
  mount(services: ConsoleServices) {
    const { clock, config, database, keyring, random } = services
    const entry = operatorEntry(services)
    return async ({ address, body: { token, password }, headers, requestId }) => {
      if (config.CONSOLE_PASSWORDS === 'off') fail('passwords_off')
      const now = new Date(clock.now())
      const found = await database.operate((tx) => findInvitation(tx, keyring, token))
      // Before the password is hashed, which is slow on purpose.
      const { name } = requireOpen(found, now)
      const passwordHash = await hashPassword(password, [name])
      const operator = await database.operate(
        (tx) => acceptInvitationOf(tx, { keyring, random, now }, token, passwordHash),
        'read committed',
        { actor: `operator ${name}`, requestId },
      )
      const proof = { factors: ['password'] } as const
      return beginSession(services, entry, callerOf(operator), { address, headers, requestId }, proof)
    }
  },
})
