import { fail } from '@svc/contract/errors'
import { idleMinutes } from '@svc/contract/sign-in-settings'
import { findMerchant } from '@svc/core/tenants/merchant'
import { findPartner } from '@svc/core/tenants/partner'
import { kindOfTenant } from '@svc/core/tenants/tenant'
import { rfc3339 } from '@svc/kernel/time'
import { recordActs } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { VERSION } from '@svc/platform/package'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { closed, record, text } from '../console-schema.ts'
import type { SignInRequest } from '../identity/face.ts'
import { hashPassword, isPassword } from '../identity/password.ts'
import { type Factor, requireProved } from '../identity/proof-age.ts'
import { PasswordAndCode, PROOF_FAILURES } from '../identity/prove-operator.ts'
import { isAtThisMachine } from '../identity/request-origin.ts'
import { NewPassword } from '../identity/session-operations.ts'
import { HandoverSheet } from './handover-sheet.ts'
import { MEMBER_ROLES } from './member-roles.ts'
import type { MemberSession } from './member-sessions.ts'
import { setMemberPassword } from './member-store.ts'
import { membersNamed } from './members-named.ts'
import {
  asMember,
  memberOperation,
  PORTAL_API,
  type PortalServices,
  writeAsMember,
} from './portal-services.ts'
import { checkMemberCode, type MemberName, requirePassword } from './prove-member.ts'

const TAG = 'Session'

const sessionFields = {
  member: record('SessionMember', { memberId: text(), name: text(), role: Type.Enum([...MEMBER_ROLES]) }),
  tenant: record('SessionTenant', {
    tenantId: text(),
    kind: Type.Enum(['merchant', 'partner']),
    name: text(),
  }),
  expiresOn: text('When it ends at the latest, RFC 3339'),
  idleSeconds: Type.Integer({ description: 'It ends earlier when nothing is asked for so long' }),
  secondFactorNeeded: Type.Boolean({
    description:
      'Whether nothing but the own account works before a second factor is set up, or used where there is one',
  }),
}
export const MemberSessionRecord = record('MemberSession', sessionFields)
/** What a link begins: a session, and what it hands over. */
export const OpenedLinkRecord = record('OpenedLink', {
  ...sessionFields,
  handover: Type.Optional(HandoverSheet),
})

/** As people know it. */
export async function nameOfTenant(
  { database }: Pick<PortalServices, 'database'>,
  tenantId: string,
): Promise<string> {
  const tenant: { readonly name: string } | undefined = await database.read([tenantId], async (tx) =>
    kindOfTenant(tenantId) === 'merchant' ? findMerchant(tx, tenantId) : findPartner(tx, tenantId),
  )
  return tenant?.name ?? tenantId
}

export async function memberSessionToWire(session: MemberSession, services: PortalServices): Promise<string> {
  const { config, members } = services
  const { tenantId, memberId, name, role, expiresAt } = session
  return JSON.stringify({
    member: { memberId, name, role },
    tenant: { tenantId, kind: kindOfTenant(tenantId), name: await nameOfTenant(services, tenantId) },
    expiresOn: rfc3339(expiresAt, config.BUSINESS_TIME_ZONE),
    idleSeconds: idleMinutes(config) * 60,
    secondFactorNeeded: members.needsSecondFactor(session),
  })
}

/** Creates the session of a member in the member's transaction; returns its cookie. */
export async function enterAsMember(
  { members }: PortalServices,
  tx: Tx,
  who: MemberName,
  { address, headers, requestId }: SignInRequest,
  factors: readonly Factor[],
): Promise<string> {
  const { tenantId, memberId, name } = who
  const cookie = await members.begin(tx, who, { address, headers }, factors)
  const act = { action: 'member.signed_in', target: memberId, member: name, tenantId, requestId }
  recordActs(tx, [{ ...act, details: { address, factors: factors.join(' ') } }])
  return cookie
}

/** The response that sets the cookie of a new session; the one that the browser had before ends, whatever its tenant. */
export async function sessionReply(
  services: PortalServices,
  cookie: string,
  request: Pick<SignInRequest, 'headers'>,
) {
  const session = await services.members.current({ headers: { cookie: cookie.split(';')[0] } })
  const { factors, memberId, name, tenantId } = session
  await services.members.endElsewhere(tenantId, request)
  // The sandbox's click proves nothing about who it is.
  const device = factors.includes('none')
    ? []
    : services.devices.remember(request, [tenantId, memberId], name)
  return {
    headers: { 'set-cookie': [cookie, ...device] },
    body: await memberSessionToWire(session, services),
  }
}

