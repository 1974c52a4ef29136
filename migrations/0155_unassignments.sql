-- An assignment out of suspense can be taken back until its money has left (decision Q16).

-- UNASSIGNED: it was a merchant's by an assignment that was taken back; the payment that it came from has the credit again.
alter table payments
  drop constraint payments_status_check,
  add constraint payments_status_check
    check (status in ('ACCEPTED', 'REFUND_PENDING', 'REFUNDED', 'SUSPENSE', 'ASSIGNED', 'UNASSIGNED')) not valid,
  drop constraint resolved_out_of_suspense,
  -- A payment of a code comes into suspense where the notice was assigned to it, and that was taken back.
  add constraint resolved_out_of_suspense
    check (resolved_at is null or qr_code_id is null or reason is null) not valid,
  add constraint unassigned_is_of_another check (status <> 'UNASSIGNED' or assigned_from is not null) not valid;

-- how often an assignment of it was taken back: its journals are numbered with it
alter table payments add column taken_back smallint not null default 0;
grant update (taken_back) on payments to svc_service;

create or replace function directory_payments(utrs text[]) returns setof payments
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select * from payments p where p.utr = any (utrs) and p.status not in ('ASSIGNED', 'UNASSIGNED') $$;

-- Each assignment that was taken back, with the journal that did it.
create table unassignments (
  tenant_id         text collate "C" not null references tenants,
  journal_id        text collate "C" not null,
  payment_id        text collate "C" not null,
  amount_paise      bigint not null check (amount_paise > 0),
  -- of the assignment out of the tenant's own suspense; null: the payment was accepted when it was created
  assigned_at       timestamptz,
  unassigned_at     timestamptz not null,
  -- the second journal, of the tenant whose suspense has the credit again; null: it is the same tenant
  origin_journal_id text collate "C" constraint restored_once unique,
  primary key (tenant_id, journal_id),
  constraint journal_is_the_tenants
    foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id) deferrable initially deferred,
  constraint payment_is_the_merchants
    foreign key (tenant_id, payment_id) references payments (merchant_id, payment_id)
);
create index unassignments_of_payment on unassignments (tenant_id, payment_id, unassigned_at);
select secure_tenants('unassignments', 'tenant_id');
grant select, insert on unassignments to svc_service;
grant select on unassignments to svc_operator;

insert into posting_rules
  (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible) values
  ('suspense_unassigned', 'suspense_unassigned', 'payable', 'suspense', 'person', true, false),
  ('suspense_unassigned', 'suspense_unassigned', 'payable', 'inter_tenant', 'person', true, false),
  ('suspense_restored', 'suspense_restored', 'inter_tenant', 'suspense', 'person', false, false);

-- Both journals have their row, of the same amount, and the payments are what it says by the end of the transaction.
create function require_unassignment() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not exists (
      select from unassignments u join payments p on p.merchant_id = u.tenant_id and p.payment_id = u.payment_id
        left join payments o on o.payment_id = p.assigned_from
      where u.amount_paise = new.amount and p.amount_paise = new.amount
        and case new.kind when 'suspense_unassigned'
          then u.tenant_id = new.tenant_id and u.journal_id = new.journal_id and u.payment_id = new.object_id
          else u.origin_journal_id = new.journal_id and o.merchant_id = new.tenant_id and o.payment_id = new.object_id end
        and case when u.origin_journal_id is null then p.status = 'SUSPENSE'
          else p.status = 'UNASSIGNED' and o.status = 'SUSPENSE' end)
    then
      raise exception 'no assignment that was taken back has this journal of kind %', new.kind
        using errcode = 'integrity_constraint_violation', constraint = 'unassignments_are_proven', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger unassignments_are_proven after insert on ledger_transfers deferrable initially deferred for each row
  when (new.kind in ('suspense_unassigned', 'suspense_restored')) execute function require_unassignment();

revoke execute on all functions in schema svc from public;
