-- run: statement by statement
alter table payouts validate constraint payout_adds_up;
alter table payout_lines validate constraint payout_lines_kind_check;
