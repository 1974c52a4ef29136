import { fail } from '@svc/contract/errors'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { closed } from '../console-schema.ts'
import { isPassword } from '../identity/password.ts'
import { PasswordAndCode, PROOF_FAILURES } from '../identity/prove-operator.ts'
import { beginSession } from '../identity/session-operations.ts'
import { membersNamed } from './members-named.ts'
import { callerOf, memberEntry } from './portal-face.ts'
import { PORTAL_API, type PortalServices } from './portal-services.ts'
import { checkMemberCode } from './prove-member.ts'
import { MemberSessionRecord } from './session-records.ts'

const TAG = 'Session'

export const signInMember = query({
  id: 'portal.signIn',
  method: 'POST',
  path: `${PORTAL_API}/session`,
  tag: TAG,
  summary: 'Sign in',
  description:
    'Sets the session cookie; a session that the browser had before ends. A person who is a member of several tenants gets to the one of the latest sign-in, or to `tenantId`; without it the password is compared with those of the eight latest. After several failures of a name or an address the next attempts wait a second each (decision A11).',
  auth: 'none',
  envelope: 'problem',
  body: closed({
    name: Type.String({ minLength: 1, maxLength: 100 }),
    ...PasswordAndCode,
    tenantId: Type.Optional(Type.String({ minLength: 1 })),
  }),
  result: MemberSessionRecord,
  responseHeaders: { 'set-cookie': 'SessionCookie' },
  errors: ['not_signed_in', ...PROOF_FAILURES],
  mount(services: PortalServices) {
    const { database, devices, failedMemberSignIns, signInGate } = services
    const entry = memberEntry(services)
    return async ({ address, body: { name, password, code, tenantId }, headers, requestId }) => {
      const device = devices.find({ headers }, name, tenantId)
      const admitted = await signInGate.enter({ address, device, name })
      const named = await membersNamed(database, name, tenantId)
      // The place of a device is its person's alone: not that of others of the same name.
      const [ofTenant, ofMember] = admitted.onlyOf ?? []
      const found = named.filter(
        (each) => !ofTenant || (each.tenant_id === ofTenant && each.member_id === ofMember),
      )
      // An unknown name takes as long.
      if (found.length === 0) await isPassword(null, password, admitted.isKnown)
      for (const { tenant_id, member_id, password_hash } of found) {
        const who = { tenantId: tenant_id, memberId: member_id, name }
        if (!(await isPassword(password_hash, password, admitted.isKnown))) continue
        const signInRequest = { address, headers, requestId }
        const factors = await checkMemberCode(services, who, signInRequest, code, admitted)
        await admitted.passed()
        const proof = { factors: ['password', ...factors] } as const
        return beginSession(services, entry, callerOf(who), signInRequest, proof)
      }
      for (const { tenant_id, member_id } of found)
        await failedMemberSignIns.record({
          tenantId: tenant_id,
          memberId: member_id,
          name,
          address,
          requestId,
        })
      await admitted.failed()
      return fail('wrong_password')
    }
  },
})
