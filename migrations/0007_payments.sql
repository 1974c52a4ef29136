-- QR codes and what comes of them: payments, refunds, disputes, and notices that are no payment by themselves.

-- A QR code of a merchant. What is paid to it is in `payments`; the totals here are under its row lock.
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
  -- what the merchant says with a cancellation: not in the specified record
  cancel_reason    text,
  -- the least that may be paid of a suggested amount: `mam` of the string
  minimum_paise    bigint,
  constraint minimum_of_suggested_amounts
    check (minimum_paise is null or (minimum_paise between 1 and amount_paise and not fixed_amount)),
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
grant select, insert, update (status, holds_reference, accepted_count, accepted_paise, modified_at, expiry_told,
  revision, close_reason, closed_at, last_utr, cancel_reason) on qr_codes to svc_service;
grant select on qr_codes to svc_operator;

-- Credits that the rail reported: accepted ones, those that go back to their payers, and those in suspense.
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
  -- ASSIGNED: was in the platform's suspense; another payment has it now, of the merchant whom it was assigned to.
  -- UNASSIGNED: was a merchant's by an assignment that was taken back; the payment that it came from has the credit again.
  status       text not null
    check (status in ('ACCEPTED', 'REFUND_PENDING', 'REFUNDED', 'SUSPENSE', 'ASSIGNED', 'UNASSIGNED')),
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
  -- by how much corrections changed its amount (decision Q18)
  adjusted_paise bigint not null default 0,
  -- how often an assignment of it was taken back (decision Q16): its journals are numbered with it
  taken_back   smallint not null default 0,
  constraint only_accepted_are_refunded check (refund_paise = 0 or status = 'ACCEPTED'),
  constraint only_accepted_are_disputed check (dispute_paise = 0 or status = 'ACCEPTED'),
  constraint assigned_is_resolved check (status <> 'ASSIGNED' or resolved_at is not null),
  constraint code_is_the_merchants foreign key (merchant_id, qr_code_id) references qr_codes (merchant_id, qr_code_id),
  constraint refunds_within_payment check (refund_paise between 0 and amount_paise + adjusted_paise),
  constraint disputes_within_payment
    check (dispute_paise between 0 and amount_paise + adjusted_paise - refund_paise),
  constraint adjusted_to_an_amount check (amount_paise + adjusted_paise > 0),
  constraint only_accepted_are_adjusted check (adjusted_paise = 0 or status = 'ACCEPTED'),
  -- A payment of a code comes into suspense where the notice was assigned to it, and that was taken back.
  constraint resolved_out_of_suspense
    check (resolved_at is null or qr_code_id is null or reason is null),
  constraint unassigned_is_of_another check (status <> 'UNASSIGNED' or assigned_from is not null)
);
create index payments_of_code on payments (merchant_id, qr_code_id, created_at desc, payment_id desc);
alter table payments add primary key (merchant_id, payment_id);
create index payments_by_id on payments (payment_id);
create index payments_to_refund on payments (created_at) where status = 'REFUND_PENDING';
-- Payments over all codes of a merchant, newest first; those that need attention are few among very many.
create index payments_newest on payments (merchant_id, created_at desc, payment_id desc);
create index payments_not_accepted on payments (merchant_id, created_at desc, payment_id desc)
  where status <> 'ACCEPTED';
-- The same among all merchants, for operators.
create index payments_not_accepted_by_id on payments (status, payment_id) where status <> 'ACCEPTED';
create unique index one_live_credit_per_utr on payments
  (utr, (case status when 'ASSIGNED' then 'ASSIGNED' when 'UNASSIGNED' then payment_id else '' end));
create unique index assigned_to_one on payments (assigned_from)
  where assigned_from is not null and status <> 'UNASSIGNED';
