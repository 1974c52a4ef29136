-- run: statement by statement
drop index concurrently if exists tds_certificates_stand_once;
create unique index concurrently tds_certificates_stand_once on tds_certificates (merchant_id, number) where reversed_by is null;
-- A number is entered again once its certificate was taken back.
alter table tds_certificates drop constraint if exists tds_certificates_once;
drop index concurrently if exists statement_lines_by_journal;
create index concurrently statement_lines_by_journal on statement_lines (journal_id) where journal_id is not null;
drop index concurrently if exists tds_certificates_by_journal;
create index concurrently tds_certificates_by_journal on tds_certificates (merchant_id, journal_id);
