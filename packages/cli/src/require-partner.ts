import { findPartner, type Partner } from '@svc/core/tenants/partner'
import type { Tx } from '@svc/platform/db/database'
import { UsageError } from './usage-error.ts'

/** The partner, or a word on where to find the one that was meant. */
export async function requirePartner(tx: Tx, partnerId: string): Promise<Partner> {
  const partner = await findPartner(tx, partnerId)
  if (!partner)
    throw new UsageError(`There is no partner ${partnerId}. See them all with: svc admin partner list`)
  return partner
}