select secure_tenants('payments', 'merchant_id');
grant select, insert, update (status, reason, refunded_at, refund_paise, dispute_paise, resolved_at, assigned_from,
  adjusted_paise, taken_back) on payments to svc_service;
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
  -- the operator who made the refund; null: the merchant itself
  requested_by     text,
  -- The notice, as the bank signed it, by which the refund failed; null: an operator recorded it. What becomes payable
  -- again without a notice needs a second person above the limit (decision R10).
  outcome_notice   bytea,
  -- of a refund that the bank reported as failed, and made after all (decision Q14): when it had failed
  failed_at        timestamptz,
  -- when the bank reported that it had made a failed refund whose money was spent, or not left of its payment
  refunded_late_at timestamptz,
  primary key (merchant_id, refund_id),
  constraint one_refund_per_reference unique (merchant_id, reference_number),
  constraint payment_is_the_merchants
    foreign key (merchant_id, payment_id) references payments (merchant_id, payment_id),
  constraint completed_when_final check ((status in ('REFUNDED', 'FAILED')) = (completed_at is not null)),
  constraint failed_with_reason check ((status = 'FAILED') = (failure_reason is not null)),
  constraint failed_before_it_was_refunded check (failed_at is null or status = 'REFUNDED'),
  constraint refunded_late_when_failed
    check (refunded_late_at is null or status = 'FAILED' and utr is not null)
);
create index merchant_refunds_of_payment on merchant_refunds (merchant_id, payment_id, created_at desc, refund_id desc);
create index merchant_refunds_by_id on merchant_refunds (refund_id);
create index merchant_refunds_by_reference on merchant_refunds (reference_number);
create index merchant_refunds_of_run on merchant_refunds (run_id, refund_id) where run_id is not null;
create index merchant_refunds_open on merchant_refunds (created_at) where status in ('PENDING', 'SENT');
select secure_tenants('merchant_refunds', 'merchant_id');
grant select, insert, update (status, failure_reason, run_id, utr, sent_at, completed_at, outcome_notice, failed_at,
  refunded_late_at) on merchant_refunds to svc_service;
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
  -- the notice by which the dispute was won, as of a refund
  outcome_notice  bytea,
  -- of the newest evidence
  evidence_sent_at timestamptz,
  evidence_receipt text,
  -- what an operator asked the merchant to add, the newest of it
  evidence_request text,
  evidence_requested_at timestamptz,
  primary key (merchant_id, dispute_id),
  constraint payment_is_the_merchants
    foreign key (merchant_id, payment_id) references payments (merchant_id, payment_id),
  constraint evidence_as_a_whole check ((evidence is null) = (evidence_at is null)),
  constraint evidence_request_as_a_whole check (
    (evidence_request is null) = (evidence_requested_at is null) and char_length(evidence_request) <= 1000),
  constraint evidence_when_submitted check (status <> 'EVIDENCE_SUBMITTED' or evidence is not null),
  constraint open_without_evidence check (status <> 'OPEN' or evidence is null),
  constraint dispute_closed_when_final check ((status in ('ACCEPTED', 'WON', 'LOST')) = (closed_at is not null))
);
create index disputes_newest on disputes (merchant_id, created_at desc, dispute_id desc);
create index disputes_of_payment on disputes (merchant_id, payment_id);
create index disputes_by_id on disputes (dispute_id);
create index disputes_overdue on disputes (evidence_due_at) where status = 'OPEN';
create index disputes_unsent on disputes (evidence_due_at)
  where status = 'EVIDENCE_SUBMITTED' and evidence_sent_at is null;
select secure_tenants('disputes', 'merchant_id');
grant select, insert, update (status, evidence, evidence_at, closed_at, outcome_notice, evidence_sent_at,
  evidence_receipt, evidence_request, evidence_requested_at) on disputes to svc_service;
grant select on disputes to svc_operator;

-- Signed notices that are no payment by themselves: those that cannot be read or contradict an earlier one wait here
-- until somebody assigns them, and those that repeat an earlier one in other words are kept beside it.
create table rail_notices (
  tenant_id   text collate "C" not null references tenants,
  -- the SHA-256 of the body: the same notice is kept once
  notice_id   text collate "C" not null,
  body        bytea not null,
  status      text not null check (status in ('QUARANTINED', 'ASSIGNED', 'DISMISSED', 'DUPLICATE', 'IGNORED')),
  reason      text,
  utr         text collate "C",
  -- the payment that it repeats, contradicts or became
  payment_id  text collate "C",
  flags       text[] not null,
  received_at timestamptz not null,
  assigned_at timestamptz,
  assigned_by text,
  -- of notices of transfers: the card account that the notice is about, or was assigned to
  card_account_id text collate "C",
  -- why an operator ended it without effect
  dismissal   text,
  -- which field cannot be read, and what it states (decision Q11)
  field       text,
  detail      text,
  primary key (tenant_id, notice_id),
  check ((status in ('ASSIGNED', 'DISMISSED')) = (assigned_at is not null and assigned_by is not null)),
  constraint dismissed_with_reason check ((status = 'DISMISSED') = (dismissal is not null)),
  constraint ignored_by_settings
    check ((status = 'IGNORED') = (reason is not distinct from 'ignored'))
);
create index rail_notices_waiting on rail_notices (tenant_id, received_at desc, notice_id desc)
  where status = 'QUARANTINED';
