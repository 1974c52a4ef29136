import { canonicalReference } from '@svc/kernel/bank-reference'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { ENTRIES_MAX } from './entered-fundings.ts'

const STANDING = statement(
  'card_movement_standing',
  `select from generate_series(1, ${ENTRIES_MAX}) as entry
   join journals j on j.tenant_id = $1 and j.kind = $2
     and j.reference = $3 || case when entry = 1 then '' else '~' || entry end
   where not exists (select from journals r where r.tenant_id = j.tenant_id and r.reverses = j.journal_id)
   limit 1`,
)

/**
 * For operators: whether money was entered under a bank's reference, by hand or by the bank's own notice, and was not
 * reversed. The command then posts nothing: it returns what stands, or refuses what differs from it.
 */
export const isEntered = async (
  tx: Tx,
  kind: 'card_funding' | 'card_withdrawal',
  { partnerId, reference }: { readonly partnerId: string; readonly reference: string },
): Promise<boolean> => (await tx.query(STANDING, [partnerId, kind, canonicalReference(reference)])).length > 0
