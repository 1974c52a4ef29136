-- What rows of money say of themselves decides what leaves (decision R19): their states follow their steps, on the word of
-- the bank or of an operator, and with the journal of what they say. The service's login inserts and reads them.

create or replace function require_operator() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not acts_for_operators() then
      raise exception 'the login of operators alone enters this'
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return null;
  end $$;
create trigger by_an_operator before insert or update on payout_lines for each statement execute function require_operator();
create trigger by_an_operator before insert on payment_adjustments for each statement execute function require_operator();
create trigger by_an_operator before insert or update on opening_balances for each statement
  execute function require_operator();
create trigger by_an_operator before insert on unassignments for each statement execute function require_operator();

-- From which state a row comes to which. A refund that the bank reported as failed may have been made after all.
create function require_source() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not acts_for_operators() or new.status <> old.status and old.status || ' > ' || new.status <> all (case tg_table_name
        when 'merchant_refunds' then array['PENDING > SENT', 'PENDING > REFUNDED', 'PENDING > FAILED', 'SENT > REFUNDED',
          'SENT > FAILED', 'FAILED > REFUNDED']
        when 'payments' then array['SUSPENSE > ACCEPTED', 'SUSPENSE > ASSIGNED', 'SUSPENSE > REFUND_PENDING',
          'SUSPENSE > REFUNDED', 'REFUND_PENDING > REFUNDED', 'ACCEPTED > SUSPENSE', 'ACCEPTED > UNASSIGNED',
          'ASSIGNED > SUSPENSE']
        else array['OPEN > WON', 'EVIDENCE_SUBMITTED > WON', 'LOST > WON'] end)
    then
      raise exception '% does not come from % to % like this', tg_table_name, old.status, new.status
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return new;
  end $$;
create trigger states_have_a_source before update on merchant_refunds for each row
  when (not is_rail()) execute function require_source();
create trigger states_have_a_source before update on payments for each row
  when ((new.status, new.adjusted_paise, new.assigned_from, new.taken_back, new.reason, new.resolved_at, new.refunded_at)
    is distinct from (old.status, old.adjusted_paise, old.assigned_from, old.taken_back, old.reason, old.resolved_at,
      old.refunded_at) and not is_rail()) execute function require_source();
create trigger states_have_a_source before update on disputes for each row
  when (new.status <> old.status and (new.status = 'WON' or old.closed_at is not null) and not is_rail())
  execute function require_source();

-- What went to the bank went in one file.
create function keep_run() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    raise exception 'a run is named when it is sent'
      using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
  end $$;
create trigger runs_are_named_once before update on merchant_refunds for each row
  when ((new.run_id, new.sent_at) is distinct from (old.run_id, old.sent_at) and not (old.status = 'PENDING' and new.status = 'SENT'))
  execute function keep_run();
create trigger runs_are_named_once before update on payouts for each row
  when ((new.run_id, new.sent_at) is distinct from (old.run_id, old.sent_at) and not (old.status = 'APPROVED' and new.status = 'SENT'))
  execute function keep_run();

-- What an operator's login says of a row is in the ledger by the end of the transaction.
create function require_posted_state() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    said jsonb := to_jsonb(new);
    posted boolean;
  begin
    posted := case tg_table_name
      when 'merchant_refunds' then exists (
        select from journals j where j.tenant_id = new.merchant_id
          and j.journal_id = 'jrn_' || substr(said ->> 'refund_id', 5) || case said ->> 'status' when 'FAILED' then 'f' else 'p' end)
      when 'disputes' then exists (
        select from journals j where j.tenant_id = new.merchant_id
          and j.journal_id = 'jrn_' || substr(said ->> 'dispute_id', 5) || 'w')
      when 'payout_lines' then exists (
        select from payouts y where y.merchant_id = new.merchant_id and y.payout_id = said ->> 'payout_id'
          and y.status in ('FAILED', 'CANCELLED'))
      when 'payment_adjustments' then (said ->> 'change_paise')::bigint in (
        select s.sign * sum(t.amount) from ledger_transfers t cross join (values (1), (-1)) s (sign)
        where t.tenant_id = new.merchant_id and t.object_id = said ->> 'adjustment_id' and t.kind = 'payment_adjustment'
        group by s.sign)
      else (said ->> 'adjusted_paise')::bigint is not distinct from (
        select coalesce(sum(a.change_paise), 0) from payment_adjustments a
        where a.merchant_id = new.merchant_id and a.payment_id = said ->> 'payment_id') end;
    if not posted then
      raise exception 'no journal says what a row of % says', tg_table_name
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return null;
  end $$;
