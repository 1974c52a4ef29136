import type { Config } from '@svc/contract/config'
import { fail } from '@svc/contract/errors'
import { approvalLimitPaise, coolingDays } from '@svc/contract/payout-settings'
import { type Database, isUnavailable, type Tx } from '@svc/platform/db/database'
import type { OwnersSetting } from '@svc/platform/db/owners-settings'
import { statement } from '@svc/platform/db/statement'
import {
  bigint,
  generated,
  instant,
  json,
  nullable,
  type RowOf,
  table,
  text,
  textOf,
} from '@svc/platform/db/table'
import type { Log } from '@svc/platform/log'
import type { PostingKind } from './posting.ts'
import { requireStill, secondPersonProblem } from './second-person.ts'

export const approvals = table('approvals', 'p', ['tenantId', 'approvalId'], {
  tenantId: text,
  approvalId: text,
  kind: textOf<PostingKind>(),
  amountPaise: bigint,
  /** What names the posting once: the bank's reference, the journal to be reversed, the refund, dispute or notice. */
  reference: text,
  /** What the posting is of, by name. */
  request: json<Readonly<Record<string, string | null>>>(),
  /** Of the command that posts it, as its schema reads them; `null`: requested by a version that did not store them. */
  arguments: nullable(json<unknown>()),
  reason: text,
  requestedBy: text,
  requestedAt: instant,
  expiresAt: instant,
  outcome: generated(nullable(textOf<'APPROVED' | 'REJECTED' | 'EXPIRED'>())),
  decidedBy: generated(nullable(text)),
  decidedAt: generated(nullable(instant)),
  /** The posting that it allowed. */
  journalId: generated(nullable(text)),
})
export type Approval = RowOf<typeof approvals>

export type ApprovalStatus = 'PENDING' | 'APPROVED' | 'POSTED' | 'REJECTED' | 'EXPIRED'

export const approvalStatus = ({ outcome, journalId, expiresAt }: Approval, now: Date): ApprovalStatus =>
  journalId !== null ? 'POSTED' : (outcome ?? (expiresAt <= now ? 'EXPIRED' : 'PENDING'))

const LIMIT = statement<{ above: bigint | null; cooling: number }>(
  'approval_limit',
  'select above_paise as above, cooling_days as cooling from approval_limit',
)
const STORE_LIMIT = `update svc.approval_limit set above_paise = $1, cooling_days = $2
   where (above_paise, cooling_days) is distinct from ($1, $2)`
// `least` passes over null, which is no limit.
const TIGHTENED = 'least(above_paise, $1), greatest(cooling_days, $2), administrators_by_two or $3'
const TIGHTEN_LIMIT = statement(
  'approval_limit_tighten',
  `update approval_limit set (above_paise, cooling_days, administrators_by_two) = (${TIGHTENED})
   where (above_paise, cooling_days, administrators_by_two) is distinct from (${TIGHTENED})`,
)
const DECIDE = statement<Approval>(
  'approval_decide',
  `update approvals p set outcome = $3, decided_by = $4, decided_at = clock_timestamp()
   where p.tenant_id = $1 and p.approval_id = $2 and (p.outcome is null and p.expires_at > clock_timestamp()
     or $3 = 'REJECTED' and p.outcome = 'APPROVED' and p.journal_id is null)
   returning ${approvals.columns}`,
)
const FIND = statement<Approval>(
  'approval_find',
  `select ${approvals.columns} from approvals p where p.approval_id = $1`,
)
/**
 * Stores the limit of the settings, by which postings are checked, as far as it is stricter than what is stored; for
 * processes with the operators' login. Only the owner's loosens it. On a database that takes no writes the stored one holds.
 */
export async function storeApprovalLimit(database: Database, config: Config, log: Log): Promise<void> {
  if (!database.hasOperators) return
  const [limit, days] = [approvalLimitPaise(config), coolingDays(config)]
  try {
    const stored = await database.operate(async (tx) => {
      await tx.query(TIGHTEN_LIMIT, [limit, days, config.SVC_MODE === 'live'])
      return (await tx.query(LIMIT))[0]!
    })
    if (stored.above !== limit || stored.cooling !== days)
      log.warn(
        { abovePaise: stored.above?.toString() ?? null, coolingDays: stored.cooling },
        'the stored limit of postings without approval is stricter than the settings; svc admin migrate with DATABASE_OWNER_URL stores these',
      )
  } catch (error) {
    if (!isUnavailable(error)) throw error
    log.warn({ err: error }, 'the limit of postings without approval is not stored; the next start stores it')
  }
}

/** What the login that owns the schema stores of the settings, which alone may loosen it. */
export const approvalLimitOf = (config: Config): OwnersSetting => [
  STORE_LIMIT,
  [approvalLimitPaise(config), coolingDays(config)],
]

export const findApproval = async (tx: Tx, approvalId: string): Promise<Approval> =>
  (await tx.query(FIND, [approvalId]))[0] ?? fail('approval_not_found')

/**
 * Decides a request. Approving what was approved before returns it again, so that it can be posted; what was approved
 * and cannot be posted may be rejected after all. Who requested it does not approve it, but may reject it.
 */
export async function decideApproval(
  tx: Tx,
  approvalId: string,
  outcome: 'APPROVED' | 'REJECTED',
  by: string,
): Promise<Approval> {
  const known = await findApproval(tx, approvalId)
  if (outcome === 'APPROVED') {
    const problem = await secondPersonProblem(tx, [known.requestedBy], by)
    if (problem) fail('approval_same_person', problem.isSame ? {} : { description: problem.description })
    if (known.journalId === null) await requireStill(tx, known.requestedBy, 'finance')
  }
  const [decided] = await tx.query(DECIDE, [known.tenantId, approvalId, outcome, by])
  if (decided) return decided
  const now = await findApproval(tx, approvalId)
  return now.outcome === outcome ? now : fail('approval_closed')
}
