import { fail } from '@svc/contract/errors'
import { query } from '@svc/server/http/operation'
import { listOf } from '@svc/server/http/resource'
import { idParam } from '../console-schema.ts'
import {
  ChangeBody,
  InviteBody,
  InvitedMember,
  LinkBody,
  MemberRecord,
  member as memberNoun,
  memberToWire,
} from './member-records.ts'
import { changeMember, inviteMember, LINK_HOURS, type Member, renewLink } from './member-store.ts'
import { asMember, memberOperation, PORTAL_API, type PortalServices } from './portal-services.ts'

const TAG = 'Members'
const PATH = `${PORTAL_API}/members`

const toolsOf = ({ clock, keyring, random }: PortalServices) => ({
  keyring,
  random,
  now: new Date(clock.now()),
})

export const listOwnMembers = listOf<Member>(memberNoun, {
  ...memberOperation,
  id: 'portal.listMembers',
  path: PATH,
  tag: TAG,
  summary: 'List members',
  role: 'viewer',
})

export const inviteOwnMember = query({
  ...memberOperation,
  id: 'portal.inviteMember',
  stepUp: true,
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Invite member',
  description: 'Returns a link that works once, with which the person chooses a password.',
  role: 'admin',
  body: InviteBody,
  result: InvitedMember,
  errors: ['already_exists', 'too_many_members'],
  mount(services: PortalServices) {
    return async (input) => {
      const { name, role, hours = LINK_HOURS } = input.body
      const { tenantId, member: maker } = input.caller
      const publicUrl = services.publicUrl()
      const requested = { tenantId, name, role, hours, createdBy: `member ${maker}`, publicUrl }
      const { member, link } = await asMember(services, input, (tx) =>
        inviteMember(tx, toolsOf(services), requested),
      )
      return { body: JSON.stringify({ ...memberToWire(member, services.config.BUSINESS_TIME_ZONE), link }) }
    }
  },
})

export const changeOwnMember = query({
  ...memberOperation,
  id: 'portal.changeMember',
  stepUp: true,
  method: 'PATCH',
  path: `${PATH}/:memberId`,
  tag: TAG,
  summary: 'Change role or access of a member',
  description: 'Ends the sessions of that member.',
  role: 'admin',
  params: idParam('memberId'),
  body: ChangeBody,
  result: MemberRecord,
  errors: ['member_not_found', 'own_membership'],
  mount(services: PortalServices) {
    return async (input) => {
      const { memberId } = input.params
      // An administrator always remains.
      if (memberId === input.caller.actor!.actorId) fail('own_membership')
      const changed = await asMember(services, input, (tx) =>
        changeMember(tx, input.caller.tenantId, memberId, input.body),
      )
      const member = changed ?? fail('member_not_found')
      return { body: JSON.stringify(memberToWire(member, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})

export const renewOwnMemberLink = query({
  ...memberOperation,
  id: 'portal.renewMemberLink',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:memberId/link`,
  tag: TAG,
  summary: 'Create a new link for a member',
  description: 'For who lost the link or the password. The link before stops working.',
  role: 'admin',
  params: idParam('memberId'),
  body: LinkBody,
  result: InvitedMember,
  errors: ['member_not_found', 'member_disabled'],
  mount(services: PortalServices) {
    return async (input) => {
      const { tenantId } = input.caller
      const { hours = LINK_HOURS } = input.body
      const requested = { tenantId, who: input.params.memberId, hours, publicUrl: services.publicUrl() }
      const renewed = await asMember(services, input, (tx) => renewLink(tx, toolsOf(services), requested))
      const { member, link } = renewed ?? fail('member_not_found')
      return { body: JSON.stringify({ ...memberToWire(member, services.config.BUSINESS_TIME_ZONE), link }) }
    }
  },
})
