import { isTenantId, kindOfTenant } from '@svc/core/tenants/tenant'
import { recordActs } from '@svc/platform/audit'
import { statement } from '@svc/platform/db/statement'
import { MEMBERS, type Person } from '../identity/audience.ts'
import type { Entry, Face } from '../identity/face.ts'
import { MEMBER_PASSKEYS } from '../identity/passkey-store.ts'
import { MEMBER_FACTORS } from '../identity/second-factor-store.ts'
import { beginSession } from '../identity/session-operations.ts'
import { MEMBER_SESSIONS } from '../identity/session-store.ts'
import { setMemberPassword } from './member-store.ts'
import { asMember, memberOperation, PORTAL_API, type PortalServices } from './portal-services.ts'
import { checkMemberCode, keyOfMember, type MemberName, memberOf, requirePassword } from './prove-member.ts'
import { MemberSessionRecord, nameOfTenant } from './session-records.ts'

const FIND = statement<{ name: string; isDisabled: boolean }>(
  'member_of_passkey',
  `select m.name, m.disabled_at is not null or t.disabled_at is not null as "isDisabled"
   from members m join tenants t using (tenant_id) where m.tenant_id = $1 and m.member_id = $2`,
)

/** Who acts while a member signs in. */
export const callerOf = ({ tenantId, memberId, name }: MemberName): Person => ({
  tenantId,
  member: name,
  actor: { actorId: memberId, name },
})

/** With what members begin sessions. */
export const memberEntry = (services: PortalServices): Entry => ({
  audience: MEMBERS,
  devices: services.devices,
  sessions: services.sessions,
  keyOf: (person) => keyOfMember(memberOf(person)),
  whose: async ({ tenantId, personId: memberId, name, role }) => ({
    member: { memberId, name, role },
    tenant: { tenantId, kind: kindOfTenant(tenantId), name: await nameOfTenant(services, tenantId) },
  }),
  act: (request, work) => asMember(services, request, work),
  record(tx, { caller, requestId }, act) {
    const { memberId: target, name: member, tenantId } = memberOf(caller)
    recordActs(tx, [{ ...act, target, member, tenantId, requestId }])
  },
})

/** Members, who act in transactions of their tenant alone. */
export const PORTAL_FACE: Face<PortalServices> = {
  id: 'portal',
  api: PORTAL_API,
  audience: MEMBERS,
  passkeys: MEMBER_PASSKEYS,
  factors: MEMBER_FACTORS,
  sessions: MEMBER_SESSIONS,
  session: MemberSessionRecord,
  about: { fields: {}, of: () => ({}) },
  own: { ...memberOperation, role: 'viewer' },
  identity(services) {
    const { database, failedMemberSignIns, secondFactor, passkeys } = services
    const entry = memberEntry(services)
    return {
      ...entry,
      passkeys,
      secondFactor,
      async registrant(caller) {
        const { name, tenantId } = memberOf(caller)
        // Authenticators list all accounts at this address: one person may be a member of several tenants.
        const label = `${name} · ${await nameOfTenant(services, tenantId)}`
        return { tenantId, owner: keyOfMember(memberOf(caller)), label }
      },
      checkPassword: (request, password) => requirePassword(services, request, password),
      async prove(request, { password, code }) {
        const admitted = await requirePassword(services, request, password)
        const who = memberOf(request.caller)
        return ['password', ...(await checkMemberCode(services, who, request, code, admitted))]
      },
      setPassword: (tx, [tenantId = '', memberId = ''], passwordHash, keep) =>
        setMemberPassword(tx, { tenantId, memberId }, passwordHash, keep),
      read: ({ tenantId }, work) => database.read([tenantId], work),
      within: (tenantId, work) => database.write([tenantId], work),
      tenantOf: (owner) => {
        const [tenantId = ''] = owner ?? []
        return isTenantId(tenantId) ? [tenantId] : undefined
      },
      async find(tx, [tenantId = '', memberId = '']) {
        const [found] = await tx.query(FIND, [tenantId, memberId])
        if (!found) return undefined
        const who = { tenantId, memberId, name: found.name }
        return {
          ...found,
          enter: (request, factors) => beginSession(services, entry, callerOf(who), request, { factors }),
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
