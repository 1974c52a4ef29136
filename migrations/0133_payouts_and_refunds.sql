-- Payouts and refunds take the steps of their tables, and what leaves is what their journals say (decision R19).

-- From which status a payout comes to which. A failed one may have been paid after all, a paid one may come back.
create table payout_steps (from_status text collate "C", to_status text collate "C", primary key (from_status, to_status));
insert into payout_steps values ('PREPARED', 'APPROVED'), ('PREPARED', 'CANCELLED'), ('APPROVED', 'SENT'),
  ('APPROVED', 'CANCELLED'), ('SENT', 'PAID'), ('SENT', 'FAILED'), ('FAILED', 'PAID'), ('PAID', 'FAILED');
grant select on payout_steps to svc_service, svc_operator;

create function require_payout_step() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not acts_for_operators() then
      raise exception 'payouts are the operators’'
        using errcode = 'integrity_constraint_violation', constraint = 'payouts_are_of_operators', table = 'payouts';
    end if;
    if tg_op = 'INSERT' and (new.status <> 'PREPARED' or num_nulls(new.approved_by, new.approved_at, new.run_id, new.utr,
        new.sent_at, new.completed_at, new.failed_at, new.paid_late_at, new.returned_at, new.return_utr) <> 10)
      or tg_op = 'UPDATE' and (new.status <> old.status and not exists (
          select from payout_steps s where s.from_status = old.status and s.to_status = new.status)
        or new.approved_by is distinct from old.approved_by and (old.status, new.status) <> ('PREPARED', 'APPROVED'))
    then
      raise exception 'a payout does not come to % like this', new.status
        using errcode = 'integrity_constraint_violation', constraint = 'payout_steps_are_taken', table = 'payouts';
    end if;
    -- What leaves is what its lines and its journal say, to the account that the merchant has had since it was prepared.
    if tg_op = 'UPDATE' and new.status in ('APPROVED', 'SENT') and new.status <> old.status and not exists (
      select from journals j
        join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id and t.kind = 'payout'
          and t.debit_account_id = 'payable:' || new.merchant_id
          and t.credit_account_id = 'payouts_in_transit:' || new.merchant_id and t.amount = new.amount_paise
      where j.tenant_id = new.merchant_id and j.journal_id = 'jrn_' || substr(new.payout_id, 5) and j.kind = 'payout'
        and new.amount_paise = (
          select coalesce(sum(case
            when l.kind in ('payment', 'opening_balance', 'adjustment_up', 'advance_settled', 'refund_failed', 'dispute_won')
              then l.amount_paise else - l.amount_paise end - l.fee_paise - l.cgst_paise - l.sgst_paise - l.igst_paise), 0)
          from payout_lines l where l.merchant_id = new.merchant_id and l.payout_id = new.payout_id and not l.released))
    then
      raise exception 'the lines and the journal of the payout % do not say its amount', new.payout_id
        using errcode = 'integrity_constraint_violation', constraint = 'payouts_add_up', table = 'payouts';
    end if;
    return new;
  end $$;
create trigger payout_steps_are_taken before insert or update on payouts for each row
  execute function require_payout_step();

-- What is sent to the bank was taken from the merchant, by a journal of its amount.
create function require_refund_step() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if tg_op = 'INSERT' and new.status <> 'PENDING' or tg_op = 'UPDATE' and new.status = 'SENT' and (not acts_for_operators()
      or not exists (
        select from journals j where j.tenant_id = new.merchant_id and j.journal_id = 'jrn_' || substr(new.refund_id, 5)
          and j.kind = 'merchant_refund' and new.amount_paise = (
            select sum(t.amount) from ledger_transfers t
            where t.tenant_id = j.tenant_id and t.journal_id = j.journal_id and t.object_id = new.refund_id))
      or new.amount_paise > (
        select p.refund_paise from payments p where p.merchant_id = new.merchant_id and p.payment_id = new.payment_id
          and p.status = 'ACCEPTED'))
    then
      raise exception 'a refund does not come to % like this', new.status
        using errcode = 'integrity_constraint_violation', constraint = 'refund_steps_are_taken', table = 'merchant_refunds';
    end if;
    return new;
  end $$;
create trigger refund_is_born_pending before insert on merchant_refunds for each row
  when (new.status <> 'PENDING') execute function require_refund_step();
create trigger refund_steps_are_taken before update of status on merchant_refunds for each row
  when (new.status = 'SENT' and old.status <> 'SENT') execute function require_refund_step();

revoke execute on all functions in schema svc from public;
