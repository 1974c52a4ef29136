-- The ledger: which accounts there are, what may move between them and on whose word, and what people enter by hand.

-- The ledger knows which accounts a journal may move (decision R19). Rows as the program's chart and rules have them,
-- `packages/core/src/ledger/posting-rules.ts`: a test compares both, and prints the statements that a change needs.
create table account_kinds (
  kind       text collate "C" primary key,
  unit       text not null,
  -- whether its balance never goes below nothing
  is_bounded boolean not null
);
grant select on account_kinds to svc_service, svc_operator;

insert into account_kinds (kind, unit, is_bounded) values
  ('upi_clearing', 'INR', false), ('funding_clearing', 'INR', false), ('bank', 'INR', false),
  ('ppi_bank', 'INR', false), ('own_funds', 'INR', false), ('settlement_unmatched', 'INR', false),
  ('network_unmatched', 'INR', false), ('bank_exceptions', 'INR', false), ('accrued_fees', 'INR', false),
  ('payable', 'INR', true), ('upi_refunds', 'INR', true), ('suspense', 'INR', true),
  ('merchant_advances', 'INR', false), ('disputes', 'INR', true), ('inter_tenant', 'INR', false),
  ('payouts_in_transit', 'INR', true), ('payout_exceptions', 'INR', false), ('refund_exceptions', 'INR', false),
  ('fee_income', 'INR', false), ('output_cgst', 'INR', false),
  ('output_sgst', 'INR', false), ('output_igst', 'INR', false), ('gst_input', 'INR', false),
  ('tds_receivable', 'INR', false), ('rail_charges', 'INR', false), ('network_charges', 'INR', false),
  ('interchange_income', 'INR', false), ('other_income', 'INR', false), ('write_offs', 'INR', false),
  ('owner_equity', 'INR', false), ('card_funding', 'INR', true), ('card', 'INR', true), ('unclaimed', 'INR', true),
  ('card_settlement', 'INR', false), ('card_exceptions', 'INR', false), ('coins_issued', 'COIN', false),
  ('coins', 'COIN', true), ('coins_pending', 'COIN', true), ('coins_redeemed', 'COIN', true),
  ('coins_expired', 'COIN', true);

-- Double-entry ledger. `balance` is credits less debits in the unit's smallest part (paise for INR); an asset's is
-- negative. `floor` is the least balance that the account may have, null for none.
create table ledger_accounts (
  account_id text collate "C" not null,
  tenant_id  text collate "C" not null references tenants,
  kind       text not null,
  unit       text not null,
  balance    bigint not null default 0,
  floor      bigint,
  created_at timestamptz not null,
  -- Locking an account needs the right to update one of its columns: this one has no meaning and no other value than null.
  lock_only  boolean,
  constraint balance_not_under_floor check (balance >= floor),
  -- The account first: it also serves operators, who look an account up without knowing its tenant.
  constraint ledger_accounts_by_id unique (account_id, tenant_id, unit),
  constraint lock_only_means_nothing check (lock_only is null)
);
alter table ledger_accounts add primary key (tenant_id, account_id);
select secure_tenants('ledger_accounts', 'tenant_id');
-- Balances are made by journals alone, and floors are the owner's (decisions R10 and R19).
grant select, insert, update (lock_only) on ledger_accounts to svc_service, svc_operator;

-- A new account is empty and what its name says, with the floor of its kind: an account's kind can be read from its id.
create function require_charted_account() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if exists (
      select from opened a left join account_kinds k on k.kind = split_part(a.account_id, ':', 1)
      where k.kind is distinct from a.kind or a.unit <> k.unit or a.balance <> 0
        or a.floor is distinct from case when k.is_bounded then 0 end
    ) then
      raise exception 'an account is not as the chart of accounts says'
        using errcode = 'integrity_constraint_violation', constraint = 'accounts_are_charted', table = 'ledger_accounts';
    end if;
    return null;
  end $$;
create trigger accounts_are_charted after insert on ledger_accounts referencing new table as opened
  for each statement execute function require_charted_account();

-- The accounts of the platform; those of other tenants are opened with the tenant, its code or its card.
insert into ledger_accounts (account_id, tenant_id, kind, unit, floor, created_at)
select k.kind || ':house', 'house', k.kind, k.unit, case when k.is_bounded then 0 end, now()
from account_kinds k where k.kind in ('upi_clearing', 'bank', 'suspense', 'upi_refunds', 'settlement_unmatched', 'rail_charges',
  'gst_input', 'bank_exceptions', 'ppi_bank', 'own_funds', 'network_unmatched', 'network_charges', 'interchange_income',
  'other_income', 'output_cgst', 'output_sgst', 'output_igst', 'owner_equity');

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
grant select on posting_rules to svc_service, svc_operator;

insert into posting_rules (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible)
select r.journal, coalesce(r.leg, r.journal), split_part(m, ' > ', 1), split_part(m, ' > ', 2), r.word, r.by <> '',
  r.by = 'reversible'
