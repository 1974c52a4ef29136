-- What ended outside: card exceptions that the network settled, advances that a merchant repaid, and what was written off
-- (decision R17). And outcomes that make money payable again: above the limit they need a second person, unless the bank
-- reported them by a signed notice, which is stored with what it ended (decision R10).

-- the notice, as the bank signed it, by which the refund failed; null: an operator recorded it, or before this was kept
alter table merchant_refunds add column outcome_notice bytea;
-- the same of the notice by which the dispute was won
alter table disputes add column outcome_notice bytea;
grant update (outcome_notice) on merchant_refunds to svc_service;
grant update (outcome_notice) on disputes to svc_service;

-- An advance that ended outside is not deducted by a payout any more; one whose settlement was reversed is again.
alter table payout_lines drop constraint payout_lines_kind_check;
alter table payout_lines add constraint payout_lines_kind_check check (
  kind in ('payment', 'refund', 'refund_failed', 'dispute', 'dispute_won', 'opening_balance', 'adjustment_up',
    'adjustment_down', 'advance_settled', 'advance_reopened')) not valid;

-- Money that came in under a reference, for whichever tenant: a transfer that repays an advance funds no card account.
-- Entered again after a reversal, it has a number behind it.
create or replace function directory_fundings(refs text[])
  returns table (partner_id text, reference text, journal_id text, transfer_id text, card_account_id text,
    amount_paise bigint, created_at timestamptz, reversed boolean)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select j.tenant_id, w.reference, j.journal_id, t.transfer_id, t.object_id, t.amount, t.created_at,
      exists (select from journals r where r.tenant_id = j.tenant_id and r.reverses = j.journal_id)
    from (select distinct * from unnest(refs)) as w (reference)
    cross join generate_series(1, 9) as entry
    join journals j on j.kind in ('card_funding', 'advance_repaid')
      and j.reference = w.reference || case when entry = 1 then '' else '~' || entry end
    join ledger_transfers t on t.tenant_id = j.tenant_id and t.journal_id = j.journal_id
  $$;

-- As before, for what ended outside, for refunds that failed and for disputes that were won too.
create or replace function require_whole_journals() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    manual constant text[] := array['card_funding', 'card_withdrawal', 'opening_balance', 'suspense_assigned',
      'suspense_returned', 'journal_reversal', 'payment_adjustment', 'exception_settled', 'exception_written_off',
      'advance_repaid', 'advance_written_off', 'merchant_refund_failed', 'dispute_won'];
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
    return null;
  end $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_fundings to svc_service;
