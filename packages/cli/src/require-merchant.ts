import { UsageError } from './usage-error.ts'

export const noMerchant = (merchantId: string): never => {
  throw new UsageError(`There is no merchant ${merchantId}. See them all with: svc admin merchant list`)
}
