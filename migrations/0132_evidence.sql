-- Proof of what comes from the world (decision R19).

-- Signed messages are stored by the rail's login alone. What operators do with one that waits in quarantine, they do with
-- the bytes that are stored there.
create function refuse_unsigned() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    raise exception 'only what the bank or the network signed is stored here, by the login of the rails'
      using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
  end $$;
create trigger stored_by_the_rail before insert on bank_credits for each statement
  when (not is_rail()) execute function refuse_unsigned();
create trigger stored_by_the_rail before insert on card_messages for each statement
  when (not is_rail()) execute function refuse_unsigned();

create function require_stored_notice() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if tg_table_name = 'rail_notices' then
      -- The same one again, which `on conflict do nothing` leaves as it is.
      if exists (select from rail_notices n where n.tenant_id = new.tenant_id and n.notice_id = new.notice_id
          and n.body = new.body) then return new; end if;
    elsif tg_table_name = 'disputes' and tg_op = 'INSERT' then
      if exists (select from rail_notices n where n.body = new.notice and n.flags && array['dispute_notice']
          and position(convert_to(new.case_reference, 'UTF8') in n.body) > 0) then
        return new;
      end if;
    -- It is about what it ends: the bytes of another notice prove nothing.
    elsif exists (select from rail_notices n where n.body = new.outcome_notice and position(convert_to(
        coalesce(to_jsonb(new) ->> 'case_reference', to_jsonb(new) ->> 'refund_id'), 'UTF8') in n.body) > 0) then
      return new;
    end if;
    raise exception 'no such signed notice was received'
      using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
  end $$;
create trigger notices_were_received before insert on rail_notices for each row
  when (not is_rail()) execute function require_stored_notice();
create trigger notices_were_received before insert on disputes for each row
  when (not is_rail()) execute function require_stored_notice();
create trigger outcomes_were_received before update of outcome_notice on disputes for each row
  when (new.outcome_notice is distinct from old.outcome_notice and not is_rail()) execute function require_stored_notice();
create trigger outcomes_were_received before update of outcome_notice on merchant_refunds for each row
  when (new.outcome_notice is distinct from old.outcome_notice and not is_rail()) execute function require_stored_notice();
create trigger born_without_outcome before insert on merchant_refunds for each row
  when (new.outcome_notice is not null and not is_rail()) execute function refuse_unsigned();
create trigger born_without_outcome before insert on disputes for each row
  when (new.outcome_notice is not null and not is_rail()) execute function refuse_unsigned();

-- A payment that the rail's login does not store is one that operators assigned: its notice waited in quarantine and is
-- assigned to it by the end of the transaction (and above the limit approved: `assignments_are_approved`); or it is the
-- second half of a credit in the platform's suspense, of the same money.
create function require_assigned_payment() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not exists (
      select from rail_notices n
      where n.body = new.notice and n.status = 'ASSIGNED' and n.payment_id = new.payment_id
      union all
      select from payments c join payments p on p.payment_id = c.assigned_from and p.status = 'ASSIGNED'
        and p.amount_paise = c.amount_paise and p.utr = c.utr
      where c.merchant_id = new.merchant_id and c.payment_id = new.payment_id and c.notice is null)
    then
      raise exception 'a payment has no signed notice'
        using errcode = 'integrity_constraint_violation', constraint = 'payments_were_notified', table = 'payments';
    end if;
    return null;
  end $$;
create constraint trigger payments_were_notified after insert on payments deferrable initially deferred for each row
  when (not is_rail()) execute function require_assigned_payment();

-- What operators enter on the word of the world has the row that says so, of the same amount, by the end of the
-- transaction. A row is one journal's: journals of these kinds are named after it, and a second one finds its name taken.
create function require_proof() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    id text := substr(new.journal_id, 5, 26);
    total bigint;
    proven boolean;
  begin
    select sum(t.amount) into total from ledger_transfers t
      where t.tenant_id = new.tenant_id and t.journal_id = new.journal_id;
    proven := case
      when new.kind in ('upi_credit', 'suspense_assigned', 'suspense_returned', 'upi_refund') then exists (
        select from payments p where p.merchant_id = new.tenant_id and p.payment_id = new.object_id
          and p.amount_paise = new.amount and p.status = any (case new.kind
            when 'upi_refund' then array['REFUNDED'] when 'suspense_returned' then array['REFUND_PENDING', 'REFUNDED']
            when 'suspense_assigned' then array['ACCEPTED', 'ASSIGNED']
            else array['ACCEPTED', 'REFUND_PENDING', 'SUSPENSE'] end))
      when new.kind like 'merchant\_refund\__%' then exists (
        select from merchant_refunds r where r.merchant_id = new.tenant_id and r.refund_id = 'rfd_' || id
          and r.refund_id = new.object_id and r.amount_paise = total
          and case new.kind when 'merchant_refund_failed' then r.status = 'FAILED'
            when 'merchant_refund_late' then r.refunded_late_at is not null else r.status = 'REFUNDED' end)
      when new.kind in ('dispute', 'dispute_won', 'dispute_lost', 'dispute_overturned') then exists (
        select from disputes d where d.merchant_id = new.tenant_id and d.dispute_id = 'dsp_' || id
          and d.amount_paise = total and case new.kind when 'dispute' then true when 'dispute_lost'
            then d.status in ('LOST', 'ACCEPTED', 'WON') else d.status = 'WON' end)
      when new.kind = 'payment_adjustment' then exists (
        select from payment_adjustments a where a.merchant_id = new.tenant_id and a.adjustment_id = new.object_id
          and abs(a.change_paise) = total)
      when new.kind = 'opening_balance' then exists (
        select from opening_balances o where o.tenant_id = new.tenant_id and o.journal_id = new.journal_id
          and o.amount_paise = new.amount and o.account_id = new.credit_account_id)
      when new.kind in ('payout', 'payout_restored', 'payout_released', 'payout_paid', 'payout_returned',
          'payout_paid_late') then exists (
        select from payouts y where y.merchant_id = new.tenant_id and y.payout_id = new.object_id
          and substr(y.payout_id, 5) = id
          and case when 'payouts_in_transit:' || y.merchant_id in (new.debit_account_id, new.credit_account_id)
              or new.kind = 'payout_paid_late' then new.amount = y.amount_paise else true end
          and case new.kind when 'payout' then true
            when 'payout_released' then y.status in ('FAILED', 'CANCELLED') or y.failed_at is not null
            when 'payout_returned' then y.returned_at is not null
            when 'payout_paid_late' then y.paid_late_at is not null
            else y.status = 'PAID' or y.returned_at is not null end)
      when new.kind = 'card_replacement' then exists (
        select from cards c where c.partner_id = new.tenant_id and 'card:' || c.svc_card_id = new.debit_account_id
          and 'card:' || c.replaced_by = new.credit_account_id)
      else true end;
    if not proven then
      raise exception 'nothing proves this journal of kind %', new.kind
        using errcode = 'integrity_constraint_violation', constraint = 'postings_are_proven', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger postings_are_proven after insert on ledger_transfers deferrable initially deferred for each row
  when (not is_rail() and new.unit = 'INR' and new.kind not in ('card_load', 'card_spend', 'card_refund', 'merchant_refund'))
  execute function require_proof();

revoke execute on all functions in schema svc from public;
