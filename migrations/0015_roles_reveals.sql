-- Roles of operators by what they do (decision O2).
alter table operators drop constraint operators_role_check;
alter table operators add constraint operators_role_check check (
  role in ('viewer', 'auditor', 'support', 'finance', 'operations', 'operator', 'admin')) not valid;
alter table operator_invitations drop constraint operator_invitations_role_check;
alter table operator_invitations add constraint operator_invitations_role_check check (
  role in ('viewer', 'auditor', 'support', 'finance', 'operations', 'operator', 'admin')) not valid;

-- To whom the personal data of an object is shown unmasked for some minutes (decision O7); the audit keeps who and why.
create table personal_data_reveals (
  operator_id text collate "C" not null references operators,
  object_id   text collate "C" not null check (length(object_id) between 1 and 128),
  revealed_at timestamptz not null,
  primary key (operator_id, object_id)
);
grant select, insert, update, delete on personal_data_reveals to svc_operator;
