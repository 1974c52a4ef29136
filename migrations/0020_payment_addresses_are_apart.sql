-- A credit that fits no code is of the merchant whom the payer paid, in any case of letters: an address is one merchant's,
-- also one that waits. Otherwise one person who registers another merchant with it gets what is paid to the first (decision
-- O8).
create function keep_addresses_apart() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    named text[] := array[lower(new.vpa collate "C"), lower(new.next_vpa collate "C")];
  begin
    perform pg_advisory_xact_lock(hashtextextended('svc payment addresses', 0));
    if exists (select from merchants m where m.merchant_id <> new.merchant_id
      and (lower(m.vpa collate "C") = any (named) or lower(m.next_vpa collate "C") = any (named)))
    then
      raise exception 'another merchant has this payment address, or waits for it'
        using errcode = 'unique_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return new;
  end $$;
create trigger addresses_are_apart before insert on merchants for each row execute function keep_addresses_apart();
create trigger next_addresses_are_apart before update on merchants for each row
  when (new.next_vpa is distinct from old.next_vpa and new.next_vpa is not null) execute function keep_addresses_apart();
revoke execute on all functions in schema svc from public;