from (values
  -- Credits of UPI
  ('upi_credit', null, 'rail', '', array['upi_clearing > payable', 'upi_clearing > upi_refunds',
    'upi_clearing > suspense']),
  ('upi_credit', null, 'person', '', array['inter_tenant > payable']),
  ('upi_refund', null, 'rail', '', array['upi_refunds > upi_clearing', 'suspense > upi_clearing']),
  ('suspense_assigned', null, 'person', 'manual', array['suspense > payable', 'suspense > inter_tenant']),
  ('suspense_unassigned', null, 'person', 'manual', array['payable > suspense', 'payable > inter_tenant']),
  ('suspense_restored', null, 'person', '', array['inter_tenant > suspense']),
  ('suspense_returned', null, 'person', 'manual', array['suspense > upi_refunds']),
  ('payment_adjustment', null, 'person', 'manual', array['upi_clearing > payable', 'payable > upi_clearing',
    'merchant_advances > upi_clearing']),
  -- Between two claims on the bank: no claim on us grows by it, and a late line may be matched by any process.
  ('bank_settlement', null, 'program', '', array['bank > upi_clearing', 'upi_clearing > bank']),
  ('bank_settlement_reversed', null, 'program', '', array['upi_clearing > bank', 'bank > upi_clearing']),
  -- What of a transfer of the bank or the network fits nothing, and what they kept for themselves.
  ('settlement_unmatched', null, 'rail', '', array['bank > settlement_unmatched', 'settlement_unmatched > bank']),
  ('settlement_matched', null, 'program', '', array['settlement_unmatched > bank', 'bank > settlement_unmatched']),
  ('settlement_charged', null, 'rail', '', array['rail_charges > bank', 'bank > rail_charges', 'gst_input > bank',
    'bank > gst_input']),
  ('network_settlement', null, 'program', '', array['ppi_bank > card_settlement', 'card_settlement > ppi_bank']),
  ('network_settlement', null, 'rail', '', array['ppi_bank > network_unmatched', 'network_unmatched > ppi_bank',
    'ppi_bank > interchange_income', 'interchange_income > ppi_bank', 'network_charges > ppi_bank',
    'ppi_bank > network_charges', 'gst_input > ppi_bank', 'ppi_bank > gst_input']),
  ('network_matched', null, 'program', '', array['network_unmatched > ppi_bank', 'ppi_bank > network_unmatched']),
  -- A transfer that was recorded by mistake: the platform takes back what the whole has moved; tenants have their shares of
  -- it, and the platform has those the other way round.
  ('settlement_taken_back', null, 'person', 'manual', array['bank > upi_clearing', 'upi_clearing > bank',
    'bank > settlement_unmatched', 'settlement_unmatched > bank', 'rail_charges > bank', 'bank > rail_charges',
    'gst_input > bank', 'bank > gst_input', 'ppi_bank > card_settlement', 'card_settlement > ppi_bank',
    'ppi_bank > network_unmatched', 'network_unmatched > ppi_bank', 'ppi_bank > interchange_income',
    'interchange_income > ppi_bank', 'network_charges > ppi_bank', 'ppi_bank > network_charges',
    'gst_input > ppi_bank', 'ppi_bank > gst_input']),
  ('taken_back_shared', null, 'person', '', array['bank > upi_clearing', 'upi_clearing > bank',
    'ppi_bank > card_settlement', 'card_settlement > ppi_bank']),
  -- Refunds and disputes
  ('merchant_refund', null, 'program', '', array['payable > upi_refunds', 'merchant_advances > upi_refunds']),
  ('merchant_refund_paid', null, 'rail', '', array['upi_refunds > upi_clearing']),
  ('merchant_refund_failed', null, 'rail', 'manual', array['upi_refunds > payable',
    'upi_refunds > merchant_advances']),
  ('merchant_refund_restored', null, 'rail', '', array['payable > upi_refunds', 'merchant_advances > upi_refunds']),
  ('merchant_refund_late', null, 'rail', '', array['refund_exceptions > upi_clearing']),
  ('dispute', null, 'rail', '', array['payable > disputes', 'merchant_advances > disputes']),
  ('dispute_lost', null, 'program', '', array['disputes > upi_clearing']),
  ('dispute_overturned', null, 'rail', '', array['upi_clearing > disputes']),
  ('dispute_won', null, 'rail', 'manual', array['disputes > payable', 'disputes > merchant_advances']),
  -- Payouts. Where failed refunds gave back more than a payout deducts, advances go the other way.
  ('payout', null, 'person', '', array['payable > accrued_fees', 'payable > merchant_advances',
    'merchant_advances > payable', 'payable > payouts_in_transit',
    'accrued_fees > payable']),
  ('payout_restored', null, 'person', '', array['payable > accrued_fees', 'payable > merchant_advances',
    'merchant_advances > payable', 'payable > payouts_in_transit',
    'accrued_fees > payable']),
  ('payout_released', null, 'person', '', array['accrued_fees > payable', 'merchant_advances > payable',
    'payable > merchant_advances', 'payouts_in_transit > payable',
    'payable > accrued_fees']),
  ('payout_paid', null, 'person', '', array['payouts_in_transit > bank']),
  ('payout_returned', null, 'person', '', array['bank > payouts_in_transit']),
  ('payout_paid_late', null, 'person', '', array['payout_exceptions > bank']),
  -- Opening balances, and money for cards that comes from outside
  ('opening_balance', null, 'person', 'reversible', array['bank > payable', 'funding_clearing > card_funding']),
  ('card_funding', null, 'rail', 'reversible', array['funding_clearing > card_funding']),
  ('card_withdrawal', null, 'person', 'reversible', array['card_funding > funding_clearing']),
  -- Cards. A card gives what it has; what the network takes beyond it, or gives back without a capture, is an exception.
  ('card_load', null, 'program', '', array['card_funding > card']),
  ('card_reload', null, 'program', '', array['card_funding > card']),
  ('card_unload', null, 'program', '', array['card > card_funding']),
  ('card_spend', null, 'rail', '', array['card > card_settlement']),
  ('card_refund', null, 'rail', '', array['card_settlement > card']),
  ('card_capture', 'card_spend', 'rail', '', array['card > card_settlement']),
  ('card_capture', 'card_excess', 'rail', '', array['card_exceptions > card_settlement']),
  ('card_advice', 'card_spend', 'rail', '', array['card > card_settlement']),
  ('card_advice', 'card_excess', 'rail', '', array['card_exceptions > card_settlement']),
  ('card_return', 'card_refund', 'rail', '', array['card_settlement > card']),
  ('card_return', 'card_refund_excess', 'rail', '', array['card_settlement > card_exceptions']),
  ('card_replacement', null, 'program', '', array['card > card']),
  ('card_unclaimed', null, 'program', '', array['card > unclaimed']),
  ('card_unclaimed_reversed', null, 'program', '', array['unclaimed > card']),
  ('card_back_to_source', null, 'program', '', array['unclaimed > card_funding']),
  -- What ended outside
  ('exception_settled', null, 'person', 'reversible', array['card_settlement > card_exceptions',
    'card_exceptions > card_settlement', 'bank > payout_exceptions', 'bank > refund_exceptions',
    'bank_exceptions > bank', 'bank_exceptions > own_funds', 'bank_exceptions > ppi_bank', 'bank > accrued_fees',
    'bank > bank_exceptions', 'bank > settlement_unmatched', 'network_unmatched > ppi_bank',
    'own_funds > bank_exceptions', 'own_funds > tds_receivable', 'ppi_bank > bank_exceptions',
    'ppi_bank > network_unmatched', 'settlement_unmatched > bank']),
  ('exception_written_off', null, 'person', 'reversible', array['write_offs > card_exceptions',
    'card_exceptions > write_offs', 'write_offs > payout_exceptions', 'write_offs > refund_exceptions',
    'bank_exceptions > other_income', 'network_unmatched > other_income', 'settlement_unmatched > other_income',
    'write_offs > accrued_fees', 'write_offs > bank_exceptions', 'write_offs > network_unmatched',
    'write_offs > settlement_unmatched', 'write_offs > tds_receivable']),
  ('advance_repaid', null, 'person', 'reversible', array['bank > merchant_advances']),
  ('advance_written_off', null, 'person', 'reversible', array['write_offs > merchant_advances']),
  -- Lines of bank statements: money of cards that came in or went back, and what people found lines to be.
  ('funding_settled', null, 'program', '', array['ppi_bank > funding_clearing', 'funding_clearing > ppi_bank']),
  ('statement_resolved', null, 'person', 'reversible', array['rail_charges > bank', 'bank > rail_charges',
    'gst_input > bank', 'bank > gst_input', 'network_charges > ppi_bank', 'ppi_bank > network_charges',
    'gst_input > ppi_bank', 'ppi_bank > gst_input', 'rail_charges > own_funds', 'own_funds > rail_charges',
    'gst_input > own_funds', 'own_funds > gst_input', 'bank > other_income', 'other_income > bank',
    'ppi_bank > other_income', 'other_income > ppi_bank', 'own_funds > other_income', 'other_income > own_funds',
    'bank_exceptions > bank', 'bank > bank_exceptions', 'bank_exceptions > ppi_bank', 'ppi_bank > bank_exceptions',
    'bank_exceptions > own_funds', 'own_funds > bank_exceptions', 'bank > suspense', 'suspense > bank',
    'own_funds > bank', 'bank > own_funds', 'own_funds > ppi_bank', 'ppi_bank > own_funds']),
  -- Our own money (decision R26): the platform has what the bank moves; tenants have their shares of it, and the platform
  -- has those the other way round.
  ('own_funds_swept', null, 'person', 'manual', array['own_funds > bank']),
  ('sweep_shared', null, 'person', '', array['own_funds > bank', 'bank > own_funds']),
  ('gst_paid', null, 'person', 'manual', array['output_cgst > own_funds', 'output_cgst > gst_input',
    'output_sgst > own_funds', 'output_sgst > gst_input', 'output_igst > own_funds', 'output_igst > gst_input']),
  ('gst_shared', null, 'person', '', array['output_cgst > own_funds', 'own_funds > output_cgst',
    'output_sgst > own_funds', 'own_funds > output_sgst', 'output_igst > own_funds', 'own_funds > output_igst']),
  ('owner_paid', null, 'person', 'manual', array['owner_equity > own_funds', 'own_funds > owner_equity']),
  ('escrow_paid', null, 'person', 'manual', array['bank > own_funds']),
  -- The whole of any of them that was entered by mistake; shares of it go back as shares.
  ('own_funds_taken_back', null, 'person', 'manual', array['own_funds > bank', 'bank > own_funds',
    'owner_equity > own_funds', 'own_funds > owner_equity', 'own_funds > output_cgst', 'gst_input > output_cgst',
    'own_funds > output_sgst', 'gst_input > output_sgst', 'own_funds > output_igst', 'gst_input > output_igst',
    'tds_receivable > own_funds']),
  -- Tax that merchants deducted on our fees, and its refund (decision R29)
  ('tds_certified', null, 'person', 'reversible', array['tds_receivable > payable']),
  ('tds_refunded', null, 'person', 'manual', array['own_funds > tds_receivable']),
  ('tds_shared', null, 'person', '', array['own_funds > tds_receivable', 'tds_receivable > own_funds']),
  -- Income and expenses of a financial year, in the same shape (decision R28)
  ('year_end', null, 'person', 'manual', array['fee_income > owner_equity', 'owner_equity > fee_income',
    'rail_charges > owner_equity', 'owner_equity > rail_charges', 'network_charges > owner_equity',
    'owner_equity > network_charges', 'interchange_income > owner_equity', 'owner_equity > interchange_income',
    'other_income > owner_equity', 'owner_equity > other_income', 'write_offs > owner_equity',
    'owner_equity > write_offs']),
  ('year_end_shared', null, 'person', '', array['fee_income > owner_equity', 'owner_equity > fee_income',
    'rail_charges > owner_equity', 'owner_equity > rail_charges', 'network_charges > owner_equity',
    'owner_equity > network_charges', 'interchange_income > owner_equity', 'owner_equity > interchange_income',
    'other_income > owner_equity', 'owner_equity > other_income', 'write_offs > owner_equity',
    'owner_equity > write_offs']),
  -- Fees and their GST belong to the day of the payment.
  ('fee_accrual', null, 'program', '', array['accrued_fees > fee_income', 'accrued_fees > output_cgst',
    'accrued_fees > output_sgst', 'accrued_fees > output_igst']),
  -- Fees that are given back, with their tax; the next payout pays them.
  ('credit_note', null, 'person', 'manual', array['fee_income > payable', 'output_cgst > payable',
    'output_sgst > payable', 'output_igst > payable']),
  -- A credit note that was a mistake is taken back: what is not payable to the merchant any more is an advance.
  ('debit_note', null, 'person', 'manual', array['merchant_advances > fee_income', 'merchant_advances > output_cgst',
    'merchant_advances > output_igst', 'merchant_advances > output_sgst', 'payable > fee_income',
    'payable > output_cgst', 'payable > output_igst', 'payable > output_sgst']),
  -- Coins
  ('coin_allocation', null, 'program', '', array['coins_issued > coins', 'coins_issued > coins_pending']),
  ('coin_activation', null, 'program', '', array['coins_pending > coins']),
  ('coin_redemption', null, 'program', '', array['coins > coins_redeemed']),
  ('coin_expiry', null, 'program', '', array['coins > coins_expired']),
  ('coin_void', null, 'program', '', array['coins > coins_issued', 'coins_pending > coins_issued'])
) as r (journal, leg, word, by, moves) cross join unnest(r.moves) as m;
-- What can be taken back is taken back by the mirrored movement; several kinds move between the same accounts.
insert into posting_rules (journal_kind, leg_kind, debit_kind, credit_kind, on_word_of, is_manual, is_reversible)
select distinct 'journal_reversal', 'journal_reversal', credit_kind, debit_kind, 'person', true, false
from posting_rules where is_reversible;

