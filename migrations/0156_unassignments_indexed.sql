-- run: statement by statement
-- Of the payments of one reference, one is live; those that an assignment was taken back from may be several.
drop index concurrently if exists one_live_credit_per_utr;
create unique index concurrently one_live_credit_per_utr on payments
  (utr, (case status when 'ASSIGNED' then 'ASSIGNED' when 'UNASSIGNED' then payment_id else '' end));
drop index concurrently if exists one_credit_per_utr;
drop index concurrently if exists assigned_to_one;
create unique index concurrently assigned_to_one on payments (assigned_from)
  where assigned_from is not null and status <> 'UNASSIGNED';
drop index concurrently if exists assigned_once;
alter table payments validate constraint payments_status_check;
alter table payments validate constraint resolved_out_of_suspense;
alter table payments validate constraint unassigned_is_of_another;
