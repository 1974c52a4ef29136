-- A ledger that knows which accounts a journal may move (decision R19). Rows as the program's chart and rules have them,
-- `packages/core/src/ledger/posting-rules.ts`: a test compares both, and prints the statements that a change needs.
create table account_kinds (
  kind       text collate "C" primary key,
  unit       text not null,
  -- whether its balance never goes below nothing
  is_bounded boolean not null
);
insert into account_kinds (kind, unit, is_bounded) values
  ('upi_clearing', 'INR', false),
  ('funding_clearing', 'INR', false),
  ('bank', 'INR', false),
  ('payable', 'INR', true),
  ('upi_refunds', 'INR', true),
  ('suspense', 'INR', true),
  ('merchant_advances', 'INR', false),
  ('disputes', 'INR', true),
  ('inter_tenant', 'INR', false),
  ('payouts_in_transit', 'INR', true),
  ('payout_exceptions', 'INR', false),
  ('refund_exceptions', 'INR', false),
  ('fee_income', 'INR', true),
  ('tax_payable', 'INR', true),
  ('write_offs', 'INR', false),
  ('card_funding', 'INR', true),
  ('card', 'INR', true),
  ('unclaimed', 'INR', true),
  ('card_settlement', 'INR', false),
  ('card_exceptions', 'INR', false),
  ('coins_issued', 'COIN', false),
  ('coins', 'COIN', true),
  ('coins_pending', 'COIN', true),
  ('coins_redeemed', 'COIN', true),
  ('coins_expired', 'COIN', true);

-- A new account is what its name says, with the floor of its kind: after this an account's kind can be read from its id.
create function require_charted_account() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if exists (
      select from opened a left join account_kinds k on k.kind = split_part(a.account_id, ':', 1)
      where k.kind is distinct from a.kind or a.unit <> k.unit
        or a.floor is distinct from case when k.is_bounded then 0 end
    ) then
      raise exception 'an account is not as the chart of accounts says'
        using errcode = 'integrity_constraint_violation', constraint = 'accounts_are_charted', table = 'ledger_accounts';
    end if;
    return null;
  end $$;
create trigger accounts_are_charted after insert on ledger_accounts referencing new table as opened
  for each statement execute function require_charted_account();