-- A journal is one business fact; its transfers are its legs. Never changed: a mistake is corrected by a journal that
-- reverses it. The service may insert and read journals and transfers, nothing else.
create table journals (
  -- Its legs refer to accounts, and those to the tenant.
  tenant_id      text collate "C" not null,
  journal_id     text collate "C" not null,
  kind           text not null,
  -- The business day that it belongs to in the books.
  effective_date date not null,
  -- What the outside calls it, such as the bank's UTR or a partner's request id.
  reference      text collate "C",
  -- The journal that it takes back.
  reverses       text collate "C",
  reason         text,
  legs           integer not null check (legs > 0),
  at             timestamptz not null,
  primary key (tenant_id, journal_id),
  constraint reversed_journal_is_the_tenants
    foreign key (tenant_id, reverses) references journals (tenant_id, journal_id),
  constraint reverses_another check (reverses <> journal_id)
);
-- The UTR of a credit is unique over all tenants already (`one_live_credit_per_utr`); a second index would cost every payment.
create unique index journals_one_per_reference on journals (tenant_id, kind, reference)
  where reference is not null and kind <> 'upi_credit';
create unique index journals_reversed_once on journals (tenant_id, reverses) where reverses is not null;
create index journals_of_incoming on journals (reference)
  where kind in ('card_funding', 'advance_repaid', 'exception_settled', 'payout_returned') and reference is not null;