create index rail_notices_by_id on rail_notices (notice_id);
create index rail_notices_of_payment on rail_notices (payment_id) where payment_id is not null;
create index rail_notices_by_body on rail_notices using hash (body);
select secure_tenants('rail_notices', 'tenant_id');
grant select, insert, update (status, payment_id, assigned_at, assigned_by, card_account_id, dismissal) on
  rail_notices to svc_service;
grant select on rail_notices to svc_operator;

-- Proof of what comes from the world (decision R19). Signed messages are stored by the rail's login alone. What operators do with one that waits in quarantine, they do with
-- the bytes that are stored there.
create function refuse_unsigned() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    raise exception 'only what the bank or the network signed is stored here, by the login of the rails'
      using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
  end $$;
create trigger born_without_outcome before insert on merchant_refunds for each row
  when (new.outcome_notice is not null and not is_rail()) execute function refuse_unsigned();
create trigger born_without_outcome before insert on disputes for each row
  when (new.outcome_notice is not null and not is_rail()) execute function refuse_unsigned();

-- Whether a value of a notice is this reference, whole and in whatever spelling: one that stands in another proves nothing.
create function names_reference(body bytea, reference text) returns boolean
  language sql immutable set search_path = svc, pg_temp
  as $$
    select b.text like any (array['%"' || r.text || '"%', '%:' || r.text || ',%', '%:' || r.text || '}%'])
    from (select regexp_replace(upper(encode(body, 'escape')), '[^A-Z0-9":,}]', '', 'g') as text) b,
      (select regexp_replace(upper(reference), '[^A-Z0-9]', '', 'g') as text) r
  $$;

create function require_stored_notice() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if tg_table_name = 'rail_notices' then
      -- The same one again, which `on conflict do nothing` leaves as it is.
      if exists (select from rail_notices n where n.tenant_id = new.tenant_id and n.notice_id = new.notice_id
          and n.body = new.body) then return new; end if;
    elsif tg_table_name = 'disputes' and tg_op = 'INSERT' then
      if exists (select from rail_notices n where n.body = new.notice and n.flags && array['dispute_notice']
          and names_reference(n.body, new.case_reference)) then
        return new;
      end if;
    -- It is about what it ends: the bytes of another notice prove nothing.
    elsif exists (select from rail_notices n where n.body = new.outcome_notice and names_reference(
        n.body, coalesce(to_jsonb(new) ->> 'case_reference', to_jsonb(new) ->> 'refund_id'))) then
      return new;
    end if;
    raise exception 'no such signed notice was received'
      using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
  end $$;
create trigger notices_were_received before insert on rail_notices for each row
  when (not is_rail()) execute function require_stored_notice();
create trigger notices_were_received before insert on disputes for each row
  when (not is_rail()) execute function require_stored_notice();
create trigger outcomes_were_received before update of outcome_notice on disputes for each row
  when (new.outcome_notice is distinct from old.outcome_notice and not is_rail()) execute function require_stored_notice();
create trigger outcomes_were_received before update of outcome_notice on merchant_refunds for each row
  when (new.outcome_notice is distinct from old.outcome_notice and not is_rail()) execute function require_stored_notice();

