-- An approval is of one posting, once (decision R10), whichever login changes it: what it is of stays, a decision stays,
-- and so does the journal that it allowed. An approved posting that was not posted yet can still be rejected.
create function refuse_changed_approval() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if (new.tenant_id, new.approval_id, new.kind, new.amount_paise, new.reference, new.request, new.reason,
        new.requested_by, new.requested_at, new.expires_at)
      is distinct from (old.tenant_id, old.approval_id, old.kind, old.amount_paise, old.reference, old.request,
        old.reason, old.requested_by, old.requested_at, old.expires_at)
      or old.journal_id is not null and new is distinct from old
      or old.outcome is not null
        and (new.outcome, new.decided_by, new.decided_at) is distinct from (old.outcome, old.decided_by, old.decided_at)
        and not (old.outcome = 'APPROVED' and new.outcome = 'REJECTED' and new.journal_id is null)
    then
      raise exception 'what an approval is of, its decision and its journal do not change'
        using errcode = 'integrity_constraint_violation', constraint = 'approvals_are_final', table = 'approvals';
    end if;
    return new;
  end $$;
create trigger approvals_are_final before update on approvals for each row execute function refuse_changed_approval();

-- As before, for withdrawals, opening balances and adjustments too. The legs of a manual posting have the kind of their
-- journal: under another kind they passed the limit. What the bank reports by a signed notice needs no approval.
create or replace function require_whole_journals() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    manual constant text[] := array['card_funding', 'card_withdrawal', 'opening_balance', 'suspense_assigned',
      'suspense_returned', 'journal_reversal', 'payment_adjustment'];
  begin
    if exists (
      select from (
        select a.tenant_id, a.journal_id, count(*) as legs, max(a.leg) as last, min(a.kind) as kind, max(a.kind) as other
        from added a group by a.tenant_id, a.journal_id) t
      left join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
      where j.legs is distinct from t.legs or j.legs is distinct from t.last
        or (j.kind = any (manual) or t.kind = any (manual) or t.other = any (manual))
          and (j.kind <> t.kind or j.kind <> t.other)
    ) then
      raise exception 'a journal has other legs than it names'
        using errcode = 'integrity_constraint_violation', constraint = 'journals_are_whole', table = 'ledger_transfers';
    end if;
    if exists (select from added a where a.created_at <= (select max(c.until) from book_closings c)) then
      raise exception 'the period is closed'
        using errcode = 'integrity_constraint_violation', constraint = 'period_is_open', table = 'ledger_transfers';
    end if;
    if exists (select from added a where a.kind = any (manual)) and exists (
      select from (
        select a.tenant_id, a.journal_id, sum(a.amount) as amount from added a
        where a.kind = any (manual) group by a.tenant_id, a.journal_id) t
      join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
      join approval_limit l on t.amount > l.above_paise
      where not exists (
        select from approvals p
        where p.tenant_id = j.tenant_id and p.journal_id = j.journal_id and p.kind = j.kind
          and p.amount_paise = t.amount
          -- A reference that is entered again after its journal was reversed has a number behind it.
          and p.reference = split_part(coalesce(j.reverses, j.reference), '~', 1))
      and not exists (
        select from bank_credits b
        where b.partner_id = j.tenant_id and b.journal_id = j.journal_id and j.kind = 'card_funding'
          and b.amount_paise = t.amount and b.utr = split_part(j.reference, '~', 1))
    ) then
      raise exception 'a posting above the limit needs the approval of a second person'
        using errcode = 'integrity_constraint_violation', constraint = 'postings_are_approved', table = 'journals';
    end if;
    return null;
  end $$;

-- What decides how much one person may post, and how long records are kept, is in the audit when it changes.
alter table approval_limit add column what text not null default 'postings';
create constraint trigger audited after insert or update or delete on approval_limit deferrable initially deferred
  for each row execute function audit_change('approval_limit', 'what', '', 'above_paise');
create constraint trigger audited after insert or update or delete on retention deferrable initially deferred
  for each row execute function audit_change('retention', 'what', '', 'keep,rows');

revoke execute on all functions in schema svc from public;
