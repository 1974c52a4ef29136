import { findMerchant } from '@svc/core/tenants/merchant'
import { findPartner } from '@svc/core/tenants/partner'
import { kindOfTenant } from '@svc/core/tenants/tenant'
import { Type } from 'typebox'
import { record, text } from '../console-schema.ts'
import { SESSION_FIELDS } from '../identity/session-records.ts'
import { HandoverSheet } from './handover-sheet.ts'
import { MEMBER_ROLES } from './member-roles.ts'
import type { PortalServices } from './portal-services.ts'

const sessionFields = {
  member: record('SessionMember', { memberId: text(), name: text(), role: Type.Enum([...MEMBER_ROLES]) }),
  tenant: record('SessionTenant', {
    tenantId: text(),
    kind: Type.Enum(['merchant', 'partner']),
    name: text(),
  }),
  ...SESSION_FIELDS,
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
