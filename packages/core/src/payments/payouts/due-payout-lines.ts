import type { Paise } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { accountIdOf } from '../../ledger/accounts.ts'
import { advancedOfNote } from '../fees/tax-document.ts'
import type { Charge } from './payout-fees.ts'
import type { PayoutLineKind } from './payout-line-kinds.ts'

/** Lines that one payout holds at most; what is left goes into the next. */
export const LINES_MAX = 100_000

/** A payment, refund, dispute, correction, opening balance, settled advance or fee, credit or debit note, or certificate of tax that is in no payout. */
export interface DueLine {
  readonly merchantId: string
  readonly kind: PayoutLineKind
  readonly objectId: string
  readonly occurredAt: Date
  readonly amountPaise: Paise
  readonly advancePaise: Paise
  /** Whether the bank has paid it, as its settlement files say; true of all others. */
  readonly isSettled: boolean
  /** What a payment is charged, where that is entered already. */
  readonly accrued: Charge | null
}

const notIn = (kind: PayoutLineKind, row: string) =>
  `not exists (select from payout_lines l
     where l.merchant_id = w.merchant_id and l.object_id = ${row} and l.kind = '${kind}' and not l.released)`

// Journals of what merchants repaid otherwise, or needed not repay, and what reversed them.
const SETTLED_ADVANCES = `journals j on j.tenant_id = w.merchant_id and j.kind in ('advance_repaid', 'advance_written_off')
     join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
     left join journals v on v.tenant_id = j.tenant_id and v.reverses = j.journal_id`

// Fees that merchants paid otherwise, or that were given up; one that is in a payout is not reversed any more.
const SETTLED_FEES = `journals j on j.tenant_id = w.merchant_id and j.kind in ('exception_settled', 'exception_written_off')
     join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
       and split_part(t.credit_account_id, ':', 1) = 'accrued_fees'`

const NO_FEE = 'null::bigint, null::bigint, null::bigint, null::bigint'

type Row = Omit<DueLine, 'accrued'> & { readonly [Part in keyof Charge]: Charge[Part] | null }