/** Signs a member in. */
export async function beginMemberSession(
  services: PortalServices,
  who: MemberName,
  signInRequest: SignInRequest,
  factors: readonly Factor[],
) {
  const by = { member: who.name, requestId: signInRequest.requestId }
  const cookie = await writeAsMember(services.database, who.tenantId, by, (tx) =>
    enterAsMember(services, tx, who, signInRequest, factors),
  )
  return sessionReply(services, cookie, signInRequest)
}

export const showPortal = query({
  id: 'portal.showAbout',
  method: 'GET',
  path: `${PORTAL_API}/about`,
  tag: TAG,
  summary: 'What runs here',
  auth: 'none',
  envelope: 'problem',
  result: record('About', {
    mode: Type.Enum(['sandbox', 'live']),
    version: text(),
    timeZone: text('Business time zone; dates are shown in it'),
    sandboxSignIn: Type.Boolean({ description: 'Whether one click signs in, without a password' }),
    passkeys: Type.Boolean({ description: 'Whether browsers allow passkeys at this address' }),
  }),
  errors: [],
  mount({ config, passkeys }: PortalServices) {
    const mode = config.SVC_MODE
    const timeZone = config.BUSINESS_TIME_ZONE
    return ({ address, headers }) => {
      const sandboxSignIn = mode === 'sandbox' && isAtThisMachine(address, headers)
      const about = { mode, version: VERSION, timeZone, sandboxSignIn, passkeys: passkeys.isOn }
      return { body: JSON.stringify(about) }
    }
  },
})

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
    const { database, devices, failedMemberSignIns, memberGate } = services
    return async ({ address, body: { name, password, code, tenantId }, headers, requestId }) => {
      const device = devices.find({ headers }, name, tenantId)
      const admitted = await memberGate.enter({ address, device, name })
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
        return beginMemberSession(services, who, signInRequest, ['password', ...factors])
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

export const showMemberSession = query({
  ...memberOperation,
  id: 'portal.showSession',
  beforeSecondFactor: true,
  method: 'GET',
  path: `${PORTAL_API}/session`,
  tag: TAG,
  summary: 'Who is signed in',
  role: 'viewer',
  result: MemberSessionRecord,
  errors: [],
  mount(services: PortalServices) {
    return async ({ headers }) => ({
      body: await memberSessionToWire(await services.members.current({ headers }), services),
    })
  },
})

export const signOutMember = query({
  ...memberOperation,
  id: 'portal.signOut',
  beforeSecondFactor: true,
  method: 'DELETE',
  path: `${PORTAL_API}/session`,
  tag: TAG,
  summary: 'Sign out',
  role: 'viewer',
  result: closed({ signedOut: Type.Boolean() }),
  errors: [],
  mount(services: PortalServices) {
    return async (input) => {
      const session = await services.members.current(input)
      const cookie = await asMember(services, input, (tx) => services.members.end(tx, session))
      return { headers: { 'set-cookie': cookie, 'clear-site-data': '"cache"' }, body: '{"signedOut":true}' }
    }
  },
})

export const changeMemberPassword = query({
  ...memberOperation,
  id: 'portal.changePassword',
  beforeSecondFactor: true,
  method: 'POST',
  path: `${PORTAL_API}/session/password`,
  tag: TAG,
  summary: 'Change your own password',
  description: 'Ends all your other sessions.',
  role: 'viewer',
  body: closed({ password: Type.String({ minLength: 1, maxLength: 256 }), newPassword: NewPassword }),
  result: closed({ changed: Type.Boolean() }),
  errors: [
    'wrong_password',
    'second_factor_required',
    'too_many_failed_attempts',
    'overloaded',
    'password_too_weak',
  ],
  mount(services: PortalServices) {
    return async (input) => {
      const session = await services.members.current(input)
      requireProved(session)
      await requirePassword(services, input, input.body.password)
      const passwordHash = await hashPassword(input.body.newPassword, [session.name])
      await asMember(services, input, async (tx) => {
        await setMemberPassword(tx, session, passwordHash, session.digest)
        const { tenantId, memberId, name: member } = session
        const act = { action: 'member.password_changed', target: memberId, member, tenantId }
        recordActs(tx, [{ ...act, requestId: input.requestId }])
      })
      return { body: '{"changed":true}' }
    }
  },
})
