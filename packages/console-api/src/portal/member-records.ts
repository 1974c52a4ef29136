import { rfc3339 } from '@svc/kernel/time'
import type { Key } from '@svc/server/http/list-cursor'
import { choiceFilter, fieldsOf, idFilter, type Resource, toRecord } from '@svc/server/http/resource'
import { Type } from 'typebox'
import { closed, instant, maybeInstant, text } from '../console-schema.ts'
import { LinkHours } from '../identity/links.ts'
import { MEMBER_ROLES } from './member-roles.ts'
import {
  MEMBER_COLUMNS,
  MEMBER_NAME_PATTERN,
  MEMBER_NAME_RULE,
  type Member,
  memberStatus,
} from './member-store.ts'

const NAME_ORDER: readonly Key[] = [
  { sql: 'm.name', type: 'text' },
  { sql: 'm.member_id', type: 'text' },
]

/** By the status of `memberStatus`. */
const WITH_STATUS: Readonly<Record<ReturnType<typeof memberStatus>, string>> = {
  active: 'm.disabled_at is null and (m.password_hash is not null or m.last_sign_in_at is not null)',
  invited: 'm.disabled_at is null and m.password_hash is null and m.last_sign_in_at is null',
  disabled: 'm.disabled_at is not null',
}

/** People of a tenant who use the portal, as console, portal and command line show them. */
export const member = {
  titles: { tenant: 'Member', operator: 'MemberRow' },
  from: { columns: MEMBER_COLUMNS, table: 'members m', alias: 'm' },
  tenant: 'm.tenant_id',
  keys: NAME_ORDER,
  sorts: { name: NAME_ORDER },
  usualSort: 'name',
  fields: {
    tenantId: { schema: text(), of: ({ tenantId }) => tenantId, operatorOnly: true },
    memberId: { schema: text(), of: ({ memberId }) => memberId },
    name: { schema: text('Name with which the person signs in to the portal'), of: ({ name }) => name },
    role: { schema: Type.Enum([...MEMBER_ROLES]), of: ({ role }) => role },
    status: { schema: Type.Enum(Object.keys(WITH_STATUS)), of: memberStatus },
    createdOn: { schema: instant, of: ({ createdAt }, timeZone) => rfc3339(createdAt, timeZone) },
    createdBy: { schema: text('Who invited, as the audit names them'), of: ({ createdBy }) => createdBy },
    lastSignInOn: {
      schema: maybeInstant,
      of: ({ lastSignInAt }, timeZone) => lastSignInAt && rfc3339(lastSignInAt, timeZone),
    },
    linkExpiresOn: {
      schema: maybeInstant,
      of: ({ linkExpiresAt }, timeZone) => linkExpiresAt && rfc3339(linkExpiresAt, timeZone),
    },
    hasSecondFactor: {
      schema: Type.Boolean({
        description: 'Whether the password alone is not enough: there is an authenticator app or a passkey',
      }),
      of: ({ hasSecondFactor }) => hasSecondFactor,
    },
  },
  filters: {
    tenantId: { schema: idFilter('Of this tenant'), sql: 'm.tenant_id = ?', operatorOnly: true },
    role: { schema: choiceFilter(MEMBER_ROLES), sql: 'm.role = ?' },
    status: {
      schema: choiceFilter(Object.keys(WITH_STATUS)),
      sql: (filters, status) => void filters.conditions.push(WITH_STATUS[status as keyof typeof WITH_STATUS]),
    },
  },
} satisfies Resource<Member>

/** A member as console and portal show them. */
export const memberToWire = toRecord<Member>(member, 'tenant')
export const MEMBER_FIELDS = fieldsOf(member, 'tenant')

export const LinkBody = closed({ hours: LinkHours })
export const InviteBody = closed({
  name: Type.String({ pattern: MEMBER_NAME_PATTERN, 'x-rule': MEMBER_NAME_RULE }),
  role: Type.Enum([...MEMBER_ROLES], { description: 'What the member may do' }),
  ...LinkBody.properties,
})
export const ChangeBody = closed({
  role: Type.Optional(Type.Enum([...MEMBER_ROLES])),
  disabled: Type.Optional(Type.Boolean()),
})
