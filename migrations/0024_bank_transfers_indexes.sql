-- run: statement by statement
-- A bank's notice names a funding by its reference alone.
drop index concurrently if exists journals_of_fundings;
create index concurrently journals_of_fundings on journals (reference)
  where kind = 'card_funding' and reference is not null;
