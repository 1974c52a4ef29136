create table qr_codes (
  qr_code_id       text collate "C" not null,
  merchant_id      text collate "C" not null references merchants,
  tr               text collate "C" not null unique,
  upi_uri          text not null,
  qr_name          text,
  multiple_use     boolean not null,
  fixed_amount     boolean not null,
  amount_paise     bigint check (amount_paise > 0),
  description      text,
  expiry_at        timestamptz,
  custom_params    jsonb,
  status           text not null check (status in ('ACTIVE', 'CANCELLED')),
  customer_name    text,
  customer_email   text,
  customer_mobile  text,
  customer_id      text,
  reference_number text,
  -- True on the one code that a repeat of this reference number would return (decision Q9).
  holds_reference  boolean not null,
  request_hash     bytea not null,
  accepted_count   integer not null default 0,
  accepted_paise   bigint not null default 0,
  created_at       timestamptz not null,
  modified_at      timestamptz not null,
  -- Whether `qr_code.expired` was published; set in the transaction that writes the event.
  expiry_told      boolean not null default false,
  -- Counts what the row lock serializes, accepted payments and the closing: a signed receipt of a revision is final.
  revision         integer not null default 0,
  close_reason     text constraint known_close_reason check (close_reason in ('cancelled', 'paid', 'expired')),
  closed_at        timestamptz,
  last_utr         text,
  constraint amount_of_fixed_codes check (amount_paise is not null or not fixed_amount),
  constraint single_use_paid_once check (multiple_use or accepted_count <= 1)
);
create index qr_codes_newest on qr_codes (merchant_id, created_at desc, qr_code_id desc);
alter table qr_codes add primary key (merchant_id, qr_code_id);
create index qr_codes_by_id on qr_codes (qr_code_id);
create unique index qr_codes_reference on qr_codes (merchant_id, reference_number) where holds_reference;
-- The reference first: operators look for one among all merchants.
create index qr_codes_by_reference on qr_codes (reference_number, merchant_id) where reference_number is not null;
create index qr_codes_by_customer on qr_codes (merchant_id, customer_id) where customer_id is not null;
create index qr_codes_to_expire on qr_codes (expiry_at)
  where expiry_at is not null and not expiry_told and status = 'ACTIVE';
-- Expired codes are closed after the rail's grace: until then a credit that was paid in time is accepted.
create index qr_codes_to_close on qr_codes (expiry_at)
  where expiry_told and close_reason is null and status = 'ACTIVE';
-- Few codes are cancelled among very many that are active; the console lists them by their ids.
create index qr_codes_cancelled on qr_codes (qr_code_id) where status = 'CANCELLED';
select secure_tenants('qr_codes', 'merchant_id');
grant select, insert, update on qr_codes to svc_service;
grant select on qr_codes to svc_operator;

