import { fail } from '@svc/contract/errors'
import { findTenant } from '@svc/core/tenants/tenant'
import type { Tx } from '@svc/platform/db/database'
import { query } from '@svc/server/http/operation'
import { listOf } from '@svc/server/http/resource'
import { Type } from 'typebox'
import { actorOf, asOperator } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, idParam } from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import {
  toolsOf as accessToolsOf,
  byOperator,
  changeMemberAccess,
  changeMemberFactor,
  requestLink,
  WaitsFor,
} from '../identity/access-requests.ts'
import {
  ChangeBody,
  ChangedMember,
  InviteBody,
  InvitedMember,
  LinkBody,
  member as memberNoun,
  memberToWire,
} from '../portal/member-records.ts'
import { inviteMember, LINK_HOURS, type Member, renewLink } from '../portal/member-store.ts'

const TAG = 'Members of tenants'
const PATH = `${CONSOLE_API}/tenants/:tenantId/members`

const toolsOf = ({ clock, keyring, random }: ConsoleServices) => ({
  keyring,
  random,
  now: new Date(clock.now()),
})

const requireTenant = async (tx: Tx, tenantId: string): Promise<unknown> =>
  (await findTenant(tx, tenantId)) ?? fail('tenant_not_found')

const params = idParam('tenantId')

export const listMembers = listOf<Member>(memberNoun, {
  ...consoleOperation,
  id: 'console.listMembers',
  path: PATH,
  tag: TAG,
  summary: 'List members of a tenant',
  description: 'Who may use the portal for it.',
  permission: 'view',
  params,
  errors: ['tenant_not_found'],
  async within(tx, _, { tenantId = '' }) {
    await requireTenant(tx, tenantId)
  },
})

export const inviteTenantMember = query({
  ...consoleOperation,
  id: 'console.inviteMember',
  stepUp: true,
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Invite member of a tenant',
  description:
    'Returns a link that works once, with which the person chooses a password for the portal. In live mode a second administrator approves it first.',
  permission: 'operations',
  params,
  body: InviteBody,
  result: InvitedMember,
  errors: ['tenant_not_found', 'already_exists', 'too_many_members', 'approval_open'],
  mount(services: ConsoleServices) {
    return async (input) => {
      const { tenantId } = input.params
      const { name, role, hours = LINK_HOURS } = input.body
      const requested = {
        tenantId,
        name,
        role,
        hours,
        createdBy: actorOf(input.caller),
        publicUrl: services.publicUrl(),
      }
      const { approvalId, member, link } = await asOperator(services, input, async (tx) => {
        await requireTenant(tx, tenantId)
        const invited = await inviteMember(tx, toolsOf(services), requested)
        const waits = await requestLink(tx, accessToolsOf(services), byOperator(input), invited.member)
        return { ...invited, approvalId: waits }
      })
      const shown = memberToWire(member, services.config.BUSINESS_TIME_ZONE)
      return { body: JSON.stringify({ ...shown, link, approvalId }) }
    }
  },
})

const id = Type.String({ maxLength: 128 })
const ofMember = Type.Object({ tenantId: id, memberId: id })

export const changeTenantMember = query({
  ...consoleOperation,
  id: 'console.changeMember',
  stepUp: true,
  method: 'PATCH',
  path: `${PATH}/:memberId`,
  tag: TAG,
  summary: 'Change role or access of a member',
  description:
    'Ends the sessions of that member. In live mode a second administrator approves more rights, and that a member is no longer disabled.',
  permission: 'operations',
  params: ofMember,
  body: ChangeBody,
  result: ChangedMember,
  errors: ['member_not_found', 'approval_open'],
  mount(services: ConsoleServices) {
    return async (input) => {
      const { tenantId, memberId } = input.params
      const wanted = { tenantId, who: memberId, change: input.body }
      const changed = await asOperator(services, input, (tx) =>
        changeMemberAccess(tx, accessToolsOf(services), byOperator(input), wanted),
      )
      const { approvalId, member } = changed ?? fail('member_not_found')
      const shown = memberToWire(member, services.config.BUSINESS_TIME_ZONE)
      return { body: JSON.stringify({ ...shown, approvalId }) }
    }
  },
})

export const renewTenantMemberLink = query({
  ...consoleOperation,
  id: 'console.renewMemberLink',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:memberId/link`,
  tag: TAG,
  summary: 'Create a new link for a member',
  description:
    'For who lost the link or the password. The link before stops working. In live mode a second administrator approves it first, as with an invitation.',
  permission: 'operations',
  params: ofMember,
  body: LinkBody,
  result: InvitedMember,
  errors: ['member_not_found', 'member_disabled', 'approval_open'],
  mount(services: ConsoleServices) {
    return async (input) => {
      const { tenantId, memberId: who } = input.params
      const requested = {
        tenantId,
        who,
        hours: input.body.hours ?? LINK_HOURS,
        publicUrl: services.publicUrl(),
      }
      const renewed = await asOperator(services, input, async (tx) => {
        const found = (await renewLink(tx, toolsOf(services), requested)) ?? fail('member_not_found')
        const waits = await requestLink(tx, accessToolsOf(services), byOperator(input), found.member)
        return { ...found, approvalId: waits }
      })
      const { approvalId, member, link } = renewed
      const shown = memberToWire(member, services.config.BUSINESS_TIME_ZONE)
      return { body: JSON.stringify({ ...shown, link, approvalId }) }
    }
  },
})

export const resetMemberSecondFactor = query({
  ...consoleOperation,
  id: 'console.resetMemberSecondFactor',
  stepUp: true,
  method: 'DELETE',
  path: `${PATH}/:memberId/second-factor`,
  tag: TAG,
  summary: 'Reset the second factor of a member',
  description:
    'For one who has lost the device. Ends all sessions of the member. In live mode a second administrator approves it first.',
  permission: 'operations',
  params: ofMember,
  result: closed({ removed: Type.Boolean(), approvalId: WaitsFor }),
  errors: ['member_not_found', 'second_factor_not_found', 'approval_open'],
  mount(services: ConsoleServices) {
    return async (input) => {
      const { tenantId, memberId } = input.params
      const reset = await asOperator(services, input, (tx) =>
        changeMemberFactor(tx, accessToolsOf(services), byOperator(input), { tenantId, who: memberId }),
      )
      const { approvalId, removed } = reset ?? fail('member_not_found')
      if (approvalId === undefined && !removed) fail('second_factor_not_found')
      return { body: JSON.stringify({ removed, approvalId }) }
    }
  },
})
