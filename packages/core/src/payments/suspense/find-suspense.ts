import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { READ_IN_QUARANTINE } from '../../rails/read-by-hand.ts'
import { type Payment, payments } from '../payment.ts'

/** A credit, and whether an operator read it in a notice that waited in quarantine. */
export type FoundCredit = Payment & { readonly isReadByHand: boolean }

/** The select list of `isReadByHand`, of a payment `p`. */
export const READ_BY_HAND = `${READ_IN_QUARANTINE} as "isReadByHand"`
const FIND = statement<FoundCredit>(
  'payment_by_id_or_utr',
  `select ${payments.columns}, ${READ_BY_HAND} from payments p
   where p.payment_id = $1 or (p.utr = $2 and p.assigned_from is null)`,
)
const FIND_ASSIGNED = statement<Payment>(
  'payment_assigned_by_id_or_utr',
  `select ${payments.columns} from payments p
   where p.payment_id = $1 or (p.utr = $2 and p.status not in ('ASSIGNED', 'UNASSIGNED'))`,
)
const FIND_UNASSIGNED = statement<FoundCredit & { readonly originTenantId: string | null }>(
  'payment_to_unassign',
  `select ${payments.columns}, ${READ_BY_HAND}, o.merchant_id as "originTenantId"
   from payments p left join payments o on o.payment_id = p.assigned_from
   where p.utr = coalesce((select a.utr from payments a where a.payment_id = $1), $2)
   order by p.status not in ('ASSIGNED', 'UNASSIGNED') desc`,
)

/** For operators: a credit of any tenant, by its id or by the bank's reference in its canonical form. */
export const findCredit = async (tx: Tx, paymentId: string, utr: string): Promise<FoundCredit | undefined> =>
  (await tx.query(FIND, [paymentId, utr]))[0]

/** The same, of a credit that was assigned: the payment of its merchant. */
export const findAssigned = async (tx: Tx, paymentId: string, utr: string): Promise<Payment | undefined> =>
  (await tx.query(FIND_ASSIGNED, [paymentId, utr]))[0]

/** What an assignment is of: the payment of its merchant, and the one in another tenant's suspense that it came from. */
export interface Assigned {
  readonly tenantId: string
  readonly paymentId: string
  readonly origin: { readonly tenantId: string; readonly paymentId: string } | null
  readonly isReadByHand: boolean
}

/** The assignment of a credit, by an id of one of its payments or by the bank's reference. */
export async function findAssignment(tx: Tx, paymentId: string, utr: string): Promise<Assigned | undefined> {
  const rows = await tx.query(FIND_UNASSIGNED, [paymentId, utr])
  // A repeat names the one that it was taken back from; else the one that has the credit is meant.
  const found = rows.find((row) => row.paymentId === paymentId && row.status === 'UNASSIGNED') ?? rows[0]
  return (
    found && {
      tenantId: found.merchantId,
      paymentId: found.paymentId,
      origin:
        found.assignedFrom === null
          ? null
          : { tenantId: found.originTenantId!, paymentId: found.assignedFrom },
      isReadByHand: found.isReadByHand,
    }
  )
}
