import { recordActs } from '@svc/platform/audit'
import { statement } from '@svc/platform/db/statement'
import { MEMBERS } from '../identity/audience.ts'
import type { Face } from '../identity/face.ts'
import { MEMBER_SESSIONS } from '../identity/own-sessions.ts'
import { MEMBER_PASSKEYS } from '../identity/passkey-store.ts'
import { MEMBER_FACTORS } from '../identity/second-factor-store.ts'
import { asMember, memberOperation, PORTAL_API, type PortalServices } from './portal-services.ts'
import { checkMemberCode, keyOfMember, memberOf, requirePassword } from './prove-member.ts'
import { beginMemberSession, memberSessionToWire, nameOfTenant } from './session-operations.ts'

const FIND = statement<{ name: string; isDisabled: boolean }>(
  'member_of_passkey',
  `select m.name, m.disabled_at is not null or t.disabled_at is not null as "isDisabled"
   from members m join tenants t using (tenant_id) where m.tenant_id = $1 and m.member_id = $2`,
)

const TENANT = /^(?:mer|par)_[0-9a-z]{4,60}$/

/** Members, who act in transactions of their tenant alone. */
export const PORTAL_FACE: Face<PortalServices> = {
  id: 'portal',
  api: PORTAL_API,
  audience: MEMBERS,
  passkeys: MEMBER_PASSKEYS,
  factors: MEMBER_FACTORS,
  sessions: MEMBER_SESSIONS,
  own: { ...memberOperation, role: 'viewer' },
  identity(services) {
    const { database, failedMemberSignIns, memberFactors, members, passkeys } = services
    return {
      passkeys,
      secondFactor: memberFactors,
      keyOf: (caller) => keyOfMember(memberOf(caller)),
      async registrant(caller) {
        const { name, tenantId } = memberOf(caller)
        // Authenticators list all accounts at this address: one person may be a member of several tenants.
        const label = `${name} · ${await nameOfTenant(services, tenantId)}`
        return { tenantId, owner: keyOfMember(memberOf(caller)), label }
      },
      current: (request) => members.current(request),
      bounds: () => members.bounds(),
      addFactor: (tx, session, factor) => members.addFactor(tx, session, factor),
      renew: (tx, session, factors) => members.renew(tx, session, factors),
      async prove(request, { password, code }) {
        const admitted = await requirePassword(services, request, password)
        const who = memberOf(request.caller)
        return ['password', ...(await checkMemberCode(services, who, request, code, admitted))]
      },
      show: async (request) => memberSessionToWire(await members.current(request), services),
      read: ({ tenantId }, work) => database.read([tenantId], work),
      act: (request, work) => asMember(services, request, work),
      record(tx, { caller, requestId }, act) {
        const { memberId: target, name: member, tenantId } = memberOf(caller)
        recordActs(tx, [{ ...act, target, member, tenantId, requestId }])
      },
      within: (tenantId, work) => database.write([tenantId], work),
      tenantOf: (owner) => {
        const [tenantId = ''] = owner ?? []
        return TENANT.test(tenantId) ? [tenantId] : undefined
      },
      async find(tx, [tenantId = '', memberId = '']) {
        const [found] = await tx.query(FIND, [tenantId, memberId])
        if (!found) return undefined
        const who = { tenantId, memberId, name: found.name }
        return {
          ...found,
          enter: (request, factors) => beginMemberSession(services, who, request, factors),
        }
      },
      // The audit of a tenant has failures of its members alone.
      async refused({ name, owner, reason }, { address, requestId }) {
        const [tenantId, memberId] = owner ?? []
        if (tenantId === undefined || memberId === undefined) return
        await failedMemberSignIns.record({ tenantId, memberId, name, address, requestId, reason })
      },
    }
  },
}