create index journals_of_fees on journals (effective_date) where kind = 'fee_accrual';
create index journals_of_statements on journals (reference)
  where kind in ('payout_paid', 'payout_returned', 'payout_paid_late', 'card_funding', 'card_withdrawal', 'advance_repaid',
    'exception_settled');
select secure_tenants('journals', 'tenant_id');
grant select, insert on journals to svc_service, svc_operator;

-- Movements. Each debits one account and credits another with one amount of one unit, and both accounts are its
-- tenant's: so the legs of a journal balance in every unit.
create table ledger_transfers (
  transfer_id       text collate "C" not null,
  tenant_id         text collate "C" not null,
  journal_id        text collate "C" not null,
  -- 1, 2, 3 … within the journal.
  leg               integer not null check (leg > 0),
  kind              text not null,
  debit_account_id  text collate "C" not null,
  credit_account_id text collate "C" not null,
  amount            bigint not null check (amount > 0),
  unit              text not null,
  object_id         text collate "C" not null,
  created_at        timestamptz not null,
  primary key (tenant_id, journal_id, leg),
  check (debit_account_id <> credit_account_id),
  constraint debit_side_has_the_unit_and_tenant
    foreign key (tenant_id, debit_account_id, unit) references ledger_accounts (tenant_id, account_id, unit),
  constraint credit_side_has_the_unit_and_tenant
    foreign key (tenant_id, credit_account_id, unit) references ledger_accounts (tenant_id, account_id, unit)
);
create index ledger_transfers_by_object on ledger_transfers (object_id);
create index ledger_transfers_debited on ledger_transfers (debit_account_id, transfer_id);
create index ledger_transfers_credited on ledger_transfers (credit_account_id, transfer_id);
-- What is left of a lot of coins expires at most once.
create unique index ledger_transfers_one_expiry on ledger_transfers (tenant_id, object_id) where kind = 'coin_expiry';
select secure_tenants('ledger_transfers', 'tenant_id');
grant select, insert on ledger_transfers to svc_service, svc_operator;

