import type { Tx } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'

const INSERT = statement(
  'tenant_insert',
  'insert into tenants (tenant_id, kind, created_at) values ($1, $2, clock_timestamp())',
)
const SET_DISABLED = statement<{ tenant_id: string }>(
  'tenant_set_disabled',
  `update tenants set disabled_at = case when $3 then coalesce(disabled_at, clock_timestamp()) end
   where tenant_id = $1 and kind = $2 returning tenant_id`,
)

export type TenantKind = 'merchant' | 'partner'

/** Enters a tenant in the directory of who exists. */
export async function insertTenant(tx: Tx, tenantId: string, kind: TenantKind): Promise<void> {
  await tx.query(INSERT, [tenantId, kind])
}

/** A disabled tenant gets no tokens, and its tokens die within a second in every process. False when there is none. */
export async function setTenantDisabled(
  tx: Tx,
  tenantId: string,
  kind: TenantKind,
  disabled: boolean,
): Promise<boolean> {
  return (await tx.query(SET_DISABLED, [tenantId, kind, disabled])).length > 0
}
