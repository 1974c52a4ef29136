import { fail } from '@svc/contract/errors'
import type { Database, Tx, Writes } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { generated, instant, nullable, stamped, table, text, textOf } from '@svc/platform/db/table'

/** Whose are credits that no merchant's payee address or QR code names. */
export const PLATFORM_TENANT = 'house'

const tenants = table('tenants', 't', ['tenantId'], {
  tenantId: text,
  kind: textOf<'house' | 'merchant' | 'partner'>(),
  createdAt: stamped(instant),
  disabledAt: generated(nullable(instant)),
})
const SET_DISABLED = statement<{ tenant_id: string }>(
  'tenant_set_disabled',
  `update tenants set disabled_at = case when $3 then coalesce(disabled_at, clock_timestamp()) end,
     closing_at = case when $3 then closing_at end, closed_at = case when $3 then closed_at end
   where tenant_id = $1 and kind = $2 returning tenant_id`,
)

const FIND = statement<{ kind: TenantKind }>(
  'tenant_find',
  `select kind from tenants where tenant_id = $1 and kind <> 'house'`,
)

export type TenantKind = 'merchant' | 'partner'

const TENANT_ID = /^(?:mer|par)_[0-9a-z]{4,60}$/
/** Whether a text has the form of a tenant's id. */
export const isTenantId = (text: string): boolean => TENANT_ID.test(text)

/** Of an id that is known to be one of a tenant. */
export const kindOfTenant = (tenantId: string): TenantKind =>
  tenantId.startsWith('mer_') ? 'merchant' : 'partner'

/** Enters a tenant in the directory of who exists. */
export const insertTenant = (tx: Writes, tenantId: string, kind: TenantKind): void =>
  tenants.insert(tx, [{ tenantId, kind }])

/**
 * A disabled tenant gets no tokens, and its tokens die within a second in every process. Enabling ends its closing too
 * (decision A14). False when there is none.
 */
export async function setTenantDisabled(
  tx: Tx,
  tenantId: string,
  kind: TenantKind,
  disabled: boolean,
): Promise<boolean> {
  return (await tx.query(SET_DISABLED, [tenantId, kind, disabled])).length > 0
}

const IS_CLOSING = statement(
  'tenant_is_closing',
  'select from tenants where tenant_id = $1 and closing_at is not null',
)

/** Whether a tenant is closing or closed. */
export const isClosingTenant = async (tx: Tx, tenantId: string): Promise<boolean> =>
  (await tx.query(IS_CLOSING, [tenantId])).length > 0

/** A tenant that is closing gets no credentials: they would work once it is enabled again. Throws `tenant_closing`. */
export async function requireOpenTenant(tx: Tx, tenantId: string): Promise<void> {
  if (await isClosingTenant(tx, tenantId)) fail('tenant_closing')
}

/** As `findTenant`, outside a transaction. */
export const tenantKind = async (database: Database, tenantId: string): Promise<TenantKind | undefined> =>
  (await database.directory(FIND, [tenantId]))[0]?.kind

/** What kind of tenant has this id; `undefined` when there is none. */
export async function findTenant(tx: Tx, tenantId: string): Promise<TenantKind | undefined> {
  const [tenant] = await tx.query(FIND, [tenantId])
  return tenant?.kind
}
