import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type Payout, type PayoutStatus, payouts } from './payout.ts'

const FIND = statement<Payout>(
  'payout_by_id',
  `select ${payouts.columns} from payouts y where y.payout_id = $1`,
)
const LIST = statement<Payout>(
  'payouts_all',
  `select ${payouts.columns} from payouts y
   where ($1::text is null or y.merchant_id = $1) and ($2::date is null or y.business_day = $2)
     and ($3::text is null or y.status = $3)
   order by y.created_at desc, y.payout_id desc limit $4`,
)
// What is due leaves its trace in what is payable, or in advances where a payout had deducted it before.
const PAYABLE = statement<{ tenant_id: string }>(
  'payout_merchants',
  `select distinct a.tenant_id from ledger_accounts a
   where a.kind in ('payable', 'merchant_advances') and a.balance > 0 order by a.tenant_id`,
)

/** For operators: a payout of any merchant. */
export const findPayout = async (tx: Tx, payoutId: string): Promise<Payout | undefined> =>
  (await tx.query(FIND, [payoutId]))[0]

export interface PayoutFilter {
  readonly merchantId?: string | undefined
  readonly businessDay?: string | undefined
  readonly status?: PayoutStatus | undefined
  readonly limit: number
}

/** For operators: payouts of all merchants, newest first. */
export const listAllPayouts = (tx: Tx, filter: PayoutFilter): Promise<Payout[]> =>
  tx.query(LIST, [filter.merchantId ?? null, filter.businessDay ?? null, filter.status ?? null, filter.limit])

/** The merchants to whom something is payable, or whose advances are in their favour. */
export const payableMerchants = async (tx: Tx): Promise<string[]> =>
  (await tx.query(PAYABLE)).map(({ tenant_id }) => tenant_id)
