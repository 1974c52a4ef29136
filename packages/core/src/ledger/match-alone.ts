import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'

const ALONE = statement(
  'statement_matching_lock',
  `select pg_advisory_xact_lock(hashtextextended('statement_lines', 0))`,
)

/** Until the transaction ends no other one matches lines of bank statements: no movement gets two, or goes while it gets one. */
export const matchAlone = (tx: Pick<Tx, 'query'>): Promise<unknown> => tx.query(ALONE)
