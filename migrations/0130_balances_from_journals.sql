-- On whose word a journal is entered, and the balances that journals make (decision R19). What a login may do is decided by
-- `session_user`, who logged in, and not by the role that the session took: roles of one login add up, and one session may
-- take each of them in turn. Three kinds of logins are told apart: the rails', with the role `svc_rail`, in processes that
-- check signatures of the bank and the card network; the operators', with `svc_operator`; and the service's.

create function is_rail() returns boolean
  language sql stable parallel safe
  as $$ select pg_has_role(session_user, 'svc_rail', 'member') $$;
grant execute on function is_rail to svc_service, svc_operator;

-- Locking an account needs the right to update one of its columns: this one has no meaning and no other value than null.
alter table ledger_accounts add column lock_only boolean;
alter table ledger_accounts add constraint lock_only_means_nothing check (lock_only is null) not valid;
revoke update (balance) on ledger_accounts from svc_service, svc_operator;
grant update (lock_only) on ledger_accounts to svc_service, svc_operator;

-- As before, and empty: balances are made by journals alone.
create or replace function require_charted_account() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if exists (
      select from opened a left join account_kinds k on k.kind = split_part(a.account_id, ':', 1)
      where k.kind is distinct from a.kind or a.unit <> k.unit or a.balance <> 0
        or a.floor is distinct from case when k.is_bounded then 0 end
    ) then
      raise exception 'an account is not as the chart of accounts says'
        using errcode = 'integrity_constraint_violation', constraint = 'accounts_are_charted', table = 'ledger_accounts';
    end if;
    return null;
  end $$;

