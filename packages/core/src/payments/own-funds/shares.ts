import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { PLATFORM_TENANT } from '../../tenants/tenant.ts'
import { lastDayOf } from '../fees/gst.ts'
import type { Share } from './movement.ts'

/** Legs on accounts of our own money, by the index of accounts, without those of movements that were taken back. */
const OWN = `own as (
     select t.tenant_id, t.kind, split_part(t.debit_account_id, ':', 1) as debit,
       split_part(t.credit_account_id, ':', 1) as credit, t.amount
     from ledger_accounts a cross join lateral (
       select * from ledger_transfers d where d.debit_account_id = a.account_id
       union all
       select * from ledger_transfers c where c.credit_account_id = a.account_id) t
     where a.kind = 'own_funds' and not exists (
       select from own_funds_movements m
       where m.tenant_id = '${PLATFORM_TENANT}' and m.movement_id = t.object_id and m.reversed_by is not null))`

const TO_SWEEP = statement<Share>(
  'own_funds_to_sweep',
  `with ${OWN},
   charged as (
     select t.*, j.effective_date
     from (values ('rail_charges:${PLATFORM_TENANT}'), ('gst_input:${PLATFORM_TENANT}')) a (account_id) cross join lateral (
       select d.tenant_id, d.journal_id, d.amount from ledger_transfers d
         where d.debit_account_id = a.account_id and d.credit_account_id = 'bank:${PLATFORM_TENANT}'
       union all
       select c.tenant_id, c.journal_id, - c.amount from ledger_transfers c
         where c.credit_account_id = a.account_id and c.debit_account_id = 'bank:${PLATFORM_TENANT}') t
     join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id)
   select tenant_id as "tenantId", 'bank' as account, sum(amount)::bigint as paise from (
     select y.merchant_id as tenant_id,
       y.fee_paise + y.cgst_paise + y.sgst_paise + y.igst_paise - y.settled_fees_paise as amount
     from payouts y join journals j on j.tenant_id = y.merchant_id and j.journal_id = 'jrn_' || substr(y.payout_id, 5) || 'p'
     where y.status = 'PAID' and j.effective_date <= $1::date
     union all
     select t.tenant_id, t.amount
     from journals j join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
       and split_part(t.credit_account_id, ':', 1) = 'accrued_fees'
     where j.kind = 'exception_settled' and j.reference is not null and j.effective_date <= $1::date
       and not exists (select from journals v where v.tenant_id = j.tenant_id and v.reverses = j.journal_id)
     union all
     select d.merchant_id, (d.taxable_paise + d.cgst_paise + d.sgst_paise + d.igst_paise)
       * case d.kind when 'CREDIT_NOTE' then -1 else 1 end
     from tax_documents d where d.kind <> 'INVOICE' and d.issue_date <= $1::date
     union all
     select c.merchant_id, - c.amount_paise from tds_certificates c where c.reversed_by is null and c.dated_on <= $1::date
     union all
     select tenant_id, - amount from charged where effective_date <= $1::date
     union all
     select tenant_id, case debit when 'own_funds' then - amount else amount end
     from own where kind in ('own_funds_swept', 'sweep_shared')) due
   group by tenant_id having sum(amount) <> 0 order by tenant_id`,
)
const GST_DUE = statement<Share>(
  'own_funds_gst_due',
  `with ${OWN}
   select tenant_id as "tenantId", account, sum(amount)::bigint as paise from (
     select d.merchant_id as tenant_id, h.account, case d.kind when 'CREDIT_NOTE' then - h.amount else h.amount end as amount
     from tax_documents d cross join lateral (values ('output_cgst', d.cgst_paise), ('output_sgst', d.sgst_paise),
       ('output_igst', d.igst_paise)) h (account, amount)
     where d.issue_date <= $1::date
     union all
     select tenant_id, case debit when 'own_funds' then credit else debit end,
       case debit when 'own_funds' then amount else - amount end
     from own where kind = 'gst_shared' and tenant_id <> '${PLATFORM_TENANT}') due
   group by 1, 2 having sum(amount) <> 0 order by 1, 2`,
)
// Those that certified first come first.
const CERTIFIED = statement<Share>(
  'own_funds_tds_certified',
  `select tenant_id as "tenantId", 'tds_receivable' as account, least(open, $1 - before)::bigint as paise from (
     select a.tenant_id, - a.balance as open, coalesce(sum(- a.balance) over (
       order by a.created_at, a.tenant_id rows between unbounded preceding and 1 preceding), 0) as before
     from ledger_accounts a
     where a.kind = 'tds_receivable' and a.balance < 0 and a.tenant_id <> '${PLATFORM_TENANT}') certified
   where before < $1 order by tenant_id`,
)
const AT_BANK = statement<{ paise: bigint }>(
  'own_funds_at_bank',
  'select (- coalesce(sum(balance), 0))::bigint as paise from ledger_accounts where kind = $1',
)

/**
 * What of the escrow of merchants is ours until the end of a day, by tenant: fees and GST of payouts that were paid, or that
 * merchants paid otherwise, less credit notes that stand, tax that merchants deducted, charges of the bank with their GST,
 * and what was swept before.
 */
export const sharesToSweep = (tx: Tx, through: string): Promise<Share[]> => tx.query(TO_SWEEP, [through])

/** GST of documents that are dated until the end of a month, less what was paid before; by merchant and kind of tax. */
export const gstDue = (tx: Tx, month: string): Promise<Share[]> => tx.query(GST_DUE, [lastDayOf(month)])

/** Whose certified tax a refund of this amount is; less where less is certified and not refunded. */
export const certifiedTax = (tx: Tx, paise: bigint): Promise<Share[]> => tx.query(CERTIFIED, [paise])

/** What the escrow of merchants has. */
export const escrowPaise = async (tx: Tx): Promise<bigint> => (await tx.query(AT_BANK, ['bank']))[0]!.paise

/** What our own account has. */
export const ownFundsPaise = async (tx: Tx): Promise<bigint> =>
  (await tx.query(AT_BANK, ['own_funds']))[0]!.paise