-- A payment that the rail's login does not store is one that operators assigned: its notice waited in quarantine and is
-- assigned to it by the end of the transaction (and above the limit approved: `assignments_are_approved`); or it is the
-- second half of a credit in the platform's suspense, of the same money.
create function require_assigned_payment() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not exists (
      select from rail_notices n
      where n.body = new.notice and n.status = 'ASSIGNED' and n.payment_id = new.payment_id
      union all
      select from payments c join payments p on p.payment_id = c.assigned_from and p.status = 'ASSIGNED'
        and p.amount_paise = c.amount_paise and p.utr = c.utr
      where c.merchant_id = new.merchant_id and c.payment_id = new.payment_id and c.notice is null)
    then
      raise exception 'a payment has no signed notice'
        using errcode = 'integrity_constraint_violation', constraint = 'payments_were_notified', table = 'payments';
    end if;
    return null;
  end $$;
create constraint trigger payments_were_notified after insert on payments deferrable initially deferred for each row
  when (not is_rail()) execute function require_assigned_payment();

-- What an operator reads in a notice in quarantine becomes money at an amount that one person typed: above the limit its
-- assignment needs the approval of a second person, of that notice, its journal and amount (decision R10). What a notice
-- is about says its flags, which the service's login cannot change; a refund, a dispute and a transfer have rules of their
-- own. Checked where the notice is assigned, since each payment would otherwise pay for it.
create function require_approved_assignment() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not new.flags && array['refund_notice', 'dispute_notice', 'transfer_notice'] and not coalesce((
      select bool_and(l.above_paise is null or t.amount <= l.above_paise or exists (
        select from approvals p
        where p.tenant_id = t.tenant_id and p.journal_id = t.journal_id and p.kind = 'notice_assigned'
          and p.amount_paise = t.amount and p.reference = new.notice_id))
      from ledger_transfers t cross join approval_limit l
      where t.object_id = new.payment_id and t.kind = 'upi_credit'), false)
    then
      raise exception 'a notice assigned above the limit needs the approval of a second person'
        using errcode = 'integrity_constraint_violation', constraint = 'assignments_are_approved', table = 'rail_notices';
    end if;
    return null;
  end $$;
-- What became of a notice stays: it becomes one payment, of one amount.
create function keep_ended_notice() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    raise exception 'the notice % has ended as %', old.notice_id, old.status
      using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
  end $$;
create trigger ended_notices_stay before update on rail_notices for each row
  when (old.status = 'ASSIGNED' and new is distinct from old) execute function keep_ended_notice();

create trigger assignments_are_approved after insert or update of status, payment_id on rail_notices
  for each row when (new.status = 'ASSIGNED') execute function require_approved_assignment();

-- What goes to the bank of a payment is no more than came in of it, and was not disputed.
create function require_refund_step() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if tg_op = 'INSERT' and new.status <> 'PENDING' or tg_op = 'UPDATE' and new.status = 'SENT' and (not acts_for_operators()
      or not exists (
        select from journals j where j.tenant_id = new.merchant_id and j.journal_id = 'jrn_' || substr(new.refund_id, 5)
          and j.kind = 'merchant_refund' and new.amount_paise = (
            select sum(t.amount) from ledger_transfers t
            where t.tenant_id = j.tenant_id and t.journal_id = j.journal_id and t.object_id = new.refund_id))
      or (select sum(r.amount_paise) from merchant_refunds r
          where r.merchant_id = new.merchant_id and r.payment_id = new.payment_id and r.status <> 'FAILED')
        > (select least(p.refund_paise, p.amount_paise + p.adjusted_paise - (
              select coalesce(sum(d.amount_paise), 0) from disputes d
              where d.merchant_id = p.merchant_id and d.payment_id = p.payment_id and d.status <> 'WON')) from payments p
          where p.merchant_id = new.merchant_id and p.payment_id = new.payment_id and p.status = 'ACCEPTED'))
    then
      raise exception 'a refund does not come to % like this', new.status
        using errcode = 'integrity_constraint_violation', constraint = 'refund_steps_are_taken', table = 'merchant_refunds';
    end if;
    return new;
  end $$;
create trigger refund_is_born_pending before insert on merchant_refunds for each row
  when (new.status <> 'PENDING') execute function require_refund_step();
create trigger refund_steps_are_taken before update of status on merchant_refunds for each row
  when (new.status = 'SENT' and old.status <> 'SENT') execute function require_refund_step();

