-- A credit note that was issued by mistake is taken back by a debit note, whole and once (decision R27).
insert into posting_rules (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible)
select r.journal, r.journal, split_part(m, ' > ', 1), split_part(m, ' > ', 2), 'person', r.manual, r.reversible
from (values
  ('debit_note', true, false, array['merchant_advances > fee_income', 'merchant_advances > output_cgst',
    'merchant_advances > output_igst', 'merchant_advances > output_sgst', 'payable > fee_income',
    'payable > output_cgst', 'payable > output_igst', 'payable > output_sgst'])
) as r (journal, manual, reversible, moves) cross join unnest(r.moves) as m;

alter table tax_documents add column credit_note_number text collate "C";
alter table tax_documents drop constraint tax_documents_kind_check;
alter table tax_documents add constraint tax_documents_kind_check check (kind in ('INVOICE', 'CREDIT_NOTE', 'DEBIT_NOTE')) not valid;
alter table tax_documents drop constraint credit_notes_name_an_invoice;
alter table tax_documents add constraint notes_name_an_invoice check ((kind = 'INVOICE') = (original_number is null)
  and (kind = 'DEBIT_NOTE') = (credit_note_number is not null)) not valid;

-- A journal of a note has its document, of the whole amount, by the end of the transaction; that of a debit note names the
-- credit note, which no other one does.
create or replace function require_credit_note() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not exists (
      select from tax_documents d
      where d.merchant_id = new.tenant_id and d.document_id = new.object_id and d.kind = upper(new.kind)
        and d.taxable_paise + d.cgst_paise + d.sgst_paise + d.igst_paise = (
          select sum(t.amount) from ledger_transfers t
          where t.tenant_id = new.tenant_id and t.journal_id = new.journal_id)
        and (d.kind = 'CREDIT_NOTE' or exists (
          select from journals j join tax_documents c on c.merchant_id = d.merchant_id and c.number = j.reference
          where j.tenant_id = new.tenant_id and j.journal_id = new.journal_id and c.number = d.credit_note_number
            and c.kind = 'CREDIT_NOTE' and c.original_number = d.original_number
            and (c.taxable_paise, c.cgst_paise, c.sgst_paise, c.igst_paise)
              = (d.taxable_paise, d.cgst_paise, d.sgst_paise, d.igst_paise))))
    then
      raise exception 'no credit or debit note has this journal'
        using errcode = 'integrity_constraint_violation', constraint = 'credit_notes_are_documents', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger debit_notes_are_documents after insert on ledger_transfers deferrable initially deferred
  for each row when (new.kind = 'debit_note') execute function require_credit_note();
