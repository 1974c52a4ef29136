import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { type Payment, payments } from './payment.ts'

const FIND = statement<Payment>(
  'payment_by_id_or_utr',
  `select ${payments.columns} from payments p
   where p.payment_id = $1 or (p.utr = $2 and p.assigned_from is null)`,
)
const FIND_ASSIGNED = statement<Payment>(
  'payment_assigned_by_id_or_utr',
  `select ${payments.columns} from payments p
   where p.payment_id = $1 or (p.utr = $2 and p.status <> 'ASSIGNED')`,
)
const LIST = statement<Payment>(
  'payments_in_suspense',
  `select ${payments.columns} from payments p where p.status = 'SUSPENSE'
   order by p.created_at desc, p.payment_id desc limit $1`,
)

/** For operators: a credit of any tenant, by its id or by the bank's reference in its canonical form. */
export const findCredit = async (tx: Tx, paymentId: string, utr: string): Promise<Payment | undefined> =>
  (await tx.query(FIND, [paymentId, utr]))[0]

/** The same, of a credit that was assigned: the payment of its merchant. */
export const findAssigned = async (tx: Tx, paymentId: string, utr: string): Promise<Payment | undefined> =>
  (await tx.query(FIND_ASSIGNED, [paymentId, utr]))[0]

/** For operators: the credits in suspense of all tenants, newest first. */
export const listSuspense = (tx: Tx, limit: number): Promise<Payment[]> => tx.query(LIST, [limit])
