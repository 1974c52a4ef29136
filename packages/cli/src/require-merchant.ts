import { findMerchant } from '@svc/core/tenants/merchant'
import type { Tx } from '@svc/platform/db/database'
import { UsageError } from './usage-error.ts'

export const noMerchantText = (merchantId: string): string =>
  `There is no merchant ${merchantId}. See them all with: svc admin merchant list`

export const noMerchant = (merchantId: string): never => {
  throw new UsageError(noMerchantText(merchantId))
}

export async function requireMerchant(tx: Tx, merchantId: string): Promise<void> {
  if (!(await findMerchant(tx, merchantId))) noMerchant(merchantId)
}
