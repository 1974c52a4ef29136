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

-- The steps of a closing, also those made with `psql`. A command that records its step itself says why: then nothing is
-- added. Enabling ends a closing too and has its own entry. Only what the trigger above reopens is named the service's: it
-- alone runs as the owner, inside another statement.
create function audit_closing() returns trigger
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  declare
    verb text := 'tenant.' || case
      when new.closing_at is null then 'changed'
      when old.closed_at is not null and new.closed_at is null then 'reopened'
      when old.closed_at is null and new.closed_at is not null then 'closed'
      when old.closing_at is null then 'closing'
      else 'changed' end;
    actor text := coalesce(tg_argv[0],
      case when acts_for_operators() then nullif(current_setting('svc.actor', true), '') end,
      'role ' || session_user);
    shown jsonb;
  begin
    if exists (
      select from audit_log a
      where a.target = new.tenant_id and a.action = verb and a.xmin = pg_current_xact_id()::xid)
    then
      return null;
    end if;
    select jsonb_object_agg(c.name, c.after) into shown
      from (values ('closing_at', to_jsonb(old.closing_at), to_jsonb(new.closing_at)),
        ('closed_at', to_jsonb(old.closed_at), to_jsonb(new.closed_at))) as c (name, before, after)
      where c.after is distinct from c.before;
    perform append_entry(actor, verb, new.tenant_id, new.tenant_id,
      nullif(current_setting('svc.request_id', true), ''), shown, clock_timestamp());
    return null;
  end $$;
create constraint trigger closing_audited after update on tenants deferrable initially deferred for each row
  when ((old.closing_at, old.closed_at) is distinct from (new.closing_at, new.closed_at)
    and (old.disabled_at is null or new.disabled_at is not null)
    and not (pg_trigger_depth() > 0 and current_user = 'svc_owner'))
  execute function audit_closing();
create constraint trigger reopened after update on tenants deferrable initially deferred for each row
  when (old.closed_at is not null and new.closed_at is null and pg_trigger_depth() > 0 and current_user = 'svc_owner')
  execute function audit_closing('service');

revoke execute on all functions in schema svc from public;