-- What a merchant submitted, in order; the dispute has the newest one. Each is sent once.
create table dispute_evidence (
  merchant_id     text collate "C" not null,
  evidence_id     text collate "C" not null,
  dispute_id      text collate "C" not null,
  evidence        text not null,
  created_at      timestamptz not null,
  sent_at         timestamptz,
  -- the file in which it went
  run_id          text collate "C",
  -- by which the bank or the network names what it received
  receipt         text check (char_length(receipt) between 1 and 100),
  attempts        integer not null default 0 check (attempts >= 0),
  -- when to call the bank again
  next_attempt_at timestamptz not null default clock_timestamp(),
  failure         text,
  primary key (merchant_id, evidence_id),
  constraint evidence_of_a_dispute foreign key (merchant_id, dispute_id) references disputes,
  constraint sent_before_it_is_received check (sent_at is not null or num_nonnulls(run_id, receipt) = 0)
);
create index dispute_evidence_of_dispute on dispute_evidence (merchant_id, dispute_id, evidence_id);
create index dispute_evidence_unsent on dispute_evidence (next_attempt_at) where sent_at is null;
create index dispute_evidence_of_run on dispute_evidence (run_id) where run_id is not null;
select secure_tenants('dispute_evidence', 'merchant_id');
grant select, insert, update (sent_at, run_id, receipt) on dispute_evidence to svc_service;
grant select, update (attempts, next_attempt_at, failure) on dispute_evidence to svc_operator;

-- Evidence that was sent stays so.
create function refuse_sending_again() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    raise exception 'evidence is sent once' using errcode = 'integrity_constraint_violation',
      constraint = tg_name, table = tg_table_name;
  end $$;
create trigger evidence_is_sent_once before update of sent_at, run_id, receipt on dispute_evidence for each row
  when (old.sent_at is not null and (new.sent_at is distinct from old.sent_at or new.run_id is distinct from old.run_id
    or (old.receipt is not null and new.receipt is distinct from old.receipt)))
  execute function refuse_sending_again();

-- Files of evidence, encrypted; of a dispute that has long ended only their size, type and hash are left.
create table dispute_attachments (
  merchant_id   text collate "C" not null,
  attachment_id text collate "C" not null,
  dispute_id    text collate "C" not null,
  -- until then it is uploaded and no part of any evidence
  evidence_id   text collate "C",
  name          text check (char_length(name) between 1 and 100),
  media_type    text not null check (media_type in ('application/pdf', 'image/jpeg', 'image/png')),
  size          integer not null check (size between 1 and 5242880),
  digest        bytea not null check (length(digest) = 32),
  content       bytea,
  created_at    timestamptz not null,
  erased_at     timestamptz,
  primary key (merchant_id, attachment_id),
  constraint file_of_a_dispute_once unique (merchant_id, dispute_id, digest),
  constraint attachment_of_a_dispute foreign key (merchant_id, dispute_id) references disputes,
  constraint attachment_of_evidence foreign key (merchant_id, evidence_id) references dispute_evidence,
  constraint erased_as_a_whole check (num_nulls(name, content) = case when erased_at is null then 0 else 2 end)
);
alter table dispute_attachments alter column content set storage external;
create index dispute_attachments_kept on dispute_attachments (merchant_id, dispute_id) where erased_at is null;
select secure_tenants('dispute_attachments', 'merchant_id');
grant select, insert, update (evidence_id) on dispute_attachments to svc_service;
grant select, update (name, content, erased_at) on dispute_attachments to svc_operator;

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
create index payment_adjustments_by_reference on payment_adjustments (reference);
select secure_tenants('payment_adjustments', 'merchant_id');
grant select, insert on payment_adjustments to svc_service;
grant select on payment_adjustments to svc_operator;

-- Each assignment that was taken back, with the journal that did it.
create table unassignments (
  tenant_id         text collate "C" not null references tenants,
  journal_id        text collate "C" not null,
  payment_id        text collate "C" not null,
  amount_paise      bigint not null check (amount_paise > 0),
  -- of the assignment out of the tenant's own suspense; null: the payment was accepted when it was created
  assigned_at       timestamptz,
  unassigned_at     timestamptz not null,
  -- the second journal, of the tenant whose suspense has the credit again; null: it is the same tenant
  origin_journal_id text collate "C" constraint restored_once unique,
  primary key (tenant_id, journal_id),
  constraint journal_is_the_tenants
    foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id) deferrable initially deferred,
  constraint payment_is_the_merchants
    foreign key (tenant_id, payment_id) references payments (merchant_id, payment_id)
);
create index unassignments_of_payment on unassignments (tenant_id, payment_id, unassigned_at);
select secure_tenants('unassignments', 'tenant_id');
grant select, insert on unassignments to svc_service;
grant select on unassignments to svc_operator;

