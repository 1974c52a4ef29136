import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { closed, instant, maybeInstant, maybe as maybeText, record, text } from '../console-schema.ts'
import { MEMBER_ROLES } from './member-roles.ts'
import {
  LINK_HOURS,
  LINK_HOURS_MAX,
  MEMBER_NAME_PATTERN,
  MEMBER_NAME_RULE,
  type Member,
  memberStatus,
} from './member-store.ts'

const fields = {
  memberId: text(),
  name: text('Name with which the person signs in to the portal'),
  role: Type.Enum([...MEMBER_ROLES]),
  status: Type.Enum(['active', 'invited', 'disabled']),
  createdOn: instant,
  createdBy: text('Who invited, as the audit names them'),
  lastSignInOn: maybeInstant,
  linkExpiresOn: maybeInstant,
  hasSecondFactor: Type.Boolean({ description: 'Whether signing in asks for a code too' }),
}
export const MemberRecord = record('Member', fields)
export const InvitedMember = record('InvitedMember', {
  ...fields,
  link: text('Address for the person, who chooses a password there; only here and only now'),
  approvalId: maybeText('What a second administrator must approve before the link opens'),
})
export const ChangedMember = record('ChangedMember', {
  ...fields,
  approvalId: maybeText('What a second administrator must approve before the member may do more'),
})

export const LinkBody = closed({
  hours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LINK_HOURS_MAX,
      description: `Life of the link; ${LINK_HOURS} by default`,
    }),
  ),
})
export const InviteBody = closed({
  name: Type.String({ pattern: MEMBER_NAME_PATTERN, 'x-rule': MEMBER_NAME_RULE }),
  role: Type.Enum([...MEMBER_ROLES]),
  ...LinkBody.properties,
})
export const ChangeBody = closed({
  role: Type.Optional(Type.Enum([...MEMBER_ROLES])),
  disabled: Type.Optional(Type.Boolean()),
})

const maybe = (at: Date | null, timeZone: string) => (at ? rfc3339(at, timeZone) : undefined)

/** A member as console and portal show them. */
export const memberToWire = (member: Member, timeZone: string) => ({
  memberId: member.memberId,
  name: member.name,
  role: member.role,
  status: memberStatus(member),
  createdOn: rfc3339(member.createdAt, timeZone),
  createdBy: member.createdBy,
  lastSignInOn: maybe(member.lastSignInAt, timeZone),
  linkExpiresOn: maybe(member.linkExpiresAt, timeZone),
  hasSecondFactor: member.hasSecondFactor,
})
