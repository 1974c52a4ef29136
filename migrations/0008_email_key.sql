-- A holder is found by e-mail address in whatever case. `lower` is not leakproof, so row-level security kept the look-up
-- from using an index on it, and every card order read all users of the company: the key is a column of its own.
alter table users add column email_key text collate "C" generated always as (lower(email collate "C")) stored;
drop index users_by_email;
create unique index users_by_email on users (company_id, email_key) where email_key is not null;
