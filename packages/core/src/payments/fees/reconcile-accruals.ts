import { type Check, check, subjects } from '../../ledger/reconcile.ts'

const JOURNALS = subjects('journals of fees', `journals where kind = 'fee_accrual'`)
const LINES = subjects('payments in payouts', `payout_lines where kind = 'payment' and not released`)
const ACCOUNTS = subjects('accounts of accrued fees', `ledger_accounts where kind = 'accrued_fees'`)

const DOCUMENTS = subjects('tax documents', 'tax_documents')

const leg = (kind: string) =>
  `coalesce(sum(t.amount) filter (where t.credit_account_id = '${kind}:' || j.tenant_id
     and t.debit_account_id = 'accrued_fees:' || j.tenant_id), 0)`

/** What notes took from an account of fees, or gave it again. */
const noted = (kind: string) =>
  `coalesce(sum(t.amount) filter (where '${kind}:' || t.tenant_id = case d.kind when 'CREDIT_NOTE' then t.debit_account_id
     else t.credit_account_id end), 0)`
const notes = (part: string) => `sum(case n.kind when 'CREDIT_NOTE' then n.${part} else - n.${part} end)`

/** What must be true between payments, the fees that were entered for them, and the ledger (decision R22). */
export const ACCRUAL_CHECKS: readonly Check[] = [
  check(
    'fee_accruals',
    JOURNALS,
    'A journal of fees is the fees of its payments of one business day, and effective on it',
    (
      chosen,
    ) => `select j.journal_id as subject, 'of ' || j.effective_date || ': fee ' || l.fee || ', payments ' || f.fee as detail
       from journals j cross join lateral (
         select ${leg('fee_income')} as fee, ${leg('output_cgst')} as cgst, ${leg('output_sgst')} as sgst,
           ${leg('output_igst')} as igst
         from ledger_transfers t where t.tenant_id = j.tenant_id and t.journal_id = j.journal_id) l
       cross join lateral (
         select coalesce(sum(f.fee_paise), 0) as fee, coalesce(sum(f.cgst_paise), 0) as cgst,
           coalesce(sum(f.sgst_paise), 0) as sgst, coalesce(sum(f.igst_paise), 0) as igst,
           bool_and(f.business_day = j.effective_date) as is_of_day
         from fee_accruals f where f.merchant_id = j.tenant_id and f.journal_id = j.journal_id) f
       where j.kind = 'fee_accrual' and ${chosen('j.journal_id')}
         and ((l.fee, l.cgst, l.sgst, l.igst) is distinct from (f.fee, f.cgst, f.sgst, f.igst)
           or f.is_of_day is not true) limit 100`,
  ),
  check(
    'accrued_once',
    LINES,
    'A payout deducts the fee that was entered for each of its payments',
    (chosen) => `select l.object_id as subject,
         'fee ' || l.fee_paise || ' in ' || l.payout_id || ', entered ' || coalesce(f.fee_paise::text, 'none') as detail
       from payout_lines l
         left join fee_accruals f on f.merchant_id = l.merchant_id and f.payment_id = l.object_id
       where l.kind = 'payment' and not l.released and ${chosen('l.object_id')}
         and (l.fee_paise, l.cgst_paise, l.sgst_paise, l.igst_paise)
           is distinct from (f.fee_paise, f.cgst_paise, f.sgst_paise, f.igst_paise) limit 100`,
  ),
  check(
    'accrued_fees',
    ACCOUNTS,
    'What is accrued and not deducted is fee and GST of the payments that are in no payout that stands, less what was settled otherwise',
    (
      chosen,
    ) => `select a.account_id as subject, 'balance ' || a.balance || ', open ' || o.amount || ', settled ' || s.amount as detail
       from ledger_accounts a cross join lateral (
         select coalesce(sum(f.fee_paise + f.cgst_paise + f.sgst_paise + f.igst_paise), 0) as amount
         from fee_accruals f where f.merchant_id = a.tenant_id and not exists (
           select from payout_lines l where l.merchant_id = f.merchant_id and l.object_id = f.payment_id
             and l.kind = 'payment' and not l.released)) o
       -- What was paid otherwise or given up, and no payout gives back yet.
       cross join lateral (
         select coalesce(sum(t.amount), 0) as amount from journals j
           join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id and t.credit_account_id = a.account_id
         where j.tenant_id = a.tenant_id and j.kind in ('exception_settled', 'exception_written_off')
           and not exists (select from journals v where v.tenant_id = j.tenant_id and v.reverses = j.journal_id)
           and not exists (select from payout_lines l where l.merchant_id = j.tenant_id and l.object_id = j.journal_id
             and l.kind = 'fees_settled' and not l.released)) s
       where a.kind = 'accrued_fees' and ${chosen('a.account_id')} and a.balance <> s.amount - o.amount limit 100`,
  ),
  check(
    'tax_invoices',
    DOCUMENTS,
    'An invoice is the fees and GST of its journals, which are of its month and rate',
    (
      chosen,
    ) => `select d.document_id as subject, d.number || ': fees ' || d.taxable_paise || ', journals ' || f.fee as detail
       from tax_documents d cross join lateral (
         select coalesce(sum(f.fee_paise), 0) as fee, coalesce(sum(f.cgst_paise), 0) as cgst,
           coalesce(sum(f.sgst_paise), 0) as sgst, coalesce(sum(f.igst_paise), 0) as igst, count(*) as payments,
           bool_and(f.tax_basis_points = d.tax_basis_points
             and date_trunc('month', f.business_day) = d.month) as is_of_it
         from tax_document_journals t
           join fee_accruals f on f.merchant_id = t.merchant_id and f.journal_id = t.journal_id
         where t.merchant_id = d.merchant_id and t.document_id = d.document_id) f
       where d.kind = 'INVOICE' and ${chosen('d.document_id')}
         and ((d.taxable_paise, d.cgst_paise, d.sgst_paise, d.igst_paise, d.payment_count)
             is distinct from (f.fee, f.cgst, f.sgst, f.igst, f.payments)
           or f.is_of_it is not true) limit 100`,
  ),
  check(
    'credit_notes',
    DOCUMENTS,
    'A credit or debit note is its journal of those amounts; a debit note is its credit note’s, and credit notes of an invoice that are not taken back are at most its fees and GST',
    (
      chosen,
    ) => `select d.document_id as subject, d.number || ': ' || d.taxable_paise || ' of ' || i.number || ', journals ' || l.fee
           || ', notes ' || n.fee || ' of ' || i.taxable_paise as detail
       from tax_documents d join tax_documents i on i.merchant_id = d.merchant_id and i.number = d.original_number
       cross join lateral (
         select ${noted('fee_income')} as fee, ${noted('output_cgst')} as cgst, ${noted('output_sgst')} as sgst,
           ${noted('output_igst')} as igst
         from ledger_transfers t join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
           and j.kind = lower(d.kind) and j.effective_date = d.issue_date
         where t.tenant_id = d.merchant_id and t.object_id = d.document_id) l
       cross join lateral (
         select ${notes('taxable_paise')} as fee, ${notes('cgst_paise')} as cgst, ${notes('sgst_paise')} as sgst,
           ${notes('igst_paise')} as igst
         from tax_documents n where n.merchant_id = d.merchant_id and n.original_number = i.number) n
       left join tax_documents c on c.merchant_id = d.merchant_id and c.number = d.credit_note_number and c.kind = 'CREDIT_NOTE'
         and c.original_number = d.original_number
       where d.kind <> 'INVOICE' and ${chosen('d.document_id')}
         and ((d.taxable_paise, d.cgst_paise, d.sgst_paise, d.igst_paise) is distinct from (l.fee, l.cgst, l.sgst, l.igst)
           or i.kind <> 'INVOICE' or n.fee > i.taxable_paise or n.cgst > i.cgst_paise or n.sgst > i.sgst_paise
           or n.igst > i.igst_paise
           or d.kind = 'DEBIT_NOTE' and (d.taxable_paise, d.cgst_paise, d.sgst_paise, d.igst_paise)
             is distinct from (c.taxable_paise, c.cgst_paise, c.sgst_paise, c.igst_paise)) limit 100`,
  ),
]