-- A statement that inserts transfers inserts whole journals: all legs of each that it names, so that no leg is missing and
-- none is added later, nor in a closed period. Each leg is a permitted movement, on the word that it needs, whichever login
-- enters it. A reversal mirrors its journal. What an operator posts above the limit has its approval, unless the bank
-- reported it by a signed notice. Then the balances follow from the legs. One pass over the legs says all that needs no
-- other table than journals and rules; one check for a statement costs less than a foreign key, which is checked row by row.
create function require_whole_journals() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    is_whole boolean; is_open boolean; is_permitted boolean; is_reversal boolean; has_manual boolean;
    of_rail boolean; of_person boolean;
  begin
    select bool_and(t.is_whole), bool_and(t.is_open), bool_and(t.is_permitted), bool_or(t.is_reversal), bool_or(t.has_manual),
        bool_or(t.of_rail), bool_or(t.of_person)
      into is_whole, is_open, is_permitted, is_reversal, has_manual, of_rail, of_person
    from (
      select coalesce(j.legs = count(*) and j.legs = max(a.leg), false) as is_whole,
        coalesce(min(a.created_at) > (select max(c.until) from book_closings c), true) as is_open,
        bool_and(r.on_word_of is not null) as is_permitted,
        j.kind = 'journal_reversal' as is_reversal,
        bool_or(r.is_manual) as has_manual,
        bool_or(r.on_word_of = 'rail') as of_rail, bool_or(r.on_word_of = 'person') as of_person
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
    if of_person and not acts_for_operators() or of_rail and not is_rail() and not acts_for_operators() then
      raise exception 'a journal of this kind is entered on the word of %',
          case when of_rail then 'the bank or the card network' else 'an operator' end
        using errcode = 'integrity_constraint_violation', constraint = 'postings_have_a_source', table = 'ledger_transfers';
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
    -- The accounts are locked by the transaction already, or it opened them.
    with changes as (
      select s.tenant_id, s.account_id, s.unit, sum(s.amount)::bigint as amount
      from added a cross join lateral (values (a.tenant_id, a.debit_account_id, a.unit, - a.amount),
        (a.tenant_id, a.credit_account_id, a.unit, a.amount)) as s (tenant_id, account_id, unit, amount)
      group by s.tenant_id, s.account_id, s.unit order by s.account_id)
    update ledger_accounts l set balance = l.balance + c.amount from changes c
      where l.account_id = c.account_id and l.tenant_id = c.tenant_id and l.unit = c.unit;
    return null;
  end $$;
create trigger journals_are_whole after insert on ledger_transfers referencing new table as added
  for each statement execute function require_whole_journals();

-- What is said to be taken back is: a journal that reverses another has its legs by the end of the transaction.
create function require_legs() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not exists (
      select from ledger_transfers t where t.tenant_id = new.tenant_id and t.journal_id = new.journal_id)
    then
      raise exception 'a journal that reverses another one has no legs'
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return null;
  end $$;
create constraint trigger reversals_have_legs after insert on journals deferrable initially deferred for each row
  when (new.reverses is not null) execute function require_legs();

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
create trigger moved_money_reopens_tenants after insert on ledger_transfers referencing new table as added
  for each statement execute function reopen_closed_tenants();

-- What operators enter on the word of the world has the row that says so, of the same amount, by the end of the
-- transaction; coins, which no world gives, and what goes from card to card have it whichever login enters them. A row is
-- one journal's: journals of these kinds are named after it, and a second one finds its name taken.
create function require_proof() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    id text := substr(new.journal_id, 5, 26);
    total bigint;
    proven boolean;
  begin
    select sum(t.amount) into total from ledger_transfers t
      where t.tenant_id = new.tenant_id and t.journal_id = new.journal_id;
    proven := case
      when new.kind in ('upi_credit', 'suspense_assigned', 'suspense_returned', 'upi_refund') then exists (
        select from payments p where p.merchant_id = new.tenant_id and p.payment_id = new.object_id
          and p.amount_paise = new.amount and p.status = any (case new.kind
            when 'upi_refund' then array['REFUNDED'] when 'suspense_returned' then array['REFUND_PENDING', 'REFUNDED']
            when 'suspense_assigned' then array['ACCEPTED', 'ASSIGNED']
            else array['ACCEPTED', 'REFUND_PENDING', 'SUSPENSE'] end))
      when new.kind like 'merchant\_refund\__%' then exists (
        select from merchant_refunds r where r.merchant_id = new.tenant_id and r.refund_id = 'rfd_' || id
          and r.refund_id = new.object_id and r.amount_paise = total
          and case new.kind when 'merchant_refund_failed' then r.status = 'FAILED'
            when 'merchant_refund_late' then r.refunded_late_at is not null else r.status = 'REFUNDED' end)
      when new.kind in ('dispute', 'dispute_won', 'dispute_lost', 'dispute_overturned') then exists (
        select from disputes d where d.merchant_id = new.tenant_id and d.dispute_id = 'dsp_' || id
          and d.amount_paise = total and case new.kind when 'dispute' then true when 'dispute_lost'
            then d.status in ('LOST', 'ACCEPTED', 'WON') else d.status = 'WON' end)
      when new.kind = 'payment_adjustment' then exists (
        select from payment_adjustments a where a.merchant_id = new.tenant_id and a.adjustment_id = new.object_id
          and abs(a.change_paise) = total)
      when new.kind = 'opening_balance' then exists (
        select from opening_balances o where o.tenant_id = new.tenant_id and o.journal_id = new.journal_id
          and o.amount_paise = new.amount and o.account_id = new.credit_account_id)
      when new.kind in ('payout', 'payout_restored', 'payout_released', 'payout_paid', 'payout_returned',
          'payout_paid_late') then exists (
        select from payouts y where y.merchant_id = new.tenant_id and y.payout_id = new.object_id
          and substr(y.payout_id, 5) = id
          and case when 'payouts_in_transit:' || y.merchant_id in (new.debit_account_id, new.credit_account_id)
              or new.kind = 'payout_paid_late' then new.amount = y.amount_paise else true end
          and case new.kind when 'payout' then true
            when 'payout_released' then y.status in ('FAILED', 'CANCELLED') or y.failed_at is not null
            when 'payout_returned' then y.returned_at is not null
            when 'payout_paid_late' then y.paid_late_at is not null
            else y.status = 'PAID' or y.returned_at is not null end)
      when new.kind = 'card_replacement' then exists (
        select from cards c join cards n on n.partner_id = c.partner_id and n.svc_card_id = c.replaced_by
          and n.replaces = c.svc_card_id and n.user_id = c.user_id
        where c.partner_id = new.tenant_id and 'card:' || c.svc_card_id = new.debit_account_id
          and 'card:' || n.svc_card_id = new.credit_account_id)
      when new.kind in ('card_unclaimed', 'card_unclaimed_reversed', 'card_back_to_source') then (
        select sum(t.amount) from ledger_transfers t
        where t.tenant_id = new.tenant_id and t.object_id = new.object_id and t.kind = new.kind) = (
        select sum(r.amount_paise) from card_returns r
        where r.partner_id = new.tenant_id and r.svc_card_id = new.object_id and case new.kind
          when 'card_unclaimed' then 'card:' || r.svc_card_id = new.debit_account_id
          when 'card_unclaimed_reversed' then r.status = 'REVERSED' and 'card:' || r.svc_card_id = new.credit_account_id
          else r.status = 'RETURNED' and 'card_funding:' || r.card_account_id = new.credit_account_id end)
      when new.kind = 'coin_allocation' then exists (
        select from coin_lots l where l.partner_id = new.tenant_id and l.lot_id = new.object_id and l.amount = total
          and l.user_id = split_part(new.credit_account_id, ':', 2)
          and l.amount = (select sum(t.amount) from ledger_transfers t
            where t.tenant_id = new.tenant_id and t.object_id = new.object_id and t.kind = new.kind))
      -- Operators enter nothing on the word of the card network: what it says comes by the rails' login alone.
      when new.kind in ('card_spend', 'card_excess', 'card_refund', 'card_refund_excess') then false
      else true end;
    if proven is not true then
      raise exception 'nothing proves this journal of kind %', new.kind
        using errcode = 'integrity_constraint_violation', constraint = 'postings_are_proven', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger postings_are_proven after insert on ledger_transfers deferrable initially deferred for each row
  when (not is_rail() and new.unit = 'INR' and new.kind not in ('card_load', 'merchant_refund')
    or new.kind in ('coin_allocation', 'card_replacement'))
  execute function require_proof();

-- Postings by hand that wait for a second person, or were decided by one (decision R10).
create table approvals (
  tenant_id    text collate "C" not null references tenants,
  approval_id  text collate "C" not null,
  -- that of the journal
  kind         text not null,
  amount_paise bigint not null check (amount_paise > 0),
  -- what names the posting once: the bank's reference, or the journal to be reversed
  reference    text collate "C" not null,
  request      jsonb not null,
  reason       text not null,
  requested_by text not null,
  requested_at timestamptz not null,
  expires_at   timestamptz not null,
  outcome      text check (outcome in ('APPROVED', 'REJECTED', 'EXPIRED')),
  decided_by   text,
  decided_at   timestamptz,
  -- the one posting that it allows
  journal_id   text collate "C",
  -- of the command that waits, as its own schema reads them: approving runs them
  arguments    jsonb,
  primary key (tenant_id, approval_id),
  constraint approved_by_another_person check (outcome is distinct from 'APPROVED' or decided_by <> requested_by),
  constraint decided_as_a_whole
    check ((outcome is null) = (decided_by is null) and (outcome is null) = (decided_at is null)),
  constraint approved_in_time check (outcome is distinct from 'APPROVED' or decided_at < expires_at),
  constraint posted_when_approved check (journal_id is null or outcome is not distinct from 'APPROVED'),
  constraint posted_journal_is_the_tenants
    foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id) deferrable initially deferred
);
create unique index approvals_one_open on approvals (tenant_id, kind, reference) where outcome is null;
create unique index approvals_by_journal on approvals (tenant_id, journal_id) where journal_id is not null;
create index approvals_by_id on approvals (approval_id);
create index approvals_by_time on approvals (requested_at);
create constraint trigger audited after insert or update on approvals deferrable initially deferred
  for each row execute function audit_change('approval', 'approval_id', 'tenant_id',
    'kind,amount_paise,reference,reason,requested_by,expires_at,outcome,decided_by,journal_id');
