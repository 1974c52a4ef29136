-- run: statement by statement
drop index concurrently if exists tds_certificates_by_time;
create index concurrently tds_certificates_by_time on tds_certificates (created_at, certificate_id);
