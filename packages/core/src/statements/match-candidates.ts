import { fail } from '@svc/contract/errors'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { PLATFORM_TENANT } from '../tenants/tenant.ts'
import { findMovement } from './movements.ts'
import { type StatementLine, statementLines } from './statement-line.ts'

const LINE = statement<StatementLine>(
  'statement_line_to_match',
  `select ${statementLines.columns} from statement_lines l where l.tenant_id = '${PLATFORM_TENANT}' and l.line_id = $1`,
)

/** Of the transfers of a line's amount near its day, those that are of its account and that no line has yet. */
export async function matchCandidates<T extends { readonly documentId: string }>(
  tx: Tx,
  lineId: string,
  transfersOfAmount: (tx: Tx, amountPaise: bigint, day: string) => Promise<readonly T[]>,
): Promise<T[]> {
  const [line] = await tx.query(LINE, [lineId])
  if (!line) return fail('statement_line_not_found')
  const candidates: T[] = []
  for (const found of await transfersOfAmount(tx, line.amountPaise, line.bookedOn)) {
    const movement = await findMovement(tx, found.documentId, line.purpose)
    if (movement?.isFree) candidates.push(found)
  }
  return candidates
}
