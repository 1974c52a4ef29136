-- run: statement by statement
alter table payout_lines validate constraint payout_lines_kind_check;
