-- Of an erased user nothing personal is stored any more, and no card is issued (decision C23). Commands see to it; these
-- refuse what would slip past them.
create function refuse_text_of_erased() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if exists (
      select from users u
      where u.partner_id = new.partner_id and u.user_id = new.user_id and u.erased_at is not null)
    then
      raise exception 'nothing is written about an erased user'
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return null;
  end $$;
create function refuse_reason_of_erased() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if exists (
      select from cards c join users u on u.partner_id = c.partner_id and u.user_id = c.user_id
      where c.partner_id = new.partner_id and c.svc_card_id = new.svc_card_id and u.erased_at is not null)
    then
      raise exception 'nothing is written about an erased user'
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return null;
  end $$;

create trigger erased_users_get_no_card after insert on cards
  for each row execute function refuse_text_of_erased();
create trigger erased_users_have_no_holder after update of holder, remarks on cards for each row
  when ((new.holder <> '{}' and new.holder <> old.holder) or (new.remarks <> '' and new.remarks <> old.remarks))
  execute function refuse_text_of_erased();
create trigger erased_users_have_no_reasons after insert or update of reason on card_changes for each row
  when (new.reason <> '') execute function refuse_reason_of_erased();
create trigger erased_users_have_no_reasons after insert or update of reason on coin_voids for each row
  when (new.reason <> '') execute function refuse_text_of_erased();

revoke execute on all functions in schema svc from public;
