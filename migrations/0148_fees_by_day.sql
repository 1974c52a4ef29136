-- run: statement by statement
-- Fees of a month: for its invoices, and for what watches that they are issued.
drop index concurrently if exists journals_of_fees;
create index concurrently journals_of_fees on journals (effective_date) where kind = 'fee_accrual';
