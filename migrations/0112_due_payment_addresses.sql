-- run: statement by statement
-- Those that wait are few: what is due is found without the others.
drop index concurrently if exists merchants_by_next_vpa;
create unique index concurrently merchants_by_next_vpa on merchants (next_vpa) where next_vpa is not null;
