import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { instant, nullable, paise, type RowOf, table, text } from '@svc/platform/db/table'

/** Assignments out of suspense that an operator took back (decision Q16). */
export const unassignments = table('unassignments', 'u', ['tenantId', 'journalId'], {
  tenantId: text,
  journalId: text,
  /** The payment that was the tenant's. */
  paymentId: text,
  amountPaise: paise,
  /** When it was assigned out of the tenant's own suspense; `null`: it was accepted when it was created. */
  assignedAt: nullable(instant),
  unassignedAt: instant,
  /** The second journal, of the tenant whose suspense has the credit again; `null` where that is the same tenant. */
  originJournalId: nullable(text),
})
export type Unassignment = RowOf<typeof unassignments>

const SHOWN = 50
const OF_PAYMENT = statement<Unassignment>(
  'unassignments_of_payment',
  `select ${unassignments.columns} from unassignments u where u.tenant_id = $1 and u.payment_id = $2
   order by u.unassigned_at desc limit ${SHOWN}`,
)

/** For operators: what was taken back of a payment, the latest first. */
export const unassignmentsOf = (
  tx: Tx,
  { merchantId, paymentId }: { readonly merchantId: string; readonly paymentId: string },
): Promise<Unassignment[]> => tx.query(OF_PAYMENT, [merchantId, paymentId])
