import { fail } from '@svc/contract/errors'
import { listOf } from '@svc/server/http/resource'
import { type MemberFace, manageMembers } from './manage-members.ts'
import { member as memberNoun } from './member-records.ts'
import type { Member } from './member-store.ts'
import { asMember, memberOperation, PORTAL_API, type PortalServices } from './portal-services.ts'

const TAG = 'Members'
const PATH = `${PORTAL_API}/members`

/** A tenant lets its own people in, and needs no operator for it. */
const OF_CALLER: MemberFace<PortalServices> = {
  id: 'portal',
  path: PATH,
  tag: TAG,
  may: { ...memberOperation, role: 'admin' },
  params: {},
  tenantOf: ({ caller }) => caller.tenantId,
  by: ({ caller }) => ({ actor: `member ${caller.member}`, alone: true }),
  act: asMember,
  requireTenant: async () => undefined,
  // An administrator always remains.
  requireOther({ caller, params }) {
    if ((params as { readonly memberId: string }).memberId === caller.actor!.actorId) fail('own_membership')
  },
}

export const ownMembers = manageMembers(OF_CALLER)

export const listOwnMembers = listOf<Member>(memberNoun, {
  ...memberOperation,
  id: 'portal.listMembers',
  path: PATH,
  tag: TAG,
  summary: 'List members',
  role: 'viewer',
})