create table payments (
  payment_id   text collate "C" not null,
  merchant_id  text collate "C" not null references tenants,
  -- null: the credit belongs to no code and is in the suspense account of the platform
  qr_code_id   text collate "C",
  utr          text collate "C" not null,
  tr           text not null,
  amount_paise bigint not null check (amount_paise > 0),
  -- null or masked, as the bank reports it
  payer_vpa    text,
  -- ASSIGNED: was in the platform's suspense; another payment has it now, of the merchant whom it was assigned to
  status       text not null check (status in ('ACCEPTED', 'REFUND_PENDING', 'REFUNDED', 'SUSPENSE', 'ASSIGNED')),
  reason       text,
  created_at   timestamptz not null,
  refunded_at  timestamptz,
  -- the notice as the bank signed it, and what it says of the time
  notice         bytea,
  transaction_at timestamptz,
  flags          text[] not null default '{}',
  -- what the merchant refunds or has refunded; failed refunds do not count
  refund_paise   bigint not null default 0,
  -- what the payer disputes or got back by a dispute; disputes that the merchant won do not count
  dispute_paise  bigint not null default 0,
  -- when it was assigned or returned out of suspense
  resolved_at    timestamptz,
  -- the payment in the platform's suspense that it was assigned from
  assigned_from  text collate "C",
  constraint refunds_within_payment check (refund_paise between 0 and amount_paise),
  constraint disputes_within_payment check (dispute_paise between 0 and amount_paise - refund_paise),
  constraint only_accepted_are_refunded check (refund_paise = 0 or status = 'ACCEPTED'),
  constraint only_accepted_are_disputed check (dispute_paise = 0 or status = 'ACCEPTED'),
  constraint resolved_out_of_suspense check (resolved_at is null or qr_code_id is null),
  constraint assigned_is_resolved check (status <> 'ASSIGNED' or resolved_at is not null),
  constraint code_is_the_merchants foreign key (merchant_id, qr_code_id) references qr_codes (merchant_id, qr_code_id)
);
create index payments_of_code on payments (merchant_id, qr_code_id, created_at desc, payment_id desc);
alter table payments add primary key (merchant_id, payment_id);
-- A credit that was assigned out of the platform's suspense has two payments, of which one is live.
create unique index assigned_once on payments (assigned_from) where assigned_from is not null;
create unique index one_credit_per_utr on payments (utr, (status = 'ASSIGNED'));
create index payments_by_id on payments (payment_id);
create index payments_to_refund on payments (created_at) where status = 'REFUND_PENDING';
-- Payments over all codes of a merchant, newest first; those that need attention are few among very many.
create index payments_newest on payments (merchant_id, created_at desc, payment_id desc);
create index payments_not_accepted on payments (merchant_id, created_at desc, payment_id desc)
  where status <> 'ACCEPTED';
-- The same among all merchants, for operators.
create index payments_not_accepted_by_id on payments (status, payment_id) where status <> 'ACCEPTED';
select secure_tenants('payments', 'merchant_id');
grant select, insert, update on payments to svc_service;
grant select on payments to svc_operator;

-- Refunds of accepted payments, by their merchants.
create table merchant_refunds (
  merchant_id      text collate "C" not null references merchants,
  refund_id        text collate "C" not null,
  payment_id       text collate "C" not null,
  amount_paise     bigint not null check (amount_paise > 0),
  -- the part beyond what was payable to the merchant
  advanced_paise   bigint not null check (advanced_paise between 0 and amount_paise),
  reference_number text collate "C" not null,
  reason           text,
  -- a repeat of the reference with another request is refused
  request_hash     bytea not null,
  status           text not null check (status in ('PENDING', 'SENT', 'REFUNDED', 'FAILED')),
  failure_reason   text,
  -- the run that sent it to the bank
  run_id           text collate "C",
  -- the bank's own reference of the refund
  utr              text collate "C" constraint one_refund_per_utr unique,
  created_at       timestamptz not null,
  sent_at          timestamptz,
  completed_at     timestamptz,
  primary key (merchant_id, refund_id),
  constraint one_refund_per_reference unique (merchant_id, reference_number),
  constraint payment_is_the_merchants
    foreign key (merchant_id, payment_id) references payments (merchant_id, payment_id),
  constraint completed_when_final check ((status in ('REFUNDED', 'FAILED')) = (completed_at is not null)),
  constraint failed_with_reason check ((status = 'FAILED') = (failure_reason is not null))
);
create index merchant_refunds_of_payment on merchant_refunds (merchant_id, payment_id, created_at desc, refund_id desc);
create index merchant_refunds_by_id on merchant_refunds (refund_id);
create index merchant_refunds_by_reference on merchant_refunds (reference_number);
create index merchant_refunds_of_run on merchant_refunds (run_id, refund_id) where run_id is not null;
create index merchant_refunds_open on merchant_refunds (created_at) where status in ('PENDING', 'SENT');
select secure_tenants('merchant_refunds', 'merchant_id');
grant select, insert on merchant_refunds to svc_service;
grant update (status, failure_reason, run_id, utr, sent_at, completed_at) on merchant_refunds to svc_service;
grant select on merchant_refunds to svc_operator;