// What an operator assigned out of the platform's suspense is with the platform's bank, not with the merchant's.
// A refund that failed after a payout had deducted it comes back, once; one that failed before is in no payout.
// So does a dispute that was won, and a settled advance whose journal was reversed. A correction is due with its payment, or once that was paid out.
const DUE = statement<Row>(
  'payout_lines_due',
  `with wanted as (select * from unnest($1::text[], $2::timestamptz[]) as w (merchant_id, until))
   select w.merchant_id as "merchantId", 'payment' as kind, p.payment_id as "objectId", p.created_at as "occurredAt",
     p.amount_paise as "amountPaise", 0::bigint as "advancePaise", p.is_settled as "isSettled",
     f.fee_paise as "feePaise", f.cgst_paise as "cgstPaise", f.sgst_paise as "sgstPaise", f.igst_paise as "igstPaise"
   from wanted w left join payout_positions o using (merchant_id) cross join lateral (
     select p.payment_id, p.created_at, p.amount_paise, exists (
       select from settlement_lines s
       where s.tenant_id = p.merchant_id and s.utr = p.utr and s.status = 'MATCHED')
       or p.assigned_from is not null as is_settled
     from payments p
     where p.merchant_id = w.merchant_id and p.status = 'ACCEPTED' and p.created_at < w.until
       and p.created_at >= coalesce(o.due_from, '-infinity') and ${notIn('payment', 'p.payment_id')}
     order by p.created_at, p.payment_id limit ${LINES_MAX}) p
     left join fee_accruals f on f.merchant_id = w.merchant_id and f.payment_id = p.payment_id
   union all
   select w.merchant_id, 'refund', r.refund_id, r.created_at, r.amount_paise, r.advanced_paise, true, ${NO_FEE}
   from wanted w join merchant_refunds r on r.merchant_id = w.merchant_id
   where ${notIn('refund', 'r.refund_id')}
     and (r.status <> 'FAILED' or not ${notIn('refund_failed', 'r.refund_id')})
   union all
   select w.merchant_id, 'refund_failed', r.refund_id, r.completed_at, r.amount_paise, r.advanced_paise, true, ${NO_FEE}
   from wanted w join merchant_refunds r on r.merchant_id = w.merchant_id
   where r.status = 'FAILED' and ${notIn('refund_failed', 'r.refund_id')} and not ${notIn('refund', 'r.refund_id')}
   union all
   select w.merchant_id, 'dispute', d.dispute_id, d.created_at, d.amount_paise, d.advanced_paise, true, ${NO_FEE}
   from wanted w join disputes d on d.merchant_id = w.merchant_id
   where ${notIn('dispute', 'd.dispute_id')}
     and (d.status <> 'WON' or not ${notIn('dispute_won', 'd.dispute_id')})
   union all
   select w.merchant_id, 'dispute_won', d.dispute_id, d.closed_at, d.amount_paise, d.advanced_paise, true, ${NO_FEE}
   from wanted w join disputes d on d.merchant_id = w.merchant_id
   where d.status = 'WON' and ${notIn('dispute_won', 'd.dispute_id')} and not ${notIn('dispute', 'd.dispute_id')}
   union all
   select w.merchant_id, case when a.change_paise > 0 then 'adjustment_up' else 'adjustment_down' end, a.adjustment_id,
     a.created_at, abs(a.change_paise), a.advanced_paise, exists (
       select from settlement_lines s
       where s.tenant_id = p.merchant_id and s.utr = p.utr and s.status = 'MATCHED')
       or a.change_paise < 0 and not ${notIn('payment', 'a.payment_id')}, ${NO_FEE}
   from wanted w join payment_adjustments a on a.merchant_id = w.merchant_id
     join payments p on p.merchant_id = a.merchant_id and p.payment_id = a.payment_id and p.created_at < w.until
   where not exists (select from payout_lines l
     where l.merchant_id = w.merchant_id and l.object_id = a.adjustment_id and not l.released)
   union all
   select w.merchant_id, 'opening_balance', o.journal_id, o.created_at, o.amount_paise, 0, true, ${NO_FEE}
   from wanted w cross join lateral ${accountIdOf('payable', 'w.merchant_id')}
     join opening_balances o on o.tenant_id = w.merchant_id and o.account_id = key.account_id
   where o.reversed_by is null and o.payout_id is null
   union all
   select w.merchant_id, 'advance_settled', j.journal_id, j.at, t.amount, t.amount, true, ${NO_FEE}
   from wanted w join ${SETTLED_ADVANCES}
   where ${notIn('advance_settled', 'j.journal_id')}
     and (v.journal_id is null or not ${notIn('advance_reopened', 'j.journal_id')})
   union all
   select w.merchant_id, 'advance_reopened', j.journal_id, v.at, t.amount, t.amount, true, ${NO_FEE}
   from wanted w join ${SETTLED_ADVANCES}
   where v.journal_id is not null and ${notIn('advance_reopened', 'j.journal_id')}
     and not ${notIn('advance_settled', 'j.journal_id')}
   union all
   select w.merchant_id, 'fees_settled', j.journal_id, j.at, t.amount, 0, true, ${NO_FEE}
   from wanted w join ${SETTLED_FEES}
   where ${notIn('fees_settled', 'j.journal_id')}
     and not exists (select from journals v where v.tenant_id = j.tenant_id and v.reverses = j.journal_id)
   union all
   select w.merchant_id, 'debit_note', d.document_id, d.created_at,
     d.taxable_paise + d.cgst_paise + d.sgst_paise + d.igst_paise, ${advancedOfNote('d')}, true, ${NO_FEE}
   from wanted w join tax_documents d on d.merchant_id = w.merchant_id
   where d.kind = 'DEBIT_NOTE' and ${notIn('debit_note', 'd.document_id')}
   union all
   select w.merchant_id, 'credit_note', d.document_id, d.created_at,
     d.taxable_paise + d.cgst_paise + d.sgst_paise + d.igst_paise, 0, true, ${NO_FEE}
   from wanted w join tax_documents d on d.merchant_id = w.merchant_id
   where d.kind = 'CREDIT_NOTE' and ${notIn('credit_note', 'd.document_id')}
   union all
   select w.merchant_id, 'tds_certificate', c.certificate_id, c.created_at, c.amount_paise, 0, true, ${NO_FEE}
   from wanted w join tds_certificates c on c.merchant_id = w.merchant_id
   where c.reversed_by is null and ${notIn('tds_certificate', 'c.certificate_id')}
   order by "occurredAt", "objectId"`,
)

export interface Due {
  readonly merchantId: string
  /** The end of the business day. */
  readonly until: Date
}

/** What is due to merchants: payments of the day and before, all others until now, oldest first. */
export async function dueLines(tx: Pick<Tx, 'query'>, wanted: readonly Due[]): Promise<DueLine[]> {
  const rows = await tx.query(
    DUE,
    columns(
      wanted,
      ({ merchantId }) => merchantId,
      ({ until }) => until,
    ),
  )
  return rows.map(({ feePaise, cgstPaise, sgstPaise, igstPaise, ...line }) => ({
    ...line,
    accrued: feePaise === null ? null : ({ feePaise, cgstPaise, sgstPaise, igstPaise } as Charge),
  }))
}
