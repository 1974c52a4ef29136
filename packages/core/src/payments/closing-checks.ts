import type { Tx } from '@svc/platform/db/database'
import { type Statement, statement } from '@svc/platform/db/statement'
import type { ClosingCheck, ClosingProblem } from '../ledger/closing-check.ts'
import type { OpenItem } from '../ledger/closing-statement.ts'

const OPEN_ITEMS = statement<OpenItem>(
  'book_closing_open_items',
  `select item, count::text, amount::text from (
     select 'payouts_not_paid' as item, count(*) as count, coalesce(sum(amount_paise), 0) as amount
     from payouts where status in ('PREPARED', 'APPROVED', 'SENT') and business_day <= $1::date
     union all
     select 'refunds_not_made', count(*), coalesce(sum(amount_paise), 0)
     from merchant_refunds where status in ('PENDING', 'SENT') and created_at <= $2
     union all
     select 'credits_in_suspense', count(*), coalesce(sum(amount_paise), 0)
     from payments where status = 'SUSPENSE' and created_at <= $2
     union all
     select 'disputes_open', count(*), coalesce(sum(amount_paise), 0)
     from disputes where closed_at is null and created_at <= $2
     union all
     select 'settlement_lines_unmatched', count(*), coalesce(sum(amount_paise), 0)
     from settlement_lines where status <> 'MATCHED' and recorded_at <= $2) open
   where count > 0 order by item`,
)

/** What of payments was not done when a period was closed; amounts in paise. */
export const openItems = (tx: Tx, through: string, until: Date): Promise<OpenItem[]> =>
  tx.query(OPEN_ITEMS, [through, until])

type Counted = Statement<{ count: bigint }>

const UNACCRUED: Counted = statement(
  'closing_fees_not_accrued',
  `select count(*) from merchants m left join payout_positions o using (merchant_id), lateral (
     select from payments p
     where p.merchant_id = m.merchant_id and p.status = 'ACCEPTED' and p.created_at < $1
       and p.created_at >= coalesce(o.accrued_to, o.due_from, '-infinity')
       and not exists (select from fee_accruals f
         where f.merchant_id = p.merchant_id and f.payment_id = p.payment_id)
       and not exists (select from payout_lines l where l.merchant_id = p.merchant_id
         and l.object_id = p.payment_id and l.kind = 'payment' and not l.released)) p`,
)
const BATCHES: Counted = statement(
  'closing_batches_open',
  `select count(*) from settlement_batches where value_date <= $1::date and status in ('INCOMPLETE', 'DIFFERS')`,
)
const OLD_LINES: Counted = statement(
  'closing_lines_old',
  `select (select count(*) from settlement_lines
      where status <> 'MATCHED' and settled_on <= $1::date and recorded_at < clock_timestamp() - interval '7 days')
    + (select count(*) from settlement_batch_lines l join settlement_batches b using (tenant_id, batch_id)
      where l.status = 'UNMATCHED' and b.value_date <= $1::date
        and l.recorded_at < clock_timestamp() - interval '7 days') as count`,
)

// Of months that are over at the end of the period.
const UNINVOICED: Counted = statement(
  'closing_fees_not_invoiced',
  `select count(*) from journals j
   where j.kind = 'fee_accrual' and j.effective_date < date_trunc('month', $1::date + 1)
     and not exists (select from tax_document_journals d
       where d.merchant_id = j.tenant_id and d.journal_id = j.journal_id)`,
)

const counted = async (tx: Tx, of: Counted, value: unknown): Promise<bigint> =>
  (await tx.query(of, [value]))[0]!.count
const unless = (count: bigint, one: string, several: string): ClosingProblem | null =>
  count === 0n ? null : { count: Number(count), detail: `${count} ${count === 1n ? one : several}` }

/** What of payments has to be in order before a period is closed. */
export const PAYMENT_CLOSING_CHECKS: readonly ClosingCheck[] = [
  {
    item: 'accrued',
    problem: async (tx, { to }) =>
      unless(await counted(tx, UNACCRUED, to), 'payment has no fee entered', 'payments have no fee entered'),
  },
  {
    item: 'batches',
    problem: async (tx, { through }) =>
      unless(
        await counted(tx, BATCHES, through),
        'batch is incomplete or differs from the statement',
        'batches are incomplete or differ from the statement',
      ),
  },
  {
    item: 'invoices',
    problem: async (tx, { through }) =>
      unless(
        await counted(tx, UNINVOICED, through),
        'journal of fees is in no invoice',
        'journals of fees are in no invoice',
      ),
  },
  {
    item: 'old_lines',
    problem: async (tx, { through }) =>
      unless(
        await counted(tx, OLD_LINES, through),
        'line has had no match for more than 7 days',
        'lines have had no match for more than 7 days',
      ),
  },
]
