-- run: statement by statement
alter table payouts validate constraint approved_by_another_than_set_the_account;
