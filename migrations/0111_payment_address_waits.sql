-- Whoever changes the payment address of a merchant redirects its money (decision O8): a new address waits for as long as
-- the limit says, the merchant is notified, and until then anyone of both sides can take it back.
alter table merchants
  add column next_vpa text,
  -- when it takes the place of the present one
  add column next_vpa_from timestamptz,
  add column next_vpa_by text;

create function payment_address_waits() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if new.vpa is distinct from old.vpa then
      if old.next_vpa is distinct from new.vpa or old.next_vpa_from > clock_timestamp() then
        raise exception 'a payment address changes when its waiting time is over'
          using errcode = 'integrity_constraint_violation', constraint = 'payment_address_waits', table = 'merchants';
      end if;
      new.next_vpa := null;
    end if;
    if new.next_vpa is null then
      new.next_vpa_from := null;
      new.next_vpa_by := null;
    elsif new.next_vpa is distinct from old.next_vpa then
      if not has_column_privilege('svc.merchants', 'name', 'update') then
        raise exception 'only operators enter a payment address' using errcode = 'insufficient_privilege';
      end if;
      new.next_vpa_from := clock_timestamp() + (select cooling_days from approval_limit) * interval '1 day';
      new.next_vpa_by := coalesce(nullif(current_setting('svc.actor', true), ''), 'role ' || session_user);
    else
      new.next_vpa_from := old.next_vpa_from;
      new.next_vpa_by := old.next_vpa_by;
    end if;
    return new;
  end $$;
-- the merchant takes back what waits
grant update (next_vpa) on merchants to svc_service;
create trigger payment_address_waits before update on merchants
  for each row execute function payment_address_waits();
drop trigger audited on merchants;
create constraint trigger audited after insert or update or delete on merchants deferrable initially deferred
  for each row execute function audit_change('merchant', 'merchant_id', 'merchant_id',
    'name,vpa,mcc,linked_partner_id,next_vpa,next_vpa_from');

revoke execute on all functions in schema svc from public;
