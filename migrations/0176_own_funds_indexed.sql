-- run: statement by statement
drop index concurrently if exists tax_documents_by_issue_date;
create index concurrently tax_documents_by_issue_date on tax_documents (issue_date);
-- Lists of operators are in order of ids.
drop index concurrently if exists tax_documents_by_id;
create unique index concurrently tax_documents_by_id on tax_documents (document_id);
alter table payout_lines validate constraint payout_lines_kind_check;
