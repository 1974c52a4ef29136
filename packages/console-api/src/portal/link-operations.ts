import { fail } from '@svc/contract/errors'
import { findMerchant } from '@svc/core/tenants/merchant'
import { rfc3339 } from '@svc/kernel/time'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { keyMakerOf } from '../as-operator.ts'
import { closed, instant, record, text } from '../console-schema.ts'
import { toolsOf } from '../identity/access-requests.ts'
import { hashPassword } from '../identity/password.ts'
import { isPasswordAlone } from '../identity/proof-age.ts'
import { OptionalCode, PROOF_FAILURES } from '../identity/prove-operator.ts'
import { enter, entered } from '../identity/session-operations.ts'
import { NewPassword } from '../identity/session-records.ts'
import { handoverSheet } from './handover-sheet.ts'
import { openHandover, waitingHandover } from './handover-store.ts'
import { MEMBER_ROLES } from './member-roles.ts'
import { memberOfLink, setMemberPassword, tenantOfLink } from './member-store.ts'
import { callerOf, memberEntry } from './portal-face.ts'
import { PORTAL_API, type PortalServices, writeAsMember } from './portal-services.ts'
import { checkMemberCode } from './prove-member.ts'
import { OpenedLinkRecord } from './session-records.ts'

const TAG = 'Session'
const Token = Type.String({ minLength: 1, maxLength: 200, description: 'What is behind `#` in the link' })

/** The token is in the body: paths are logged. */
export const showMemberLink = query({
  id: 'portal.showLink',
  method: 'POST',
  path: `${PORTAL_API}/link`,
  tag: TAG,
  summary: 'Show what a link offers',
  auth: 'none',
  limitedBy: 'address',
  envelope: 'problem',
  safe: true,
  body: closed({ token: Token }),
  result: record('OfferedMembership', {
    name: text('Name with which the person signs in'),
    role: Type.Enum([...MEMBER_ROLES]),
    invitedBy: text(),
    expiresOn: instant,
    handsOver: Type.Boolean({ description: 'Whether it also shows credentials for programs, this one time' }),
  }),
  errors: ['invitation_not_found', 'invitation_expired', 'invitation_not_approved'],
  mount(services: PortalServices) {
    const { config, database } = services
    return async ({ body: { token } }) => {
      const tenantId = tenantOfLink(token) ?? fail('invitation_not_found')
      const { member, waiting } = await database.read([tenantId], async (tx) => {
        const member = await memberOfLink(tx, toolsOf(services), token)
        return { member, waiting: await waitingHandover(tx, member) }
      })
      const { name, role, createdBy, linkExpiresAt } = member
      const expiresOn = rfc3339(linkExpiresAt!, config.BUSINESS_TIME_ZONE)
      const handsOver = waiting !== undefined
      return { body: JSON.stringify({ name, role, invitedBy: createdBy, expiresOn, handsOver }) }
    }
  },
})

export const useMemberLink = query({
  id: 'portal.useLink',
  method: 'POST',
  path: `${PORTAL_API}/link/password`,
  tag: TAG,
  summary: 'Choose a password by a link',
  description:
    'Uses the link up and signs in. All sessions that the member had before end. A member with a second factor needs a code of it: a link replaces the password alone. Where the link hands over credentials, they are issued now: their secrets are in this response and never again.',
  auth: 'none',
  limitedBy: 'address',
  envelope: 'problem',
  body: closed({ token: Token, password: NewPassword, code: OptionalCode }),
  result: OpenedLinkRecord,
  responseHeaders: { 'set-cookie': 'SessionCookie' },
  errors: [
    'invitation_not_found',
    'invitation_expired',
    'invitation_not_approved',
    'tenant_closing',
    'too_many_credentials',
    'not_signed_in',
    'second_factor_needed',
    'password_too_weak',
    ...PROOF_FAILURES,
  ],
  mount(services: PortalServices) {
    const { database, devices, signInGate } = services
    const entry = memberEntry(services)
    return async ({ address, body: { token, password, code }, headers, requestId }) => {
      const tenantId = tenantOfLink(token) ?? fail('invitation_not_found')
      // Before the password is hashed, which is slow on purpose.
      const { offered, waiting } = await database.read([tenantId], async (tx) => {
        const offered = await memberOfLink(tx, toolsOf(services), token)
        return { offered, waiting: await waitingHandover(tx, offered) }
      })
      const { name } = offered
      const device = devices.find({ headers }, name, tenantId)
      const admitted = await signInGate.enter({ address, device, name })
      const factors = await checkMemberCode(services, offered, { address, requestId }, code, admitted)
      await admitted.passed()
      const proved = ['password', ...factors] as const
      // Of one with an app, a code was required.
      if (waiting && offered.hasSecondFactor && isPasswordAlone(proved))
        fail('second_factor_needed', {
          description:
            'You have a passkey, which this link does not ask for: what it hands over is issued once your second factor is reset',
        })
      const passwordHash = await hashPassword(password, [name])
      const signInRequest = { address, headers, requestId }
      // One transaction: a link that is used up has signed in and handed over.
      const { cookie, handed } = await writeAsMember(
        database,
        tenantId,
        { member: name, requestId },
        async (tx) => {
          const invited = await memberOfLink(tx, toolsOf(services), token, true)
          await setMemberPassword(tx, invited, passwordHash)
          const handed = await openHandover(tx, keyMakerOf(services), invited)
          const merchant = await findMerchant(tx, tenantId)
          return {
            handed: handed && { ...handed, tenantId, accessKey: merchant?.accessKey },
            cookie: await enter(entry, tx, callerOf(invited), signInRequest, { factors: proved }),
          }
        },
      )
      const reply = await entered(services, entry, cookie, signInRequest)
      if (!handed) return reply
      const handover = handoverSheet(services.publicUrl(), handed)
      return { ...reply, body: JSON.stringify({ ...JSON.parse(reply.body), handover }) }
    }
  },
})
