-- What an installation owed when it took over from another system (decision R14): one journal for each ledger account,
-- imported once. After its reversal another one may be imported.
create table opening_balances (
  tenant_id    text collate "C" not null references tenants,
  journal_id   text collate "C" not null,
  account_id   text collate "C" not null,
  amount_paise bigint not null check (amount_paise > 0),
  -- the file and its line
  reference    text collate "C" not null,
  -- the payout that has it; null: it is due, or the account is none of a merchant
  payout_id    text collate "C",
  -- the journal that took it back
  reversed_by  text collate "C",
  created_at   timestamptz not null,
  primary key (tenant_id, journal_id),
  constraint journal_is_the_tenants foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id),
  constraint account_is_the_tenants foreign key (tenant_id, account_id) references ledger_accounts (tenant_id, account_id),
  constraint reversal_is_the_tenants foreign key (tenant_id, reversed_by) references journals (tenant_id, journal_id),
  constraint payout_is_the_tenants foreign key (tenant_id, payout_id) references payouts (merchant_id, payout_id),
  constraint paid_out_is_not_reversed check (payout_id is null or reversed_by is null)
);
create unique index opening_balances_one_standing on opening_balances (tenant_id, account_id) where reversed_by is null;
select secure_tenants('opening_balances', 'tenant_id');
grant select, insert, update (payout_id, reversed_by) on opening_balances to svc_service;
grant select on opening_balances to svc_operator;

-- What a payout adds to payments: opening balances.
alter table payouts
  add column adjustment_count integer not null default 0,
  add column adjustment_paise bigint not null default 0;
alter table payouts drop constraint payout_adds_up;
alter table payouts add constraint payout_adds_up check (amount_paise
  = payment_paise + adjustment_paise - refund_paise - fee_paise - cgst_paise - sgst_paise - igst_paise) not valid;
alter table payout_lines drop constraint payout_lines_kind_check;
alter table payout_lines add constraint payout_lines_kind_check check (
  kind in ('payment', 'refund', 'refund_failed', 'dispute', 'dispute_won', 'opening_balance')) not valid;

-- As before; an opening balance above the limit needs its approval too.
create or replace function require_whole_journals() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if exists (
      select from (
        select a.tenant_id, a.journal_id, count(*) as legs, max(a.leg) as last from added a
        group by a.tenant_id, a.journal_id) t
      left join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
      where j.legs is distinct from t.legs or j.legs is distinct from t.last
    ) then
      raise exception 'a journal has other legs than it names'
        using errcode = 'integrity_constraint_violation', constraint = 'journals_are_whole', table = 'ledger_transfers';
    end if;
    if exists (select from added a where a.created_at <= (select max(c.until) from book_closings c)) then
      raise exception 'the period is closed'
        using errcode = 'integrity_constraint_violation', constraint = 'period_is_open', table = 'ledger_transfers';
    end if;
    if exists (
      select from added a
      where a.kind in ('card_funding', 'suspense_assigned', 'suspense_returned', 'journal_reversal', 'opening_balance')
    ) and exists (
      select from (
        select a.tenant_id, a.journal_id, sum(a.amount) as amount from added a
        where a.kind in ('card_funding', 'suspense_assigned', 'suspense_returned', 'journal_reversal', 'opening_balance')
        group by a.tenant_id, a.journal_id) t
      join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
      join approval_limit l on t.amount > l.above_paise
      where not exists (
        select from approvals p
        where p.tenant_id = j.tenant_id and p.journal_id = j.journal_id and p.kind = j.kind
          and p.amount_paise = t.amount
          -- A reference that is entered again after its journal was reversed has a number behind it.
          and p.reference = split_part(coalesce(j.reverses, j.reference), '~', 1))
    ) then
      raise exception 'a posting above the limit needs the approval of a second person'
        using errcode = 'integrity_constraint_violation', constraint = 'postings_are_approved', table = 'journals';
    end if;
    return null;
  end $$;

revoke execute on all functions in schema svc from public;
