-- run: statement by statement
alter table operator_invitations validate constraint resets_an_operator;
