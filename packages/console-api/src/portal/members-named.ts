import { type Database, TENANT_ID } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'

interface NamedMember {
  readonly tenant_id: string
  readonly member_id: string
  readonly password_hash: string
}

const NAMED_OF_TENANT = statement<NamedMember>(
  'member_named',
  `select m.tenant_id, m.member_id, m.password_hash from members m join tenants t using (tenant_id)
   where m.tenant_id = $1 and m.name = $2 and m.disabled_at is null and t.disabled_at is null
     and m.password_hash is not null`,
)
/** Of the tenants where a person of this name may sign in, those of the latest sign-ins: each costs a password hash. */
const NAMED = statement<NamedMember>(
  'directory_members',
  'select tenant_id, member_id, password_hash from directory_members($1)',
)

/** Those who may sign in under a name: to this tenant, or to any of the few where they were last. */
export async function membersNamed(
  database: Database,
  name: string,
  tenantId: string | undefined,
): Promise<NamedMember[]> {
  if (tenantId === undefined) return database.directory(NAMED, [[name]])
  if (!TENANT_ID.test(tenantId)) return []
  return database.read([tenantId], (tx) => tx.query(NAMED_OF_TENANT, [tenantId, name]))
}
