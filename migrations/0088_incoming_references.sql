-- Places, as file and line, of lines of settlement files that a later one took the place of: imported again, they change
-- nothing (decision Q18).
alter table settlement_lines add column superseded text[] not null default '{}';
grant update (superseded) on settlement_lines to svc_service;

-- Money that came in under a reference, for whichever tenant: a transfer that repays an advance or settles what the bank paid
-- late funds no card account, nor does a payout that came back. Exceptions of cards are settled with the network, and not at the bank. Entered again after a
-- reversal, a reference has a number behind it.
create or replace function directory_fundings(refs text[])
  returns table (partner_id text, reference text, journal_id text, transfer_id text, card_account_id text,
    amount_paise bigint, created_at timestamptz, reversed boolean)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select j.tenant_id, w.reference, j.journal_id, t.transfer_id, t.object_id, t.amount, t.created_at,
      exists (select from journals r where r.tenant_id = j.tenant_id and r.reverses = j.journal_id)
    from (
      select distinct r as reference, r || case when n = 1 then '' else '~' || n end as entry
      from unnest(refs) as r cross join generate_series(1, 9) as n) as w
    -- By the reference first, whatever the planner knows of the tables.
    cross join lateral (
      select tenant_id, journal_id, kind from journals
      where kind in ('card_funding', 'advance_repaid', 'exception_settled', 'payout_returned') and reference = w.entry offset 0) as j
    cross join lateral (
      select transfer_id, object_id, amount, created_at, debit_account_id from ledger_transfers
      where tenant_id = j.tenant_id and journal_id = j.journal_id offset 0) as t
    where j.kind <> 'exception_settled' or t.debit_account_id = 'bank:' || j.tenant_id
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_fundings to svc_service;