-- What a journal may move.
create table posting_rules (
  journal_kind  text collate "C" not null,
  -- of the leg: only journals of the card network have others than their own
  leg_kind      text collate "C" not null,
  debit_kind    text collate "C" not null references account_kinds,
  credit_kind   text collate "C" not null references account_kinds,
  -- On whose word. `program`: it stays inside, or between people who already have the money. `rail`: it comes from the
  -- world or goes there, as the bank or the card network signed it. `person`: an operator decides it.
  on_word_of    text not null check (on_word_of in ('program', 'rail', 'person')),
  -- whether a second person approves it above the limit, where no signed message says it
  is_manual     boolean not null,
  -- whether a journal of kind `journal_reversal` may take it back
  is_reversible boolean not null,
  primary key (journal_kind, leg_kind, debit_kind, credit_kind)
);
insert into posting_rules
  (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible) values
  ('upi_credit', 'upi_credit', 'upi_clearing', 'payable', 'rail', false, false),
  ('upi_credit', 'upi_credit', 'upi_clearing', 'upi_refunds', 'rail', false, false),
  ('upi_credit', 'upi_credit', 'upi_clearing', 'suspense', 'rail', false, false),
  ('upi_credit', 'upi_credit', 'inter_tenant', 'payable', 'person', false, false),
  ('upi_refund', 'upi_refund', 'upi_refunds', 'upi_clearing', 'rail', false, false),
  ('upi_refund', 'upi_refund', 'suspense', 'upi_clearing', 'rail', false, false),
  ('suspense_assigned', 'suspense_assigned', 'suspense', 'payable', 'person', true, false),
  ('suspense_assigned', 'suspense_assigned', 'suspense', 'inter_tenant', 'person', true, false),
  ('suspense_returned', 'suspense_returned', 'suspense', 'upi_refunds', 'person', true, false),
  ('payment_adjustment', 'payment_adjustment', 'upi_clearing', 'payable', 'person', true, false),
  ('payment_adjustment', 'payment_adjustment', 'payable', 'upi_clearing', 'person', true, false),
  ('payment_adjustment', 'payment_adjustment', 'merchant_advances', 'upi_clearing', 'person', true, false),
  ('bank_settlement', 'bank_settlement', 'bank', 'upi_clearing', 'program', false, false),
  ('bank_settlement_reversed', 'bank_settlement_reversed', 'upi_clearing', 'bank', 'program', false, false),
  ('merchant_refund', 'merchant_refund', 'payable', 'upi_refunds', 'program', false, false),
  ('merchant_refund', 'merchant_refund', 'merchant_advances', 'upi_refunds', 'program', false, false),
  ('merchant_refund_paid', 'merchant_refund_paid', 'upi_refunds', 'upi_clearing', 'rail', false, false),
  ('merchant_refund_failed', 'merchant_refund_failed', 'upi_refunds', 'payable', 'rail', true, false),
  ('merchant_refund_failed', 'merchant_refund_failed', 'upi_refunds', 'merchant_advances', 'rail', true, false),
  ('merchant_refund_restored', 'merchant_refund_restored', 'payable', 'upi_refunds', 'rail', false, false),
  ('merchant_refund_restored', 'merchant_refund_restored', 'merchant_advances', 'upi_refunds', 'rail', false, false),
  ('merchant_refund_late', 'merchant_refund_late', 'refund_exceptions', 'upi_clearing', 'rail', false, false),
  ('dispute', 'dispute', 'payable', 'disputes', 'rail', false, false),
  ('dispute', 'dispute', 'merchant_advances', 'disputes', 'rail', false, false),
  ('dispute_lost', 'dispute_lost', 'disputes', 'upi_clearing', 'program', false, false),
  ('dispute_overturned', 'dispute_overturned', 'upi_clearing', 'disputes', 'rail', false, false),
  ('dispute_won', 'dispute_won', 'disputes', 'payable', 'rail', true, false),
  ('dispute_won', 'dispute_won', 'disputes', 'merchant_advances', 'rail', true, false),
  ('payout', 'payout', 'payable', 'fee_income', 'person', false, false),
  ('payout', 'payout', 'payable', 'tax_payable', 'person', false, false),
  ('payout', 'payout', 'payable', 'merchant_advances', 'person', false, false),
  ('payout', 'payout', 'merchant_advances', 'payable', 'person', false, false),
  ('payout', 'payout', 'payable', 'payouts_in_transit', 'person', false, false),
  ('payout_restored', 'payout_restored', 'payable', 'fee_income', 'person', false, false),
  ('payout_restored', 'payout_restored', 'payable', 'tax_payable', 'person', false, false),
  ('payout_restored', 'payout_restored', 'payable', 'merchant_advances', 'person', false, false),
  ('payout_restored', 'payout_restored', 'merchant_advances', 'payable', 'person', false, false),
  ('payout_restored', 'payout_restored', 'payable', 'payouts_in_transit', 'person', false, false),
  ('payout_released', 'payout_released', 'fee_income', 'payable', 'person', false, false),
  ('payout_released', 'payout_released', 'tax_payable', 'payable', 'person', false, false),
  ('payout_released', 'payout_released', 'merchant_advances', 'payable', 'person', false, false),
  ('payout_released', 'payout_released', 'payable', 'merchant_advances', 'person', false, false),
  ('payout_released', 'payout_released', 'payouts_in_transit', 'payable', 'person', false, false),
  ('payout_paid', 'payout_paid', 'payouts_in_transit', 'bank', 'person', false, false),
  ('payout_returned', 'payout_returned', 'bank', 'payouts_in_transit', 'person', false, false),
  ('payout_paid_late', 'payout_paid_late', 'payout_exceptions', 'bank', 'person', false, false),
  ('opening_balance', 'opening_balance', 'bank', 'payable', 'person', true, true),
  ('opening_balance', 'opening_balance', 'funding_clearing', 'card_funding', 'person', true, true),
  ('card_funding', 'card_funding', 'funding_clearing', 'card_funding', 'rail', true, true),
  ('card_withdrawal', 'card_withdrawal', 'card_funding', 'funding_clearing', 'person', true, true),
  ('card_load', 'card_load', 'card_funding', 'card', 'program', false, false),
  ('card_spend', 'card_spend', 'card', 'card_settlement', 'rail', false, false),
  ('card_refund', 'card_refund', 'card_settlement', 'card', 'rail', false, false),
  ('card_capture', 'card_spend', 'card', 'card_settlement', 'rail', false, false),
  ('card_capture', 'card_excess', 'card_exceptions', 'card_settlement', 'rail', false, false),
  ('card_advice', 'card_spend', 'card', 'card_settlement', 'rail', false, false),
  ('card_advice', 'card_excess', 'card_exceptions', 'card_settlement', 'rail', false, false),
  ('card_return', 'card_refund', 'card_settlement', 'card', 'rail', false, false),
  ('card_return', 'card_refund_excess', 'card_settlement', 'card_exceptions', 'rail', false, false),
  ('card_replacement', 'card_replacement', 'card', 'card', 'program', false, false),
  ('card_unclaimed', 'card_unclaimed', 'card', 'unclaimed', 'program', false, false),
  ('card_unclaimed_reversed', 'card_unclaimed_reversed', 'unclaimed', 'card', 'program', false, false),
  ('card_back_to_source', 'card_back_to_source', 'unclaimed', 'card_funding', 'program', false, false),
  ('exception_settled', 'exception_settled', 'card_settlement', 'card_exceptions', 'person', true, true),
  ('exception_settled', 'exception_settled', 'card_exceptions', 'card_settlement', 'person', true, true),
  ('exception_settled', 'exception_settled', 'bank', 'payout_exceptions', 'person', true, true),
  ('exception_settled', 'exception_settled', 'bank', 'refund_exceptions', 'person', true, true),
  ('exception_written_off', 'exception_written_off', 'write_offs', 'card_exceptions', 'person', true, true),
  ('exception_written_off', 'exception_written_off', 'card_exceptions', 'write_offs', 'person', true, true),
  ('exception_written_off', 'exception_written_off', 'write_offs', 'payout_exceptions', 'person', true, true),
  ('exception_written_off', 'exception_written_off', 'write_offs', 'refund_exceptions', 'person', true, true),
  ('advance_repaid', 'advance_repaid', 'bank', 'merchant_advances', 'person', true, true),
  ('advance_written_off', 'advance_written_off', 'write_offs', 'merchant_advances', 'person', true, true),
  ('coin_allocation', 'coin_allocation', 'coins_issued', 'coins', 'program', false, false),
  ('coin_allocation', 'coin_allocation', 'coins_issued', 'coins_pending', 'program', false, false),
  ('coin_activation', 'coin_activation', 'coins_pending', 'coins', 'program', false, false),
  ('coin_redemption', 'coin_redemption', 'coins', 'coins_redeemed', 'program', false, false),
  ('coin_expiry', 'coin_expiry', 'coins', 'coins_expired', 'program', false, false),
  ('coin_void', 'coin_void', 'coins', 'coins_issued', 'program', false, false),
  ('coin_void', 'coin_void', 'coins_pending', 'coins_issued', 'program', false, false),
  ('journal_reversal', 'journal_reversal', 'payable', 'bank', 'person', true, false),
  ('journal_reversal', 'journal_reversal', 'card_funding', 'funding_clearing', 'person', true, false),
  ('journal_reversal', 'journal_reversal', 'funding_clearing', 'card_funding', 'person', true, false),
  ('journal_reversal', 'journal_reversal', 'card_exceptions', 'card_settlement', 'person', true, false),
  ('journal_reversal', 'journal_reversal', 'card_settlement', 'card_exceptions', 'person', true, false),
  ('journal_reversal', 'journal_reversal', 'payout_exceptions', 'bank', 'person', true, false),
  ('journal_reversal', 'journal_reversal', 'refund_exceptions', 'bank', 'person', true, false),
  ('journal_reversal', 'journal_reversal', 'card_exceptions', 'write_offs', 'person', true, false),
  ('journal_reversal', 'journal_reversal', 'write_offs', 'card_exceptions', 'person', true, false),
  ('journal_reversal', 'journal_reversal', 'payout_exceptions', 'write_offs', 'person', true, false),
  ('journal_reversal', 'journal_reversal', 'refund_exceptions', 'write_offs', 'person', true, false),
  ('journal_reversal', 'journal_reversal', 'merchant_advances', 'bank', 'person', true, false),
  ('journal_reversal', 'journal_reversal', 'merchant_advances', 'write_offs', 'person', true, false);