-- Accepted payments that their payers dispute, as the bank of the rail reports (decision Q17).
create table disputes (
  merchant_id     text collate "C" not null references merchants,
  dispute_id      text collate "C" not null,
  payment_id      text collate "C" not null,
  -- the network's reference of the case
  case_reference  text collate "C" not null constraint one_dispute_per_case unique,
  amount_paise    bigint not null check (amount_paise > 0),
  -- the part beyond what was payable to the merchant
  advanced_paise  bigint not null check (advanced_paise between 0 and amount_paise),
  -- as the bank reports it
  reason          text,
  status          text not null check (status in ('OPEN', 'EVIDENCE_SUBMITTED', 'ACCEPTED', 'WON', 'LOST')),
  evidence        text,
  -- lost when there is no evidence by then
  evidence_due_at timestamptz not null,
  -- the notice as the bank signed it
  notice          bytea not null,
  created_at      timestamptz not null,
  evidence_at     timestamptz,
  closed_at       timestamptz,
  primary key (merchant_id, dispute_id),
  constraint payment_is_the_merchants
    foreign key (merchant_id, payment_id) references payments (merchant_id, payment_id),
  constraint evidence_as_a_whole check ((evidence is null) = (evidence_at is null)),
  constraint evidence_when_submitted check (status <> 'EVIDENCE_SUBMITTED' or evidence is not null),
  constraint open_without_evidence check (status <> 'OPEN' or evidence is null),
  constraint dispute_closed_when_final check ((status in ('ACCEPTED', 'WON', 'LOST')) = (closed_at is not null))
);
create index disputes_newest on disputes (merchant_id, created_at desc, dispute_id desc);
create index disputes_of_payment on disputes (merchant_id, payment_id);
create index disputes_by_id on disputes (dispute_id);
create index disputes_overdue on disputes (evidence_due_at) where status = 'OPEN';
select secure_tenants('disputes', 'merchant_id');
grant select, insert on disputes to svc_service;
grant update (status, evidence, evidence_at, closed_at) on disputes to svc_service;
grant select on disputes to svc_operator;

-- Signed notices that are no payment by themselves: those that cannot be read or contradict an earlier one wait here
-- until somebody assigns them, and those that repeat an earlier one in other words are kept beside it.
create table rail_notices (
  tenant_id   text collate "C" not null references tenants,
  -- the SHA-256 of the body: the same notice is kept once
  notice_id   text collate "C" not null,
  body        bytea not null,
  status      text not null check (status in ('QUARANTINED', 'ASSIGNED', 'DUPLICATE')),
  reason      text,
  utr         text collate "C",
  -- the payment that it repeats, contradicts or became
  payment_id  text collate "C",
  flags       text[] not null,
  received_at timestamptz not null,
  assigned_at timestamptz,
  assigned_by text,
  primary key (tenant_id, notice_id),
  check ((status = 'ASSIGNED') = (assigned_at is not null and assigned_by is not null))
);
create index rail_notices_waiting on rail_notices (tenant_id, received_at desc, notice_id desc)
  where status = 'QUARANTINED';
create index rail_notices_by_id on rail_notices (notice_id);
create index rail_notices_of_payment on rail_notices (payment_id) where payment_id is not null;
select secure_tenants('rail_notices', 'tenant_id');
grant select, insert on rail_notices to svc_service;
grant update (status, payment_id, assigned_at, assigned_by) on rail_notices to svc_service;
grant select on rail_notices to svc_operator;

