-- What an installation owed when it took over from another system (decision R14): one journal for each ledger account,
-- imported once. After its reversal another one may be imported.
create table opening_balances (
  tenant_id    text collate "C" not null references tenants,
  journal_id   text collate "C" not null,
  account_id   text collate "C" not null,
  amount_paise bigint not null check (amount_paise > 0),
  -- the file and its line
  reference    text collate "C" not null,
  -- the payout that has it; null: it is due, or the account is none of a merchant
  payout_id    text collate "C",
  -- the journal that took it back
  reversed_by  text collate "C",
  created_at   timestamptz not null,
  primary key (tenant_id, journal_id),
  constraint journal_is_the_tenants foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id),
  constraint account_is_the_tenants foreign key (tenant_id, account_id) references ledger_accounts (tenant_id, account_id),
  constraint reversal_is_the_tenants foreign key (tenant_id, reversed_by) references journals (tenant_id, journal_id),
  constraint payout_is_the_tenants foreign key (tenant_id, payout_id) references payouts (merchant_id, payout_id),
  constraint paid_out_is_not_reversed check (payout_id is null or reversed_by is null)
);
create unique index opening_balances_one_standing on opening_balances (tenant_id, account_id) where reversed_by is null;
select secure_tenants('opening_balances', 'tenant_id');
grant select, insert, update (payout_id, reversed_by) on opening_balances to svc_service;
grant select on opening_balances to svc_operator;

-- Corrections of the amounts of accepted payments, each by a reference of the bank (decision Q18). The payment keeps the
-- amount of its notice.
create table payment_adjustments (
  merchant_id    text collate "C" not null references merchants,
  adjustment_id  text collate "C" not null,
  payment_id     text collate "C" not null,
  -- what the payment amounts to from then on, and by how much that changed it
  amount_paise   bigint not null check (amount_paise > 0),
  change_paise   bigint not null check (change_paise <> 0),
  -- the part of a change below zero beyond what was payable to the merchant
  advanced_paise bigint not null check (advanced_paise between 0 and greatest(0, - change_paise)),
  reference      text collate "C" not null,
  reason         text not null,
  created_at     timestamptz not null,
  primary key (merchant_id, adjustment_id),
  constraint one_adjustment_per_reference unique (merchant_id, reference),
  constraint payment_is_the_merchants
    foreign key (merchant_id, payment_id) references payments (merchant_id, payment_id)
);
create index payment_adjustments_of_payment on payment_adjustments (merchant_id, payment_id, created_at);
select secure_tenants('payment_adjustments', 'merchant_id');
grant select, insert on payment_adjustments to svc_service;
grant select on payment_adjustments to svc_operator;

alter table payments add column adjusted_paise bigint not null default 0;
alter table payments drop constraint refunds_within_payment;
alter table payments drop constraint disputes_within_payment;
alter table payments
  add constraint refunds_within_payment check (refund_paise between 0 and amount_paise + adjusted_paise) not valid,
  add constraint disputes_within_payment
    check (dispute_paise between 0 and amount_paise + adjusted_paise - refund_paise) not valid,
  add constraint adjusted_to_an_amount check (amount_paise + adjusted_paise > 0) not valid,
  add constraint only_accepted_are_adjusted check (adjusted_paise = 0 or status = 'ACCEPTED') not valid;

-- What a payout adds to payments: opening balances, and corrections of payments, which may be below zero.
alter table payouts
  add column adjustment_count integer not null default 0,
  add column adjustment_paise bigint not null default 0;
alter table payouts drop constraint payout_adds_up;
alter table payouts add constraint payout_adds_up check (amount_paise
  = payment_paise + adjustment_paise - refund_paise - fee_paise - cgst_paise - sgst_paise - igst_paise) not valid;
alter table payout_lines drop constraint payout_lines_kind_check;
alter table payout_lines add constraint payout_lines_kind_check check (
  kind in ('payment', 'refund', 'refund_failed', 'dispute', 'dispute_won', 'opening_balance', 'adjustment_up',
    'adjustment_down')) not valid;

revoke execute on all functions in schema svc from public;