select secure_tenants('approvals', 'tenant_id');
grant select, update (journal_id) on approvals to svc_service;
grant select, insert, update (outcome, decided_by, decided_at, journal_id) on approvals to svc_operator;

-- An approval is of one posting, once (decision R10), whichever login changes it: what it is of stays, a decision stays,
-- and so does the journal that it allowed. An approved posting that was not posted yet can still be rejected.
create function refuse_changed_approval() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if (new.tenant_id, new.approval_id, new.kind, new.amount_paise, new.reference, new.request, new.arguments, new.reason,
        new.requested_by, new.requested_at, new.expires_at)
      is distinct from (old.tenant_id, old.approval_id, old.kind, old.amount_paise, old.reference, old.request,
        old.arguments, old.reason, old.requested_by, old.requested_at, old.expires_at)
      or old.journal_id is not null and new is distinct from old
      or old.outcome is not null
        and (new.outcome, new.decided_by, new.decided_at) is distinct from (old.outcome, old.decided_by, old.decided_at)
        and not (old.outcome = 'APPROVED' and new.outcome = 'REJECTED' and new.journal_id is null)
    then
      raise exception 'what an approval is of, its decision and its journal do not change'
        using errcode = 'integrity_constraint_violation', constraint = 'approvals_are_final', table = 'approvals';
    end if;
    return new;
  end $$;
create trigger approvals_are_final before update on approvals for each row execute function refuse_changed_approval();

