import { ByTenant } from '@svc/kernel/by-tenant'
import { command } from '@svc/platform/command'
import type { PreparedCommand } from '@svc/platform/db/batch'
import type { UnreadableNotice } from '../../rails/quarantine-reason.ts'
import { notNew, type RailNotice, storeNotices } from '../../rails/rail-notice.ts'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'

interface KeepTransfer {
  /** As the bank signed it. */
  readonly notice: Buffer
  readonly why: UnreadableNotice
}

/** Keeps a signed transfer that cannot be read, or contradicts what is recorded, for an operator (decision Q11). */
export const keepTransfer = command({
  name: 'keepTransfer',
  isSigned: true,
  batchMax: 1,
  prepare:
    () =>
    (args: KeepTransfer): KeepTransfer & PreparedCommand => ({ ...args, tenantId: PLATFORM_TENANT }),
  lock: async () => new ByTenant(() => undefined),
  decide: (_, { notice, why: { unreadable, ...why } }, now): { readonly kept: RailNotice } => ({
    kept: notNew(
      { tenantId: PLATFORM_TENANT, body: notice, reason: unreadable, ...why, flags: ['settlement_notice'] },
      now,
    ),
  }),
  save(tx, decisions) {
    storeNotices(
      tx,
      decisions.map(({ kept }) => kept),
    )
  },
})