create constraint trigger states_are_posted after update on merchant_refunds deferrable initially deferred for each row
  when (new.status <> old.status and new.status in ('FAILED', 'REFUNDED') and not is_rail())
  execute function require_posted_state();
create constraint trigger states_are_posted after update on disputes deferrable initially deferred for each row
  when (new.status <> old.status and new.status = 'WON' and not is_rail()) execute function require_posted_state();
create constraint trigger states_are_posted after update on payout_lines deferrable initially deferred for each row
  when (new.released and not old.released) execute function require_posted_state();
create constraint trigger states_are_posted after insert on payment_adjustments deferrable initially deferred for each row
  execute function require_posted_state();
create constraint trigger states_are_posted after update on payments deferrable initially deferred for each row
  when (new.adjusted_paise <> old.adjusted_paise) execute function require_posted_state();

-- What goes to the bank of a payment is no more than came in of it.
create or replace function require_refund_step() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if tg_op = 'INSERT' and new.status <> 'PENDING' or tg_op = 'UPDATE' and new.status = 'SENT' and (not acts_for_operators()
      or not exists (
        select from journals j where j.tenant_id = new.merchant_id and j.journal_id = 'jrn_' || substr(new.refund_id, 5)
          and j.kind = 'merchant_refund' and new.amount_paise = (
            select sum(t.amount) from ledger_transfers t
            where t.tenant_id = j.tenant_id and t.journal_id = j.journal_id and t.object_id = new.refund_id))
      or (select sum(r.amount_paise) from merchant_refunds r
          where r.merchant_id = new.merchant_id and r.payment_id = new.payment_id and r.status <> 'FAILED')
        > (select least(p.refund_paise, p.amount_paise + p.adjusted_paise) from payments p
          where p.merchant_id = new.merchant_id and p.payment_id = new.payment_id and p.status = 'ACCEPTED'))
    then
      raise exception 'a refund does not come to % like this', new.status
        using errcode = 'integrity_constraint_violation', constraint = 'refund_steps_are_taken', table = 'merchant_refunds';
    end if;
    return new;
  end $$;

-- What is said to be taken back is: a journal that reverses another has its legs by the end of the transaction.
create function require_legs() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not exists (
      select from ledger_transfers t where t.tenant_id = new.tenant_id and t.journal_id = new.journal_id)
    then
      raise exception 'a journal that reverses another one has no legs'
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return null;
  end $$;
create constraint trigger reversals_have_legs after insert on journals deferrable initially deferred for each row
  when (new.reverses is not null) execute function require_legs();

-- That who may act is decided by two is the owner's to loosen, too.
create or replace function keep_approval_limit() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if not pg_has_role(session_user, 'svc_owner', 'member') and (
      old.above_paise is not null and (new.above_paise is null or new.above_paise > old.above_paise)
      or new.cooling_days < old.cooling_days or old.administrators_by_two and not new.administrators_by_two)
    then
      raise exception 'only the owner of the schema loosens the limit'
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return new;
  end $$;

-- Who sets the tax state of a merchant, or the same account again, does not become who set its account: otherwise the one
-- who did could approve payouts to it.
create or replace function name_who_set_account() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if tg_op = 'UPDATE' and (new.account_holder, new.account_number, new.ifsc)
      = (old.account_holder, old.account_number, old.ifsc) then
      new.set_by := old.set_by;
    else
      new.set_by := coalesce(nullif(current_setting('svc.actor', true), ''), 'role ' || session_user);
    end if;
    return new;
  end $$;

-- Operators change what the program changes, and not who somebody is, whose a secret is, or who asked for something.
revoke update on tenants, api_keys, oauth_clients, partner_encryption_keys, merchants, partners, operators,
  operator_invitations, operator_passkeys, members, approvals from svc_operator;
grant update (disabled_at, closing_at, closed_at) on tenants to svc_operator;
grant update (revoked_at, expires_at) on api_keys, oauth_clients to svc_operator;
grant update (material, retired_at) on partner_encryption_keys to svc_operator;
grant update (name, vpa, mcc, linked_partner_id, next_vpa, next_vpa_from, next_vpa_by) on merchants to svc_operator;
grant update (name) on partners to svc_operator;
grant update (role, password_hash, disabled_at, last_sign_in_at) on operators to svc_operator;
grant update (accepted_at, operator_id, revoked_at) on operator_invitations to svc_operator;
grant update (sign_count, last_used_at) on operator_passkeys to svc_operator;
grant update (role, password_hash, disabled_at, last_sign_in_at, link_digest, link_expires_at, waiting_link) on members
  to svc_operator;
grant update (outcome, decided_by, decided_at, journal_id) on approvals to svc_operator;

revoke execute on all functions in schema svc from public;
