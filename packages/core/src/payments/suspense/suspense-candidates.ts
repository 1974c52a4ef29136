import { idFloor } from '@svc/contract/id-kinds'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { Payment } from '../payment.ts'

const HOUR_MS = 3_600_000
const HOURS_BEFORE = 24
export const CANDIDATES_MAX = 5
/** No index leads to payers: the newest payments are read. */
const PAYMENTS_READ = 20_000

/** A merchant whose a credit in suspense may be. */
export interface SuspenseCandidate {
  readonly merchantId: string
  readonly merchantName: string
  readonly why: 'amount' | 'payer'
  readonly name: string
  readonly at: Date
}

/** Of each merchant the nearest in time: an unpaid code of that amount, or a payment of that payer. */
const CANDIDATES = statement<SuspenseCandidate>(
  'suspense_candidates',
  `select f.*, m.name as "merchantName" from (
     select distinct on (c."merchantId") c.* from (
       select q.merchant_id as "merchantId", 'amount' as why, coalesce(q.qr_name, q.tr) as name, q.created_at as at
       from qr_codes q
       where q.qr_code_id >= $1 and q.qr_code_id < $2 and q.amount_paise = $3 and q.accepted_count = 0
       union all
       select p.merchant_id, 'payer', 'UTR ' || p.utr, p.created_at
       from (select * from payments order by payment_id desc limit ${PAYMENTS_READ}) p
       where p.payer_vpa = $4 and p.status = 'ACCEPTED') c
     order by c."merchantId", abs(extract(epoch from c.at - $5::timestamptz))) f
   join merchants m on m.merchant_id = f."merchantId"
   order by abs(extract(epoch from f.at - $5::timestamptz)), f."merchantId" limit ${CANDIDATES_MAX}`,
)

/** Merchants whose a credit may be, the nearest in time first. */
export function suspenseCandidates(
  tx: Tx,
  { amountPaise, createdAt, payerVpa }: Pick<Payment, 'amountPaise' | 'createdAt' | 'payerVpa'>,
): Promise<SuspenseCandidate[]> {
  const from = idFloor('qr', new Date(createdAt.getTime() - HOURS_BEFORE * HOUR_MS))
  const to = idFloor('qr', new Date(createdAt.getTime() + HOUR_MS))
  return tx.query(CANDIDATES, [from, to, amountPaise, payerVpa, createdAt])
}
