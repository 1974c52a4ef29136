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
