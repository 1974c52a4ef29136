import { findMerchant } from '@svc/core/tenants/merchant'
import type { Tx } from '@svc/platform/db/database'
import { UsageError } from './usage-error.ts'

export const noMerchant = (merchantId: string): never => {
  throw new UsageError(`There is no merchant ${merchantId}. See them all with: svc admin merchant list`)
}

export async function requireMerchant(tx: Tx, merchantId: string): Promise<void> {
  if (!(await findMerchant(tx, merchantId))) noMerchant(merchantId)
}