-- Both journals have their row, of the same amount, and the payments are what it says by the end of the transaction.
create function require_unassignment() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not exists (
      select from unassignments u join payments p on p.merchant_id = u.tenant_id and p.payment_id = u.payment_id
        left join payments o on o.payment_id = p.assigned_from
      where u.amount_paise = new.amount and p.amount_paise = new.amount
        and case new.kind when 'suspense_unassigned'
          then u.tenant_id = new.tenant_id and u.journal_id = new.journal_id and u.payment_id = new.object_id
          else u.origin_journal_id = new.journal_id and o.merchant_id = new.tenant_id and o.payment_id = new.object_id end
        and case when u.origin_journal_id is null then p.status = 'SUSPENSE'
          else p.status = 'UNASSIGNED' and o.status = 'SUSPENSE' end)
    then
      raise exception 'no assignment that was taken back has this journal of kind %', new.kind
        using errcode = 'integrity_constraint_violation', constraint = 'unassignments_are_proven', table = 'ledger_transfers';
    end if;
    return null;
  end $$;
create constraint trigger unassignments_are_proven after insert on ledger_transfers deferrable initially deferred for each row
  when (new.kind in ('suspense_unassigned', 'suspense_restored')) execute function require_unassignment();

-- What rows of money say of themselves decides what leaves (decision R19): their states follow their steps, on the word of
-- the bank or of an operator, and with the journal of what they say. The service's login inserts and reads them.
create trigger by_an_operator before insert on payment_adjustments for each statement execute function require_operator();
create trigger by_an_operator before insert on unassignments for each statement execute function require_operator();

-- From which state a row comes to which. A refund that the bank reported as failed may have been made after all.
create function require_source() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  begin
    if not acts_for_operators() or new.status <> old.status and old.status || ' > ' || new.status <> all (case tg_table_name
        when 'merchant_refunds' then array['PENDING > SENT', 'PENDING > REFUNDED', 'PENDING > FAILED', 'SENT > REFUNDED',
          'SENT > FAILED', 'FAILED > REFUNDED']
        when 'payments' then array['SUSPENSE > ACCEPTED', 'SUSPENSE > ASSIGNED', 'SUSPENSE > REFUND_PENDING',
          'SUSPENSE > REFUNDED', 'REFUND_PENDING > REFUNDED', 'ACCEPTED > SUSPENSE', 'ACCEPTED > UNASSIGNED',
          'ASSIGNED > SUSPENSE']
        else array['OPEN > WON', 'EVIDENCE_SUBMITTED > WON', 'LOST > WON'] end)
    then
      raise exception '% does not come from % to % like this', tg_table_name, old.status, new.status
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return new;
  end $$;
create trigger states_have_a_source before update on merchant_refunds for each row
  when (not is_rail()) execute function require_source();
create trigger states_have_a_source before update on payments for each row
  when ((new.status, new.adjusted_paise, new.assigned_from, new.taken_back, new.reason, new.resolved_at, new.refunded_at)
    is distinct from (old.status, old.adjusted_paise, old.assigned_from, old.taken_back, old.reason, old.resolved_at,
      old.refunded_at) and not is_rail()) execute function require_source();
create trigger states_have_a_source before update on disputes for each row
  when (new.status <> old.status and (new.status = 'WON' or old.closed_at is not null) and not is_rail())
  execute function require_source();

-- What went to the bank went in one file.
create function keep_run() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    raise exception 'a run is named when it is sent'
      using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
  end $$;
create trigger runs_are_named_once before update on merchant_refunds for each row
  when ((new.run_id, new.sent_at) is distinct from (old.run_id, old.sent_at) and not (old.status = 'PENDING' and new.status = 'SENT'))
  execute function keep_run();

