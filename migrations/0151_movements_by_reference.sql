-- run: statement by statement
-- What a bank statement names by its reference, of whichever tenants.
drop index concurrently if exists journals_of_statements;
create index concurrently journals_of_statements on journals (reference)
  where kind in ('payout_paid', 'payout_returned', 'payout_paid_late', 'card_funding', 'card_withdrawal', 'advance_repaid',
    'exception_settled');