-- What the bank of the rail has paid us, as its settlement files say: one line for each credit.
create table settlement_lines (
  -- the merchant of the payment, or the platform as long as no payment has this reference
  tenant_id    text collate "C" not null references tenants,
  utr          text collate "C" not null,
  file_id      text collate "C" not null,
  line         integer not null,
  amount_paise bigint not null check (amount_paise > 0),
  settled_on   date not null,
  status       text not null check (status in ('MATCHED', 'DIFFERS', 'UNKNOWN')),
  payment_id   text collate "C",
  journal_id   text collate "C",
  recorded_at  timestamptz not null,
  primary key (tenant_id, utr),
  constraint payment_is_the_tenants foreign key (tenant_id, payment_id) references payments (merchant_id, payment_id),
  constraint journal_is_the_tenants foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id),
  check ((status = 'MATCHED') = (journal_id is not null)),
  check ((status = 'UNKNOWN') = (payment_id is null))
);
create index settlement_lines_differing on settlement_lines (recorded_at desc) where status <> 'MATCHED';
select secure_tenants('settlement_lines', 'tenant_id');
grant select, insert, update (file_id, line, amount_paise, settled_on, status, journal_id, recorded_at) on settlement_lines to svc_service;
grant select on settlement_lines to svc_operator;

-- Where the money of a merchant goes, and what state taxes its fees; as the operator who set them last entered them.
create table payout_details (
  merchant_id    text collate "C" primary key references merchants,
  account_holder text not null check (char_length(account_holder) between 1 and 100),
  account_number text not null check (account_number ~ '^[0-9]{6,18}$'),
  -- what people and the audit see of it
  account_ends   text not null generated always as (right(account_number, 4)) stored,
  ifsc           text not null check (ifsc ~ '^[A-Z]{4}0[A-Z0-9]{6}$'),
  -- GST state code of the merchant; null: not known, taxed as if it were the platform's
  gst_state      text check (gst_state ~ '^[0-9]{2}$'),
  updated_at     timestamptz not null
);
create constraint trigger audited after insert or update or delete on payout_details deferrable initially deferred
  for each row execute function audit_change('payout_details', 'merchant_id', 'merchant_id', 'account_holder,account_ends,ifsc,gst_state,updated_at');
select secure_tenants('payout_details', 'merchant_id');
grant select on payout_details to svc_service;
grant select, insert, update on payout_details to svc_operator;

-- What a merchant is charged for each payment, from this business day on.
create table merchant_fees (
  merchant_id  text collate "C" not null references merchants,
  valid_from   date not null,
  basis_points integer not null check (basis_points between 0 and 10000),
  fixed_paise  bigint not null check (fixed_paise between 0 and 100000),
  created_at   timestamptz not null,
  primary key (merchant_id, valid_from)
);
create constraint trigger audited after insert or update or delete on merchant_fees deferrable initially deferred
  for each row execute function audit_change('merchant_fee', 'valid_from', 'merchant_id', 'valid_from,basis_points,fixed_paise');
select secure_tenants('merchant_fees', 'merchant_id');
grant select on merchant_fees to svc_service;
grant select, insert, update on merchant_fees to svc_operator;

-- What is paid out to a merchant: payments less refunds, fees and the tax on fees.
create table payouts (
  merchant_id       text collate "C" not null references merchants,
  payout_id         text collate "C" not null,
  business_day      date not null,
  payment_count     integer not null check (payment_count >= 0),
  payment_paise     bigint not null check (payment_paise >= 0),
  refund_count      integer not null check (refund_count >= 0),
  -- refunds less those that failed after an earlier payout had deducted them
  refund_paise      bigint not null,
  -- the part of them that was advanced to the merchant and is repaid here
  advance_paise     bigint not null,
  fee_paise         bigint not null check (fee_paise >= 0),
  cgst_paise        bigint not null check (cgst_paise >= 0),
  sgst_paise        bigint not null check (sgst_paise >= 0),
  igst_paise        bigint not null check (igst_paise >= 0),
  amount_paise      bigint not null check (amount_paise > 0),
  account_holder    text not null,
  account_number    text not null,
  ifsc              text not null,
  status            text not null check (status in ('PREPARED', 'APPROVED', 'SENT', 'PAID', 'FAILED', 'CANCELLED')),
  prepared_by       text not null,
  approved_by       text,
  -- the run that sent it to the bank
  run_id            text collate "C",
  -- the bank's own reference of the payout
  utr               text collate "C" constraint one_payout_per_utr unique,
  failure_reason    text,
  -- the earliest payment or refund in it
  first_at          timestamptz not null,
  created_at        timestamptz not null,
  approved_at       timestamptz,
  sent_at           timestamptz,
  completed_at      timestamptz,
  primary key (merchant_id, payout_id),
  constraint payout_adds_up check (amount_paise
    = payment_paise - refund_paise - fee_paise - cgst_paise - sgst_paise - igst_paise),
  constraint approved_by_another_person check (approved_by is null or approved_by <> prepared_by),
  constraint sent_when_approved check (status in ('PREPARED', 'CANCELLED') or approved_by is not null),
  constraint payout_completed_when_final check ((status in ('PAID', 'FAILED', 'CANCELLED')) = (completed_at is not null)),
  constraint payout_failed_with_reason check ((status in ('FAILED', 'CANCELLED')) = (failure_reason is not null))
);
create index payouts_newest on payouts (merchant_id, created_at desc, payout_id desc);
create index payouts_by_id on payouts (payout_id);
create index payouts_of_day on payouts (business_day, payout_id);
create index payouts_open on payouts (status, created_at) where status in ('PREPARED', 'APPROVED', 'SENT');
create index payouts_of_run on payouts (run_id, payout_id) where run_id is not null;
select secure_tenants('payouts', 'merchant_id');
grant select, insert on payouts to svc_service;
grant update (status, approved_by, run_id, utr, failure_reason, approved_at, sent_at, completed_at) on payouts to svc_service;
grant select on payouts to svc_operator;

