-- A payment is charged by the fee that was in force when it was accepted (decision Q15): fees are entered and never
-- changed, and none is of a payment that came before it.
alter table merchant_fees drop constraint merchant_fees_pkey;
alter table merchant_fees add constraint merchant_fees_pkey primary key using index merchant_fees_recorded;

-- payments accepted before it are not charged by it; null: entered before this was recorded, or nothing is charged
-- because the merchant is closing
alter table merchant_fees add column charges_from timestamptz;
create function fee_is_of_later_payments() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if tg_op <> 'INSERT' then
      raise exception 'a fee is not changed: another one is entered' using errcode = 'check_violation';
    end if;
    new.created_at := clock_timestamp();
    new.charges_from := new.created_at;
    if new.basis_points = 0 and new.fixed_paise = 0 and exists (
      select from tenants where tenant_id = new.merchant_id and closing_at is not null) then
      new.charges_from := null;
    end if;
    return new;
  end $$;
create trigger fee_of_later_payments before insert or update or delete on merchant_fees
  for each row execute function fee_is_of_later_payments();
revoke update on merchant_fees from svc_operator;

revoke execute on all functions in schema svc from public;
