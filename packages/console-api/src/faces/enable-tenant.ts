import type { Tx } from '@svc/platform/db/database'
import type { Caller } from '@svc/server/http/operation'
import { type Role, requirePermission } from '../identity/permissions.ts'
import { requireRecentProof } from '../identity/proof-age.ts'
import { lockClosing } from '../tenant-closing.ts'

export const ENABLING =
  'Enabling needs a recent sign-in, and of a tenant that is closing or closed the permission `administer`: it ends the closing (decision A14).'

/**
 * Enabling a tenant gives rights, so it needs a recent sign-in; disabling, in an emergency, needs none. To enable one
 * that is closing undoes what an administrator decided (decision A14).
 */
export async function checkEnabling(tx: Tx, caller: Caller, tenantId: string): Promise<void> {
  requireRecentProof(caller)
  if (await lockClosing(tx, tenantId)) requirePermission(caller.actor!.role as Role, 'administer')
}