-- What the program refuses with a message, whichever login writes it.
create function require_second_person() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    asked text[] := case tg_table_name when 'approvals' then array[to_jsonb(new) ->> 'requested_by']
      else array[to_jsonb(new) ->> 'prepared_by', to_jsonb(new) ->> 'account_set_by'] end;
    decided text := to_jsonb(new) ->> case tg_table_name when 'approvals' then 'decided_by' else 'approved_by' end;
  begin
    if exists (select from unnest(asked) as a (who) where second_person_problem(a.who, decided) is not null)
      or not may_act(decided, 'finance') or not is_operator(decided)
      or not (may_act(asked[1], 'finance') and is_operator(asked[1])) and not (
        tg_table_name = 'payouts' and is_scheduled(to_jsonb(new) ->> 'merchant_id', to_jsonb(new) ->> 'payout_id'))
    then
      raise exception '% is no second person beside %', decided, array_to_string(asked, ' and ')
        using errcode = 'integrity_constraint_violation', constraint = 'approved_by_a_second_person', table = tg_table_name;
    end if;
    return null;
  end $$;
create trigger approved_by_a_second_person after insert or update of outcome, decided_by on approvals
  for each row when (new.outcome = 'APPROVED') execute function require_second_person();

-- Batches of operators' commands run as the service, on the operators' login: what waits is entered by this function, which
-- no other login may use. An expired request of the same reference makes room.
create function request_approval(
  tenant text, id text, of_kind text, amount bigint, of_reference text, facts jsonb, args jsonb, why text, by text,
  hours integer) returns void
  language plpgsql volatile security definer set search_path = svc, pg_temp
  as $$
  begin
    if not acts_for_operators() then
      raise exception 'this login requests no approvals' using errcode = 'insufficient_privilege';
    end if;
    update approvals p set outcome = 'EXPIRED', decided_by = 'svc', decided_at = clock_timestamp()
      where p.tenant_id = tenant and p.kind = of_kind and p.reference = of_reference and p.outcome is null
        and p.expires_at <= clock_timestamp();
    insert into approvals (tenant_id, approval_id, kind, amount_paise, reference, request, arguments, reason, requested_by,
        requested_at, expires_at)
      values (tenant, id, of_kind, amount, of_reference, facts, args, why, by, clock_timestamp(),
        clock_timestamp() + hours * interval '1 hour');
  end $$;

-- What one person moved without a second one, each by its journal. It adds up: by person and tenant within 24 hours it stays
-- within the limit, and by person alone within that of all tenants.
create table one_person_postings (
  tenant_id    text collate "C" not null references tenants,
  journal_id   text collate "C" not null,
  -- as the audit names them
  person       text collate "C" not null,
  -- that of an approval
  kind         text not null,
  amount_paise bigint not null check (amount_paise > 0),
  posted_at    timestamptz not null default clock_timestamp(),
  primary key (tenant_id, journal_id),
  constraint posted_alone_is_of_the_tenant
    foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id) deferrable initially deferred
);
create index one_person_postings_by_person on one_person_postings (tenant_id, person, posted_at);
create index one_person_postings_of_all_tenants on one_person_postings (person, posted_at);
select secure_tenants('one_person_postings', 'tenant_id');
grant select, insert on one_person_postings to svc_service, svc_operator;

-- What one person posts without a second one has a bound for all tenants together too: with a hundred tenants, the limit for
-- each is a hundred limits (decision R10).
create function limit_of_all_tenants() returns bigint
  language sql stable set search_path = svc, pg_temp
  as $$ select above_paise * 10 from approval_limit $$;

-- What a person posted within 24 hours, of whichever tenants.
create function posted_alone(by_person text) returns bigint
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select coalesce(sum(o.amount_paise), 0)::bigint from one_person_postings o
    where o.person = by_person and o.posted_at > clock_timestamp() - interval '24 hours'
  $$;

-- Two processes see each other's postings here, at the latest, of whichever tenants: who is second decides again, and finds
-- the limit reached. A login that acts for no operator is one person.
create function require_sum_within_limit() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    above bigint := (select l.above_paise from approval_limit l);
    total bigint;
  begin
    if not acts_for_operators() then
      new.person := 'role ' || session_user;
    elsif not is_operator(new.person) or not (may_act(new.person, 'finance') or may_act(new.person, 'operations')) then
      raise exception '% is no operator who moves money', new.person
        using errcode = 'integrity_constraint_violation', constraint = 'counted_for_an_operator', table = 'one_person_postings';
    end if;
    new.posted_at := clock_timestamp();
    if above is null then
      return new;
    end if;
    perform pg_advisory_xact_lock(hashtextextended('svc alone ' || new.person, 0));
    select coalesce(sum(o.amount_paise), 0) into total from one_person_postings o
      where o.tenant_id = new.tenant_id and o.person = new.person
        and o.posted_at > clock_timestamp() - interval '24 hours';
    if total + new.amount_paise > above or posted_alone(new.person) + new.amount_paise > limit_of_all_tenants() then
      raise exception 'what % posted within 24 hours needs the approval of a second person', new.person
        using errcode = 'serialization_failure', constraint = 'sums_are_within_limit', table = 'one_person_postings';
    end if;
    return new;
  end $$;
create trigger sums_are_within_limit before insert on one_person_postings
  for each row execute function require_sum_within_limit();

