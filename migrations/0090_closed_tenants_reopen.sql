-- Money that comes to a closed tenant, such as a payout that its bank returned, takes its ordinary way out: the tenant is
-- closing again until nothing of it is open (decision A14). The kinds are those that keep a tenant from being closed.
create function reopen_closed_tenants() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if exists (select from added a join tenants t using (tenant_id) where t.closed_at is not null) then
      update tenants t set closed_at = null
      where t.closed_at is not null and exists (
        select from added a join ledger_accounts l
          on l.tenant_id = a.tenant_id and l.account_id in (a.debit_account_id, a.credit_account_id)
        where a.tenant_id = t.tenant_id and l.balance <> 0 and l.kind in (
          'payable', 'payouts_in_transit', 'upi_refunds', 'suspense', 'disputes', 'merchant_advances',
          'payout_exceptions', 'refund_exceptions', 'card_funding', 'card', 'unclaimed', 'card_exceptions'));
    end if;
    return null;
  end $$;
create trigger closed_tenants_reopen after insert on ledger_transfers referencing new table as added
  for each statement execute function reopen_closed_tenants();

create function audit_reopened() returns trigger
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  begin
    perform append_entry('service', 'tenant.reopened', new.tenant_id, new.tenant_id,
      nullif(current_setting('svc.request_id', true), ''), null, clock_timestamp());
    return null;
  end $$;
create constraint trigger reopened after update on tenants deferrable initially deferred
  for each row when (old.closed_at is not null and new.closed_at is null and new.closing_at is not null)
  execute function audit_reopened();

revoke execute on all functions in schema svc from public;