-- As before, and each leg is entered on the word that its movement needs; then the balances follow from the legs.
create or replace function require_whole_journals() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    is_whole boolean; is_open boolean; is_permitted boolean; is_reversal boolean; has_manual boolean;
    of_rail boolean; of_person boolean;
  begin
    select bool_and(t.is_whole), bool_and(t.is_open), bool_and(t.is_permitted), bool_or(t.is_reversal), bool_or(t.has_manual),
        bool_or(t.of_rail), bool_or(t.of_person)
      into is_whole, is_open, is_permitted, is_reversal, has_manual, of_rail, of_person
    from (
      select coalesce(j.legs = count(*) and j.legs = max(a.leg), false) as is_whole,
        coalesce(min(a.created_at) > (select max(c.until) from book_closings c), true) as is_open,
        bool_and(r.on_word_of is not null) as is_permitted,
        j.kind = 'journal_reversal' as is_reversal,
        bool_or(r.is_manual) as has_manual,
        bool_or(r.on_word_of = 'rail') as of_rail, bool_or(r.on_word_of = 'person') as of_person
      from added a
        left join journals j on j.tenant_id = a.tenant_id and j.journal_id = a.journal_id
        left join posting_rules r on r.journal_kind = j.kind and r.leg_kind = a.kind
          and r.debit_kind = split_part(a.debit_account_id, ':', 1)
          and r.credit_kind = split_part(a.credit_account_id, ':', 1)
      group by a.tenant_id, a.journal_id, j.legs, j.kind) t;
    if not is_whole then
      raise exception 'a journal has other legs than it names'
        using errcode = 'integrity_constraint_violation', constraint = 'journals_are_whole', table = 'ledger_transfers';
    end if;
    if not is_open then
      raise exception 'the period is closed'
        using errcode = 'integrity_constraint_violation', constraint = 'period_is_open', table = 'ledger_transfers';
    end if;
    if not is_permitted then
      raise exception 'a journal of this kind does not move these accounts'
        using errcode = 'integrity_constraint_violation', constraint = 'postings_are_permitted', table = 'ledger_transfers';
    end if;
    if of_person and not acts_for_operators() or of_rail and not is_rail() and not acts_for_operators() then
      raise exception 'a journal of this kind is entered on the word of %',
          case when of_rail then 'the bank or the card network' else 'an operator' end
        using errcode = 'integrity_constraint_violation', constraint = 'postings_have_a_source', table = 'ledger_transfers';
    end if;
    if is_reversal and exists (
      select from added a join journals j on j.tenant_id = a.tenant_id and j.journal_id = a.journal_id
        left join ledger_transfers o on o.tenant_id = j.tenant_id and o.journal_id = j.reverses and o.leg = a.leg
        left join journals r on r.tenant_id = j.tenant_id and r.journal_id = j.reverses and r.legs = j.legs
      where j.kind = 'journal_reversal' and ((o.debit_account_id, o.credit_account_id, o.amount, o.unit)
          is distinct from (a.credit_account_id, a.debit_account_id, a.amount, a.unit)
        or not exists (select from posting_rules p where p.journal_kind = r.kind and p.is_reversible))
    ) then
      raise exception 'a reversal mirrors a journal that can be reversed'
        using errcode = 'integrity_constraint_violation', constraint = 'reversals_mirror', table = 'ledger_transfers';
    end if;
    if has_manual and exists (
      select from (
        select a.tenant_id, a.journal_id, sum(a.amount) as amount from added a group by a.tenant_id, a.journal_id) t
      join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
        and j.kind in (select p.journal_kind from posting_rules p where p.is_manual)
      join approval_limit l on t.amount > l.above_paise
      where not exists (
        select from approvals p
        where p.tenant_id = j.tenant_id and p.journal_id = j.journal_id and p.kind = j.kind
          and p.amount_paise = t.amount
          and p.reference = case j.kind
            when 'merchant_refund_failed' then 'rfd_' || substr(j.reverses, 5)
            when 'dispute_won' then 'dsp_' || substr(j.reverses, 5)
            -- A reference that is entered again after its journal was reversed has a number behind it.
            else split_part(coalesce(j.reverses, j.reference), '~', 1) end)
      and not exists (
        select from bank_credits b
        where b.partner_id = j.tenant_id and b.journal_id = j.journal_id and j.kind = 'card_funding'
          and b.amount_paise = t.amount and b.utr = split_part(j.reference, '~', 1))
      and not exists (
        select from merchant_refunds r
        where r.merchant_id = j.tenant_id and r.refund_id = 'rfd_' || substr(j.reverses, 5)
          and j.kind = 'merchant_refund_failed' and r.amount_paise = t.amount and r.outcome_notice is not null)
      and not exists (
        select from disputes d
        where d.merchant_id = j.tenant_id and d.dispute_id = 'dsp_' || substr(j.reverses, 5)
          and j.kind = 'dispute_won' and d.amount_paise = t.amount and d.outcome_notice is not null)
    ) then
      raise exception 'a posting above the limit needs the approval of a second person'
        using errcode = 'integrity_constraint_violation', constraint = 'postings_are_approved', table = 'journals';
    end if;
    -- The accounts are locked by the transaction already, or it opened them.
    with changes as (
      select s.tenant_id, s.account_id, s.unit, sum(s.amount)::bigint as amount
      from added a cross join lateral (values (a.tenant_id, a.debit_account_id, a.unit, - a.amount),
        (a.tenant_id, a.credit_account_id, a.unit, a.amount)) as s (tenant_id, account_id, unit, amount)
      group by s.tenant_id, s.account_id, s.unit order by s.account_id)
    update ledger_accounts l set balance = l.balance + c.amount from changes c
      where l.account_id = c.account_id and l.tenant_id = c.tenant_id and l.unit = c.unit;
    return null;
  end $$;

-- Triggers of a table run by name: what asks for balances runs behind what makes them.
drop trigger closed_tenants_reopen on ledger_transfers;
create trigger moved_money_reopens_tenants after insert on ledger_transfers referencing new table as added
  for each statement execute function reopen_closed_tenants();

revoke execute on all functions in schema svc from public;
