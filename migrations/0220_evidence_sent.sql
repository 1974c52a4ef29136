-- Evidence of disputes is sent to the bank, with attachments (decision Q17).

alter table disputes
  add column evidence_sent_at timestamptz,
  add column evidence_receipt text;
grant update (evidence_sent_at, evidence_receipt) on disputes to svc_service;

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
-- What was submitted before is sent like any other, while its dispute is undecided.
insert into dispute_evidence (merchant_id, evidence_id, dispute_id, evidence, created_at)
select d.merchant_id, 'evd_' || substr(d.dispute_id, 5), d.dispute_id, d.evidence, d.evidence_at
from disputes d where d.evidence is not null;

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
grant select, update (content) on dispute_attachments to svc_operator;
grant update (name, erased_at) on dispute_attachments to svc_operator;

-- The version that ran before submits evidence without its row.
create function keep_evidence() returns trigger
  language plpgsql set search_path = svc, pg_temp
  as $$
  begin
    if not exists (select from dispute_evidence v where v.merchant_id = new.merchant_id and v.dispute_id = new.dispute_id
        and v.created_at = new.evidence_at) then
      insert into dispute_evidence (merchant_id, evidence_id, dispute_id, evidence, created_at)
      values (new.merchant_id, 'evd_' || substr(new.dispute_id, 5), new.dispute_id, new.evidence, new.evidence_at);
    end if;
    return null;
  end $$;
create constraint trigger evidence_is_to_be_sent after update of evidence on disputes deferrable initially deferred
  for each row when (new.evidence is not null and new.evidence is distinct from old.evidence) execute function keep_evidence();

revoke execute on all functions in schema svc from public;
