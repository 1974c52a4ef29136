import { ByTenant, idsByTenant } from '@svc/kernel/by-tenant'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { APPLIED_DISPUTE_NOTICES } from '../../rails/find-notice.ts'
import { DEADLINE_PASSED } from './dispute.ts'
import { readDisputeNotice } from './dispute-notice.ts'

interface Lost {
  readonly merchantId: string
  readonly disputeId: string
  readonly caseReference: string
}

const LOST = statement<Lost>(
  'disputes_lost_unreported',
  `select d.merchant_id as "merchantId", d.dispute_id as "disputeId", d.case_reference as "caseReference"
   from disputes d join journals j
     on j.tenant_id = d.merchant_id and j.journal_id = 'jrn_' || substr(d.dispute_id, 5) || 'l'
   where (d.merchant_id, d.payment_id) in (select * from unnest($1::text[], $2::text[])) and d.status in ('LOST', 'ACCEPTED')
     and (j.reason = $3
       or exists (select from one_person_postings o where o.tenant_id = j.tenant_id and o.journal_id = j.journal_id)
       or exists (select from approvals a where a.tenant_id = j.tenant_id and a.journal_id = j.journal_id))`,
)

/** The case of which a notice reports that it is lost. */
export function lostCaseOf(body: Buffer): string | undefined {
  const read = readDisputeNotice(body)
  return 'report' in read && read.report.outcome === 'LOST' ? read.report.caseReference : undefined
}

/**
 * Disputes of these payments that our deadline or an operator ended, and of which the network has not reported that they are
 * lost: it can still decide them for the merchant (decision Q17). To be read once payments and disputes are locked.
 */
export async function lostUnreported(
  tx: Pick<Tx, 'query'>,
  ofPayments: readonly { readonly merchantId: string; readonly paymentId: string }[],
): Promise<ByTenant<Set<string>>> {
  if (ofPayments.length === 0) return new ByTenant(() => new Set())
  const keys = columns(
    ofPayments,
    ({ merchantId }) => merchantId,
    ({ paymentId }) => paymentId,
  )
  const [lost, notices] = await Promise.all([
    tx.query(LOST, [...keys, DEADLINE_PASSED]),
    tx.query(APPLIED_DISPUTE_NOTICES, keys),
  ])
  const confirmed = new Set(notices.flatMap(({ body }) => lostCaseOf(body) ?? []))
  return idsByTenant(
    lost.filter(({ caseReference }) => !confirmed.has(caseReference)),
    ({ merchantId }) => merchantId,
    ({ disputeId }) => disputeId,
  )
}
