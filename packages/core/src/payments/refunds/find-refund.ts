import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type MerchantRefund, merchantRefunds } from './merchant-refund.ts'

const FIND = statement<MerchantRefund>(
  'merchant_refunds_by_id',
  `select ${merchantRefunds.columns} from merchant_refunds r where r.refund_id = $1`,
)

/** For operators: a refund of any merchant. */
export const findRefund = async (tx: Tx, refundId: string): Promise<MerchantRefund | undefined> =>
  (await tx.query(FIND, [refundId]))[0]
