-- run: statement by statement
-- What came in under a reference is looked up without its tenant, for each of these kinds.
drop index concurrently if exists journals_of_incoming;
create index concurrently journals_of_incoming on journals (reference)
  where kind in ('card_funding', 'advance_repaid', 'exception_settled', 'payout_returned') and reference is not null;
drop index concurrently if exists journals_of_fundings;
