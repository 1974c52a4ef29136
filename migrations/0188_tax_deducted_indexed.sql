-- run: statement by statement
drop index concurrently if exists tds_certificates_by_time;
create index concurrently tds_certificates_by_time on tds_certificates (created_at, certificate_id);
alter table payout_lines validate constraint payout_lines_kind_check;
alter table own_funds_movements validate constraint own_funds_movements_kind_check;
