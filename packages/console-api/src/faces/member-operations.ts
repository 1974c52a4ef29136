import { fail } from '@svc/contract/errors'
import { findTenant } from '@svc/core/tenants/tenant'
import { listOf } from '@svc/server/http/resource'
import { Type } from 'typebox'
import { asOperator } from '../as-operator.ts'
import { CONSOLE_API, consoleOperation } from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { byOperator } from '../identity/access-requests.ts'
import { type MemberFace, manageMembers } from '../portal/manage-members.ts'
import { member as memberNoun } from '../portal/member-records.ts'
import type { Member } from '../portal/member-store.ts'

const OF_TENANTS: MemberFace<ConsoleServices> = {
  id: 'console',
  path: `${CONSOLE_API}/tenants/:tenantId/members`,
  tag: 'Members of tenants',
  may: { ...consoleOperation, permission: 'operations' },
  params: { tenantId: Type.String({ maxLength: 128 }) },
  tenantOf: ({ params }) => (params as { readonly tenantId: string }).tenantId,
  by: byOperator,
  act: asOperator,
  async requireTenant(tx, tenantId) {
    if (!(await findTenant(tx, tenantId))) fail('tenant_not_found')
  },
  requireOther: () => undefined,
}

export const tenantMembers = manageMembers(OF_TENANTS)

export const listMembers = listOf<Member>(memberNoun, {
  ...consoleOperation,
  id: 'console.listMembers',
  path: OF_TENANTS.path,
  tag: OF_TENANTS.tag,
  summary: 'List members of a tenant',
  description: 'Who may use the portal for it.',
  permission: 'view',
  params: Type.Object(OF_TENANTS.params),
  errors: ['tenant_not_found'],
  within: (tx, _, { tenantId = '' }) => OF_TENANTS.requireTenant(tx, tenantId),
})
