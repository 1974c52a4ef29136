-- What an operator reads in a notice in quarantine becomes money at an amount that one person typed: above the limit its
-- assignment needs the approval of a second person, of that notice, its journal and amount (decision R10). What a notice
-- is about says its flags, which the service's login cannot change; a refund, a dispute and a transfer have rules of their
-- own. Checked where the notice is assigned, since each payment would otherwise pay for it.
create function require_approved_assignment() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not new.flags && array['refund_notice', 'dispute_notice', 'transfer_notice'] and not coalesce((
      select bool_and(l.above_paise is null or t.amount <= l.above_paise or exists (
        select from approvals p
        where p.tenant_id = t.tenant_id and p.journal_id = t.journal_id and p.kind = 'notice_assigned'
          and p.amount_paise = t.amount and p.reference = new.notice_id))
      from ledger_transfers t cross join approval_limit l
      where t.object_id = new.payment_id and t.kind = 'upi_credit'), false)
    then
      raise exception 'a notice assigned above the limit needs the approval of a second person'
        using errcode = 'integrity_constraint_violation', constraint = 'assignments_are_approved', table = 'rail_notices';
    end if;
    return null;
  end $$;
create trigger assignments_are_approved after insert or update of status, payment_id on rail_notices
  for each row when (new.status = 'ASSIGNED') execute function require_approved_assignment();

revoke execute on all functions in schema svc from public;