-- A posting by hand within the limit is somebody's: it counts among what that person posted. What was approved, or is
-- proved by a signed message, is not. Above the limit `require_whole_journals` requires an approval.
create function require_counted_postings() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    -- What the bank charges and what fits nothing, where the rail's login does not enter it: a person imported the file.
    of_file constant text[] := case when is_rail() then '{}'
      else '{settlement_charged,settlement_unmatched,network_settlement}'::text[] end;
    -- A credit that the rail's login does not enter is one that an operator read in a notice, or the second half of one that
    -- is counted with its first.
    manual constant text[] := array(select distinct r.leg_kind from posting_rules r where r.is_manual)
      || of_file || case when is_rail() then '{}' else '{upi_credit}'::text[] end;
  begin
    if not exists (select from added a where a.kind = any (manual) and a.debit_account_id not like 'inter\_tenant:%') then
      return null;
    end if;
    if exists (
      select from (
        select a.tenant_id, a.journal_id, a.kind, sum(a.amount) as amount from added a
        where a.kind = any (manual) and a.kind <> all (of_file) and a.debit_account_id not like 'inter\_tenant:%'
        group by a.tenant_id, a.journal_id, a.kind) t
      cross join approval_limit l
      where l.above_paise is not null
      and not exists (
        select from one_person_postings o
        where o.tenant_id = t.tenant_id and o.journal_id = t.journal_id and o.amount_paise = t.amount)
      and not exists (
        select from approvals p
        where p.tenant_id = t.tenant_id and p.journal_id = t.journal_id and p.amount_paise = t.amount)
      and not exists (
        select from bank_credits b
        where b.partner_id = t.tenant_id and b.journal_id = t.journal_id and t.kind = 'card_funding')
      and not exists (
        select from merchant_refunds r join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
        where r.merchant_id = t.tenant_id and r.refund_id = 'rfd_' || substr(j.reverses, 5)
          and t.kind = 'merchant_refund_failed' and r.outcome_notice is not null)
      and not exists (
        select from disputes d join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id
        where d.merchant_id = t.tenant_id and d.dispute_id = 'dsp_' || substr(j.reverses, 5)
          and t.kind = 'dispute_won' and d.outcome_notice is not null)
    ) or exists (
      -- A transfer counts whole, under one of its journals.
      select from (
        select a.tenant_id, a.object_id, array_agg(a.journal_id) as journals, sum(a.amount) as amount from added a
        where a.kind = any (of_file) and a.debit_account_id not like 'card\_settlement:%'
          and a.credit_account_id not like 'card\_settlement:%'
        group by a.tenant_id, a.object_id) t
      cross join approval_limit l
      where l.above_paise is not null
      and not exists (
        select from one_person_postings o
        where o.tenant_id = t.tenant_id and o.journal_id = any (t.journals) and o.amount_paise = t.amount)
      and not exists (
        select from approvals p
        where p.tenant_id = t.tenant_id and p.journal_id = any (t.journals) and p.amount_paise = t.amount
          and p.kind = 'settlement_recorded' and p.reference = t.object_id)
    ) then
      raise exception 'a posting by hand counts among what its person posted'
        using errcode = 'integrity_constraint_violation', constraint = 'postings_are_counted', table = 'journals';
    end if;
    return null;
  end $$;
create trigger postings_are_counted after insert on ledger_transfers referencing new table as added
  for each statement execute function require_counted_postings();

-- Periods that are closed (decision R12): what the books were at their end, signed. Nothing is entered in them any more.
create table book_closings (
  -- the last business day of the period
  through   date primary key,
  -- the last millisecond of that day in the business zone
  until     timestamptz not null unique,
  closed_at timestamptz not null,
  closed_by text not null,
  signed    text not null,
  -- A period with something open is closed for a reason, and where postings need two people, by two (decision R23).
  despite   text,
  requested_by text,
  constraint closed_when_over check (closed_at > until),
  constraint closed_despite_by_another check (requested_by is null or despite is not null),
  constraint closing_states_a_reason check (despite <> '')
);
create constraint trigger audited after insert or update or delete on book_closings deferrable initially deferred
  for each row execute function audit_change('book_closing', 'through', null, 'through,until,closed_at,closed_by');
grant select on book_closings to svc_service;
grant select, insert on book_closings to svc_operator;

-- What tenants took along that moved between cells (decision X40): what their entries were in each closed period of the
-- cell that they left, signed. Both cells keep it: there it counts with what is in the books, here these entries are
-- what was signed, and in none of the periods that this cell had closed before.
create table moved_books (
  tenant_id text collate "C" not null references tenants,
  moved_at  timestamptz not null default clock_timestamp(),
  from_cell text collate "C" not null,
  to_cell   text collate "C" not null,
  signed    text not null,
  primary key (tenant_id, moved_at)
);
select secure_tenants('moved_books', 'tenant_id');
grant select on moved_books to svc_operator;

-- Which periods one person asks to close although something is open.
create table closing_requests (
  through      date primary key,
  -- what is open, and why the period is closed nevertheless
  open_items   text[] not null check (cardinality(open_items) > 0),
  despite      text not null check (despite <> ''),
  requested_by text not null,
  requested_at timestamptz not null default clock_timestamp()
);
create constraint trigger audited after insert or update or delete on closing_requests deferrable initially deferred
  for each row execute function audit_change('closing_request', 'through', null, 'through,open_items,despite,requested_by');
grant select on closing_requests to svc_service;
grant select, insert, update on closing_requests to svc_operator;

create function require_second_person_to_close() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if new.despite is not null and exists (select from approval_limit where above_paise is not null) and (
      new.requested_by is null
      or not exists (select from closing_requests r where r.through = new.through and r.despite = new.despite
        and r.requested_by = new.requested_by)
      or second_person_problem(new.requested_by, new.closed_by) is not null
      or not may_act(new.requested_by, 'finance') or not may_act(new.closed_by, 'finance'))
    then
      raise exception 'a period with something open is closed by two people'
        using errcode = 'integrity_constraint_violation', constraint = 'closings_despite_are_approved', table = 'book_closings';
    end if;
    return new;
  end $$;
create trigger closings_despite_are_approved before insert on book_closings
  for each row execute function require_second_person_to_close();

-- Money that came in under a reference, for whichever tenant: a transfer that repays an advance or settles what the bank
-- paid late funds no card account, nor does a payout that came back. Exceptions of cards are settled with the network, and
-- not at the bank. Entered again after a reversal, a reference has a number behind it.
create function directory_fundings(refs text[])
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
    where j.kind <> 'exception_settled' or t.debit_account_id in ('bank:' || j.tenant_id, 'ppi_bank:' || j.tenant_id)
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function request_approval, directory_fundings to svc_service;
grant execute on function posted_alone, limit_of_all_tenants to svc_service, svc_operator;
