import { formatRupees } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { AccountKind, Unit } from './chart-of-accounts.ts'
import { among } from './closing-statement.ts'

/** A journal that was entered once a period was closed, and is effective in it. */
export interface PriorPeriodItem {
  readonly journalId: string
  readonly tenantId: string
  readonly kind: string
  readonly effectiveDate: string
  readonly at: Date
  readonly unit: Unit
  /** What its legs move, in the unit's smallest part. */
  readonly amount: bigint
  readonly reference: string | null
}

const LATER = `from journals j join ledger_transfers t using (tenant_id, journal_id)
   where j.effective_date <= $1::date and t.created_at > $2`
/** Later entries of the period through `$1`, of which what was entered until `$2` was known. */
export const PRIOR_PERIOD_ITEMS = `select j.journal_id as "journalId", j.tenant_id as "tenantId", j.kind,
     j.effective_date::text as "effectiveDate", j.at, t.unit, sum(t.amount)::bigint as amount, j.reference
   ${LATER} group by j.tenant_id, j.journal_id, t.unit`
const ITEMS = statement<PriorPeriodItem>(
  'prior_period_items',
  `${PRIOR_PERIOD_ITEMS} order by j.at, j.journal_id`,
)
const MOVED = statement<{ kind: AccountKind; unit: Unit; amount: bigint }>(
  'prior_period_moved',
  `select a.kind, a.unit, sum(s.amount)::bigint as amount from (
     select t.credit_account_id as account_id, t.amount ${LATER} and ${among('$3')}
     union all
     select t.debit_account_id, -t.amount ${LATER} and ${among('$3')}) s
   join ledger_accounts a using (account_id) group by a.kind, a.unit`,
)

/** Oldest first. */
export const priorPeriodItems = (tx: Tx, through: string, knownUntil: Date): Promise<PriorPeriodItem[]> =>
  tx.query(ITEMS, [through, knownUntil])

/** By kind of account, what they added: credits less debits, of all tenants or of these. */
export const priorPeriodMoved = (tx: Tx, through: string, knownUntil: Date, tenants?: readonly string[]) =>
  tx.query(MOVED, [through, knownUntil, tenants ?? null])

/** As operators see it. */
export const priorPeriodItemToWire = ({ unit, amount, at, reference, ...item }: PriorPeriodItem) => ({
  ...item,
  at: at.toISOString(),
  amount: unit === 'INR' ? formatRupees(amount) : String(amount),
  reference: reference ?? '',
})
