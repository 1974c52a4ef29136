import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { PLATFORM_TENANT } from '../tenants/tenant.ts'

/** A transfer between a bank and the platform that a statement is to show. */
export interface BankTransfer {
  readonly documentId: string
  readonly kind: 'settlement' | 'payout'
  /** The bank's reference of the transfer, or the merchant of the payout. */
  readonly name: string
  readonly date: string
}

const TRANSFERS_MAX = 20
const DAYS_APART = 10

const OF_AMOUNT = statement<BankTransfer>(
  'transfers_of_amount',
  `select * from (
     select b.batch_id as "documentId", 'settlement' as kind, b.batch_utr as name, b.value_date::text as date
     from settlement_batches b
     where b.tenant_id = '${PLATFORM_TENANT}' and b.is_awaited and coalesce(b.net_paise, b.lines_paise) = $1
       and b.status in ('INCOMPLETE', 'POSTED') and b.value_date between $2::date - ${DAYS_APART} and $2::date + ${DAYS_APART}
     union all
     select y.payout_id, 'payout', m.name, y.business_day::text
     from payouts y join merchants m using (merchant_id)
     where y.amount_paise = - $1 and y.status in ('SENT', 'PAID')
       and y.business_day between $2::date - ${DAYS_APART} and $2::date + ${DAYS_APART}) found
   order by abs(date::date - $2::date), "documentId" limit ${TRANSFERS_MAX}`,
)

/** Settlements and payouts of an amount, signed as on the bank account, within ten days of a day; the nearest first. */
export const transfersOfAmount = (tx: Tx, amountPaise: bigint, day: string): Promise<BankTransfer[]> =>
  tx.query(OF_AMOUNT, [amountPaise, day])
