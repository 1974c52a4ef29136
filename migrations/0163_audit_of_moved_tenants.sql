-- run: statement by statement
-- An entry of a tenant that moved here has the number that its first cell gave it, which an entry of this database may have
-- too: what names an entry is its chain and its number in it.
drop index concurrently if exists audit_log_by_sequence;
create index concurrently audit_log_by_sequence on audit_log (sequence);
alter table audit_log drop constraint if exists audit_log_pkey;
