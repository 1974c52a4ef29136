-- run: statement by statement
alter table payments validate constraint refunds_within_payment;
alter table payments validate constraint disputes_within_payment;
alter table payments validate constraint adjusted_to_an_amount;
alter table payments validate constraint only_accepted_are_adjusted;
alter table payouts validate constraint payout_adds_up;
alter table payout_lines validate constraint payout_lines_kind_check;
