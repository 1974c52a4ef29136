-- Lines of settlement files of which no payment was known, and whose payment has arrived since: whose it is, and the line
-- as the bank's file has it. A line that was recorded for that tenant meanwhile is not among them.
create function directory_settlement_found(most integer)
  returns table (tenant_id text, file_id text, utr text, line integer, amount_paise bigint, settled_on date)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select p.merchant_id, l.file_id, l.utr, l.line, l.amount_paise, l.settled_on
    from settlement_lines l join payments p on p.utr = l.utr and p.assigned_from is null
    where l.status = 'UNKNOWN' and not exists (
      select from settlement_lines m
      where m.tenant_id = p.merchant_id and m.utr = l.utr and m.status <> 'UNKNOWN')
    order by l.recorded_at, l.utr limit most
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_settlement_found to svc_service;
