-- Lines without a match, exceptions of banks, accrued fees and deducted tax end outside, or are given up (decision R17).
insert into posting_rules (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible)
select r.journal, r.journal, split_part(m, ' > ', 1), split_part(m, ' > ', 2), 'person', r.manual, r.reversible
from (values
  ('exception_settled', true, true, array['bank_exceptions > bank', 'bank_exceptions > own_funds', 'bank_exceptions > ppi_bank',
    'bank > accrued_fees', 'bank > bank_exceptions', 'bank > settlement_unmatched',
    'network_unmatched > ppi_bank', 'own_funds > bank_exceptions', 'own_funds > tds_receivable',
    'ppi_bank > bank_exceptions', 'ppi_bank > network_unmatched', 'settlement_unmatched > bank']),
  ('exception_written_off', true, true, array['bank_exceptions > other_income', 'network_unmatched > other_income',
    'settlement_unmatched > other_income', 'write_offs > accrued_fees',
    'write_offs > bank_exceptions', 'write_offs > network_unmatched',
    'write_offs > settlement_unmatched', 'write_offs > tds_receivable']),
  ('payout_released', false, false, array['payable > accrued_fees']),
  ('payout_restored', false, false, array['accrued_fees > payable']),
  ('payout', false, false, array['accrued_fees > payable'])
) as r (journal, manual, reversible, moves) cross join unnest(r.moves) as m;
-- What can be taken back is taken back by the mirrored movement.
insert into posting_rules (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible)
select distinct 'journal_reversal', 'journal_reversal', credit_kind, debit_kind, 'person', true, false
from posting_rules where is_reversible on conflict do nothing;

-- Fees and their tax that a merchant paid otherwise, or that were given up: the payout that deducts them gives them back.
alter table payouts add column settled_fees_paise bigint not null default 0;
alter table payout_lines drop constraint payout_lines_kind_check;
alter table payout_lines add constraint payout_lines_kind_check check (kind in ('payment', 'refund', 'refund_failed', 'dispute',
  'dispute_won', 'opening_balance', 'adjustment_up', 'adjustment_down', 'advance_settled', 'advance_reopened', 'fees_settled',
  'credit_note', 'debit_note', 'tds_certificate')) not valid;

create or replace function require_payout_step() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not acts_for_operators() then
      raise exception 'payouts are the operators’'
        using errcode = 'integrity_constraint_violation', constraint = 'payouts_are_of_operators', table = 'payouts';
    end if;
    if tg_op = 'INSERT' and (new.status <> 'PREPARED' or num_nulls(new.approved_by, new.approved_at, new.run_id, new.utr,
        new.sent_at, new.completed_at, new.failed_at, new.paid_late_at, new.returned_at, new.return_utr) <> 10)
      or tg_op = 'UPDATE' and (new.status <> old.status and not exists (
          select from payout_steps s where s.from_status = old.status and s.to_status = new.status)
        or new.approved_by is distinct from old.approved_by and (old.status, new.status) <> ('PREPARED', 'APPROVED'))
    then
      raise exception 'a payout does not come to % like this', new.status
        using errcode = 'integrity_constraint_violation', constraint = 'payout_steps_are_taken', table = 'payouts';
    end if;
    -- What leaves is what its lines and its journal say, to the account that the merchant has had since it was prepared.
    if tg_op = 'UPDATE' and new.status in ('APPROVED', 'SENT') and new.status <> old.status and not exists (
      select from journals j
        join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id and t.kind = 'payout'
          and t.debit_account_id = 'payable:' || new.merchant_id
          and t.credit_account_id = 'payouts_in_transit:' || new.merchant_id and t.amount = new.amount_paise
      where j.tenant_id = new.merchant_id and j.journal_id = 'jrn_' || substr(new.payout_id, 5) and j.kind = 'payout'
        and new.amount_paise = (
          select coalesce(sum(case
            when l.kind in ('payment', 'opening_balance', 'adjustment_up', 'advance_settled', 'fees_settled', 'refund_failed', 'dispute_won',
                'credit_note', 'tds_certificate')
              then l.amount_paise else - l.amount_paise end - l.fee_paise - l.cgst_paise - l.sgst_paise - l.igst_paise), 0)
          from payout_lines l where l.merchant_id = new.merchant_id and l.payout_id = new.payout_id and not l.released))
    then
      raise exception 'the lines and the journal of the payout % do not say its amount', new.payout_id
        using errcode = 'integrity_constraint_violation', constraint = 'payouts_add_up', table = 'payouts';
    end if;
    return new;
  end $$;

create or replace function payout_of_posting(of_tenant text, of_journal text) returns text
  language sql stable set search_path = svc, pg_temp
  return coalesce(
    (select o.payout_id from opening_balances o where o.tenant_id = of_tenant and o.journal_id = of_journal),
    (select l.payout_id from tds_certificates c
       join payout_lines l on l.merchant_id = c.merchant_id and l.kind = 'tds_certificate' and l.object_id = c.certificate_id
       join payouts y on y.merchant_id = l.merchant_id and y.payout_id = l.payout_id
     where c.merchant_id = of_tenant and c.journal_id = of_journal and y.status <> 'CANCELLED' limit 1),
    (select l.payout_id from payout_lines l
     where l.merchant_id = of_tenant and l.object_id = of_journal and l.kind = 'fees_settled' and not l.released limit 1));

-- What came back to the escrow account of cards came in there like a funding.
create or replace function directory_fundings(refs text[])
  returns table (partner_id text, reference text, journal_id text, transfer_id text, card_account_id text,
    amount_paise bigint, created_at timestamptz, reversed boolean)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select j.tenant_id, w.reference, j.journal_id, t.transfer_id, t.object_id, t.amount, t.created_at,
      exists (select from journals r where r.tenant_id = j.tenant_id and r.reverses = j.journal_id)
    from (
      select distinct r as reference, r || case when n = 1 then '' else '~' || n end as entry
      from unnest(refs) as r cross join generate_series(1, 9) as n) as w
    -- By the reference first, whatever the planner knows of the tables.
    cross join lateral (
      select tenant_id, journal_id, kind from journals
      where kind in ('card_funding', 'advance_repaid', 'exception_settled', 'payout_returned') and reference = w.entry offset 0) as j
    cross join lateral (
      select transfer_id, object_id, amount, created_at, debit_account_id from ledger_transfers
      where tenant_id = j.tenant_id and journal_id = j.journal_id offset 0) as t
    where j.kind <> 'exception_settled' or t.debit_account_id in ('bank:' || j.tenant_id, 'ppi_bank:' || j.tenant_id)
  $$;
