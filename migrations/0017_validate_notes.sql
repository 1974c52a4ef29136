-- run: statement by statement
alter table payout_lines validate constraint payout_lines_kind_check;
alter table tax_documents validate constraint tax_documents_kind_check;
alter table tax_documents validate constraint notes_name_an_invoice;
