-- What people enter is taken back as other postings are, by a mirrored journal: what a line of a bank statement was resolved
-- to be, and certificates of tax that merchants deducted.
insert into posting_rules (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible)
  select journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, true
  from posting_rules where journal_kind in ('statement_resolved', 'tds_certified')
  on conflict (journal_kind, leg_kind, debit_kind, credit_kind) do update set is_reversible = true;
insert into posting_rules (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible)
  select 'journal_reversal', 'journal_reversal', credit_kind, debit_kind, 'person', true, false
  from posting_rules where journal_kind in ('statement_resolved', 'tds_certified')
  on conflict do nothing;

alter table tds_certificates add column reversed_by text collate "C";

-- The payout that has what a journal entered, which therefore stays; one that was cancelled has nothing.
create function payout_of_posting(of_tenant text, of_journal text) returns text
  language sql stable set search_path = svc, pg_temp
  return coalesce(
    (select o.payout_id from opening_balances o where o.tenant_id = of_tenant and o.journal_id = of_journal),
    (select l.payout_id from tds_certificates c
       join payout_lines l on l.merchant_id = c.merchant_id and l.kind = 'tds_certificate' and l.object_id = c.certificate_id
       join payouts y on y.merchant_id = l.merchant_id and y.payout_id = l.payout_id
     where c.merchant_id = of_tenant and c.journal_id = of_journal and y.status <> 'CANCELLED' limit 1));

-- Whoever enters the reversal: its document is as if it had not been entered.
create function take_back_document() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    update statement_lines
      set status = 'UNMATCHED', document_id = null, resolved_as = null, journal_id = null, journal_tenant = null
      where tenant_id = new.tenant_id and journal_id = new.reverses and journal_tenant = new.tenant_id and status = 'RESOLVED';
    update tds_certificates set reversed_by = new.journal_id
      where merchant_id = new.tenant_id and journal_id = new.reverses;
    return null;
  end $$;
create trigger takes_back_document after insert on journals for each row
  when (new.kind = 'journal_reversal') execute function take_back_document();

revoke execute on all functions in schema svc from public;
grant execute on function payout_of_posting(text, text) to svc_service, svc_operator;
