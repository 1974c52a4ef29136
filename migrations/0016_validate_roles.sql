-- run: statement by statement
alter table operators validate constraint operators_role_check;
alter table operator_invitations validate constraint operator_invitations_role_check;