grant select on account_kinds, posting_rules to svc_service, svc_operator;

-- As before, and each leg is a permitted movement, whichever login enters it. One pass over the legs says all that needs no
-- other table than these two.
create or replace function require_whole_journals() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    is_whole boolean; is_open boolean; is_permitted boolean; is_reversal boolean; has_manual boolean;
  begin
    select bool_and(t.is_whole), bool_and(t.is_open), bool_and(t.is_permitted), bool_or(t.is_reversal), bool_or(t.has_manual)
      into is_whole, is_open, is_permitted, is_reversal, has_manual
    from (
      select coalesce(j.legs = count(*) and j.legs = max(a.leg), false) as is_whole,
        coalesce(min(a.created_at) > (select max(c.until) from book_closings c), true) as is_open,
        bool_and(r.on_word_of is not null) as is_permitted,
        j.kind = 'journal_reversal' as is_reversal,
        bool_or(r.is_manual) as has_manual
      from added a
        left join journals j on j.tenant_id = a.tenant_id and j.journal_id = a.journal_id
        left join posting_rules r on r.journal_kind = j.kind and r.leg_kind = a.kind
          and r.debit_kind = split_part(a.debit_account_id, ':', 1)
          and r.credit_kind = split_part(a.credit_account_id, ':', 1)
      group by a.tenant_id, a.journal_id, j.legs, j.kind) t;
    if not is_whole then
      raise exception 'a journal has other legs than it names'
        using errcode = 'integrity_constraint_violation', constraint = 'journals_are_whole', table = 'ledger_transfers';
    end if;
    if not is_open then
      raise exception 'the period is closed'
        using errcode = 'integrity_constraint_violation', constraint = 'period_is_open', table = 'ledger_transfers';
    end if;
    if not is_permitted then
      raise exception 'a journal of this kind does not move these accounts'
        using errcode = 'integrity_constraint_violation', constraint = 'postings_are_permitted', table = 'ledger_transfers';
    end if;
    if is_reversal and exists (
      select from added a join journals j on j.tenant_id = a.tenant_id and j.journal_id = a.journal_id
        left join ledger_transfers o on o.tenant_id = j.tenant_id and o.journal_id = j.reverses and o.leg = a.leg
        left join journals r on r.tenant_id = j.tenant_id and r.journal_id = j.reverses and r.legs = j.legs
      where j.kind = 'journal_reversal' and ((o.debit_account_id, o.credit_account_id, o.amount, o.unit)
          is distinct from (a.credit_account_id, a.debit_account_id, a.amount, a.unit)
        or not exists (select from posting_rules p where p.journal_kind = r.kind and p.is_reversible))
    ) then
      raise exception 'a reversal mirrors a journal that can be reversed'
        using errcode = 'integrity_constraint_violation', constraint = 'reversals_mirror', table = 'ledger_transfers';
    end if;
    if has_manual and exists (
      select from (
        select a.tenant_id, a.journal_id, sum(a.amount) as amount from added a group by a.tenant_id, a.journal_id) t
      join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
        and j.kind in (select p.journal_kind from posting_rules p where p.is_manual)
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
