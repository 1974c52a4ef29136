import { required } from '@svc/kernel/invariant'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type Dispute, disputes } from './dispute.ts'

const FIND = statement<Dispute>(
  'disputes_by_id',
  `select ${disputes.columns} from disputes d where d.dispute_id = $1`,
)

/** For operators: a dispute of any merchant. */
export const findDispute = async (tx: Tx, disputeId: string): Promise<Dispute | undefined> =>
  (await tx.query(FIND, [disputeId]))[0]

const OWN = statement<{ found: number }>(
  'dispute_exists',
  'select 1 as found from disputes d where d.merchant_id = $1 and d.dispute_id = $2',
)
export const hasDispute = async (tx: Tx, merchantId: string, disputeId: string): Promise<boolean> =>
  (await tx.query(OWN, [merchantId, disputeId])).length > 0

export interface DisputesOfShop {
  readonly disputed: bigint
  readonly decided: bigint
  readonly won: bigint
}
const OF_SHOP = statement<DisputesOfShop>(
  'disputes_of_shop',
  `select count(*) as disputed, count(*) filter (where d.status = 'WON') as won,
     count(*) filter (where d.closed_at is not null) as decided
   from disputes d where d.merchant_id = $1 and d.created_at > clock_timestamp() - $2 * interval '1 day'`,
)
/** How often payers disputed payments of a merchant in so many days, and what became of it. */
export const disputesOfShop = async (tx: Tx, merchantId: string, days: number): Promise<DisputesOfShop> =>
  required((await tx.query(OF_SHOP, [merchantId, days]))[0], 'a count is one row')

export interface PaymentsOfPayer {
  readonly payments: bigint
  readonly amountPaise: bigint
  readonly refundedPaise: bigint
  readonly disputes: bigint
}
const OF_PAYER = statement<PaymentsOfPayer>(
  'payments_of_payer',
  `select count(*) as payments, coalesce(sum(p.amount_paise), 0)::bigint as "amountPaise",
     coalesce(sum(p.refund_paise), 0)::bigint as "refundedPaise",
     count(*) filter (where exists (select from disputes d
       where d.merchant_id = p.merchant_id and d.payment_id = p.payment_id and d.payment_id <> $3)) as disputes
   from payments p where p.merchant_id = $1 and p.payer_vpa = $2 and p.payment_id <> $3 and p.status = 'ACCEPTED'
     and p.created_at > clock_timestamp() - $4 * interval '1 day'`,
)
/** What else the payer of a payment paid to the merchant in so many days, by the address that the bank reports. */
export const paymentsOfPayer = async (
  tx: Tx,
  { merchantId, payerVpa, paymentId }: { merchantId: string; payerVpa: string; paymentId: string },
  days: number,
): Promise<PaymentsOfPayer> =>
  required((await tx.query(OF_PAYER, [merchantId, payerVpa, paymentId, days]))[0], 'a count is one row')

const CODE = statement<{ id: string; name: string }>(
  'code_of_disputed',
  `select q.qr_code_id as id, coalesce(q.qr_name, q.qr_code_id) as name from qr_codes q
   where q.merchant_id = $1 and q.qr_code_id = $2`,
)
/** The code that was paid, by its name; by its id where it has none. */
export const codeOfDisputed = async (
  tx: Tx,
  merchantId: string,
  qrCodeId: string | null,
): Promise<{ id: string; name: string } | undefined> =>
  qrCodeId === null ? undefined : (await tx.query(CODE, [merchantId, qrCodeId]))[0]