-- What an operator's login says of a row is in the ledger by the end of the transaction.
create function require_posted_state() returns trigger
  language plpgsql security definer set search_path = svc, pg_temp
  as $$
  declare
    said jsonb := to_jsonb(new);
    posted boolean;
  begin
    posted := case tg_table_name
      when 'merchant_refunds' then exists (
        select from journals j where j.tenant_id = new.merchant_id
          and j.journal_id = 'jrn_' || substr(said ->> 'refund_id', 5) || case said ->> 'status' when 'FAILED' then 'f' else 'p' end)
      when 'disputes' then exists (
        select from journals j where j.tenant_id = new.merchant_id
          and j.journal_id = 'jrn_' || substr(said ->> 'dispute_id', 5) || 'w')
      when 'payout_lines' then exists (
        select from payouts y where y.merchant_id = new.merchant_id and y.payout_id = said ->> 'payout_id'
          and y.status in ('FAILED', 'CANCELLED'))
      when 'payment_adjustments' then (said ->> 'change_paise')::bigint in (
        select s.sign * sum(t.amount) from ledger_transfers t cross join (values (1), (-1)) s (sign)
        where t.tenant_id = new.merchant_id and t.object_id = said ->> 'adjustment_id' and t.kind = 'payment_adjustment'
        group by s.sign)
      else (said ->> 'adjusted_paise')::bigint is not distinct from (
        select coalesce(sum(a.change_paise), 0) from payment_adjustments a
        where a.merchant_id = new.merchant_id and a.payment_id = said ->> 'payment_id') end;
    if not posted then
      raise exception 'no journal says what a row of % says', tg_table_name
        using errcode = 'integrity_constraint_violation', constraint = tg_name, table = tg_table_name;
    end if;
    return null;
  end $$;
create constraint trigger states_are_posted after update on merchant_refunds deferrable initially deferred for each row
  when (new.status <> old.status and new.status in ('FAILED', 'REFUNDED') and not is_rail())
  execute function require_posted_state();
create constraint trigger states_are_posted after update on disputes deferrable initially deferred for each row
  when (new.status <> old.status and new.status = 'WON' and not is_rail()) execute function require_posted_state();
create constraint trigger states_are_posted after insert on payment_adjustments deferrable initially deferred for each row
  execute function require_posted_state();
create constraint trigger states_are_posted after update on payments deferrable initially deferred for each row
  when (new.adjusted_paise <> old.adjusted_paise) execute function require_posted_state();

-- Notices that the simulated UPI switch of the sandbox delays.
create table sandbox_upi_notices (
  notice_id text collate "C" not null,
  due_at    timestamptz not null,
  notice    jsonb not null
);
alter table sandbox_upi_notices add primary key (notice_id);
create index sandbox_upi_notices_due on sandbox_upi_notices (due_at);
grant select, insert, update (due_at), delete on sandbox_upi_notices to svc_service;
grant select on sandbox_upi_notices to svc_operator;

-- Lookups of the rails and of background work, before a tenant is known (decision X4).
create function directory_qr_codes(trs text[]) returns table (tr text, merchant_id text, qr_code_id text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select q.tr, q.merchant_id, q.qr_code_id from qr_codes q where q.tr = any (trs) $$;

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

-- For the rail, which knows a credit by its bank reference: one reference names one credit among all tenants.
create function directory_payments(utrs text[]) returns setof payments
  language sql stable security definer set search_path = svc, pg_temp
  as $$ select * from payments p where p.utr = any (utrs) and p.status not in ('ASSIGNED', 'UNASSIGNED') $$;

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

-- Notices by id, of any tenant: an id is made of the bytes that were signed.
create function directory_notices(ids text[])
  returns table (notice_id text, flags text[], reason text)
  language sql stable security definer set search_path = svc, pg_temp
  as $$
    select n.notice_id, n.flags, n.reason from rail_notices n where n.notice_id = any (ids)
  $$;

revoke execute on all functions in schema svc from public;
grant execute on function directory_qr_codes, directory_qr_codes_expired, directory_qr_codes_to_close,
  directory_payments, directory_credits, directory_refunds_pending, directory_merchant_refunds,
  directory_merchant_refunds_open, directory_disputes, directory_disputes_overdue, directory_notices to svc_service;