-- What a payout is made of. A payment or refund is in one payout, unless that one failed or was cancelled.
create table payout_lines (
  merchant_id   text collate "C" not null,
  payout_id     text collate "C" not null,
  -- the payment, refund or dispute
  object_id     text collate "C" not null,
  kind          text not null check (kind in ('payment', 'refund', 'refund_failed', 'dispute', 'dispute_won')),
  occurred_at   timestamptz not null,
  amount_paise  bigint not null check (amount_paise > 0),
  advance_paise bigint not null check (advance_paise between 0 and amount_paise),
  fee_paise     bigint not null check (fee_paise >= 0),
  cgst_paise    bigint not null check (cgst_paise >= 0),
  sgst_paise    bigint not null check (sgst_paise >= 0),
  igst_paise    bigint not null check (igst_paise >= 0),
  -- the payout failed or was cancelled: what it was made of is due again
  released      boolean not null default false,
  primary key (merchant_id, payout_id, object_id, kind),
  constraint payout_is_the_merchants foreign key (merchant_id, payout_id) references payouts (merchant_id, payout_id)
);
create unique index payout_lines_paid_once on payout_lines (merchant_id, object_id, kind) where not released;
create index payout_lines_in_order on payout_lines (merchant_id, payout_id, occurred_at, object_id);
select secure_tenants('payout_lines', 'merchant_id');
grant select, insert on payout_lines to svc_service;
grant update (released) on payout_lines to svc_service;
grant select on payout_lines to svc_operator;

-- Every payment of a merchant before this instant is in a payout: the next one reads from here.
create table payout_positions (
  merchant_id text collate "C" primary key references merchants,
  due_from    timestamptz not null
);
select secure_tenants('payout_positions', 'merchant_id');
grant select, insert, update on payout_positions to svc_service;
grant select on payout_positions to svc_operator;

-- Notices that the simulated UPI switch of the sandbox delays.
create table sandbox_upi_notices (
  notice_id text collate "C" not null,
  due_at    timestamptz not null,
  notice    jsonb not null
);
alter table sandbox_upi_notices add primary key (notice_id);
create index sandbox_upi_notices_due on sandbox_upi_notices (due_at);
grant select, insert, update, delete on sandbox_upi_notices to svc_service;
grant select on sandbox_upi_notices to svc_operator;

create function directory_qr_codes(trs text[]) returns table (tr text, merchant_id text, qr_code_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select q.tr, q.merchant_id, q.qr_code_id from qr_codes q where q.tr = any (trs) $$;

-- For the rail, which knows a credit by its bank reference: one reference names one credit among all tenants.
create function directory_payments(utrs text[]) returns setof payments
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select * from payments p where p.utr = any (utrs) and p.status <> 'ASSIGNED' $$;

-- Whose clearing account has the money of a credit: that of the tenant who received it first.
create function directory_credits(utrs text[]) returns table (utr text, tenant_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select p.utr, p.merchant_id from payments p where p.utr = any (utrs) and p.assigned_from is null $$;

-- The rail of the sandbox reads these and confirms them.
-- `before`: an id, which is of real time also where a tenant's test clock is ahead.
create function directory_refunds_pending(before text, most integer) returns table (utr text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select p.utr from payments p where p.status = 'REFUND_PENDING' and p.payment_id < before order by p.created_at limit most
  $$;

-- For the rail, which knows a refund by its id or by the bank's own reference.
create function directory_merchant_refunds(refund_ids text[], utrs text[])
  returns table (refund_id text, merchant_id text, payment_id text, utr text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select r.refund_id, r.merchant_id, r.payment_id, r.utr from merchant_refunds r where r.refund_id = any (refund_ids)
    union
    select r.refund_id, r.merchant_id, r.payment_id, r.utr from merchant_refunds r where r.utr = any (utrs)
  $$;

-- Refunds that the bank has not reported on; the rail of the sandbox makes them.
create function directory_merchant_refunds_open(before text, most integer)
  returns table (refund_id text, merchant_id text, amount_paise bigint)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select r.refund_id, r.merchant_id, r.amount_paise from merchant_refunds r
    where r.status in ('PENDING', 'SENT') and r.refund_id < before order by r.created_at limit most
  $$;

-- For the rail, which knows a dispute by the network's reference of the case.
create function directory_disputes(case_references text[])
  returns table (case_reference text, merchant_id text, dispute_id text, payment_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select d.case_reference, d.merchant_id, d.dispute_id, d.payment_id from disputes d
    where d.case_reference = any (case_references)
  $$;

-- Disputes whose deadline has passed without evidence. `only_tenants`: of these; null: of all.
create function directory_disputes_overdue(now timestamptz, most integer, only_tenants text[])
  returns table (merchant_id text, dispute_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select d.merchant_id, d.dispute_id from disputes d
    where d.status = 'OPEN' and d.evidence_due_at <= now
      and (only_tenants is null or d.merchant_id = any (only_tenants))
    order by d.evidence_due_at limit most
  $$;

-- One reference of the bank names one payout among all merchants.
create function directory_payouts(utrs text[]) returns table (utr text, payout_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select y.utr, y.payout_id from payouts y where y.utr = any (utrs) $$;

-- `only_tenants`: what is due of these; null: of all.
create function directory_qr_codes_expired(now timestamptz, most integer, only_tenants text[])
  returns table (merchant_id text, qr_code_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select q.merchant_id, q.qr_code_id from qr_codes q
    where q.expiry_at <= now and q.expiry_at is not null and not q.expiry_told and q.status = 'ACTIVE'
      and (only_tenants is null or q.merchant_id = any (only_tenants))
    order by q.expiry_at limit most
  $$;

create function directory_qr_codes_to_close(before timestamptz, most integer, only_tenants text[])
  returns table (merchant_id text, qr_code_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select q.merchant_id, q.qr_code_id from qr_codes q
    where q.expiry_told and q.close_reason is null and q.status = 'ACTIVE' and q.expiry_at <= before
      and (only_tenants is null or q.merchant_id = any (only_tenants))
    order by q.expiry_at limit most
  $$;

-- A credit that fits no code belongs to the merchant whom the payer paid, where the bank says whom.
create function directory_payees(vpas text[])
  returns table (vpa text, merchant_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select lower(m.vpa), m.merchant_id from merchants m where lower(m.vpa) collate "C" = any (vpas) $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_qr_codes, directory_payments, directory_credits, directory_refunds_pending, directory_merchant_refunds,
  directory_merchant_refunds_open, directory_qr_codes_expired,
  directory_qr_codes_to_close, directory_payees, directory_payouts, directory_disputes, directory_disputes_overdue
  to svc_service;
