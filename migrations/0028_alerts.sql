-- Conditions of the service that people must act on (decision O9). Only `svc_operator` sees them: they are of the
-- installation, also where their object is a tenant's.
create table alerts (
  alert_id     text collate "C" not null primary key,
  kind         text collate "C" not null check (kind ~ '^[a-z_]{1,40}$'),
  -- what the condition is of, such as a webhook endpoint; empty where it is of the whole service
  object_id    text collate "C" not null check (length(object_id) <= 128),
  -- the record whose page shows it
  page_id      text collate "C" check (length(page_id) between 1 and 128),
  severity     text not null check (severity in ('warning', 'critical')),
  -- how bad it is, in a unit of its kind
  value        bigint not null check (value >= 0),
  detail       text not null check (length(detail) between 1 and 1000),
  opened_at    timestamptz not null,
  changed_at   timestamptz not null,
  acknowledged_at       timestamptz,
  acknowledged_by       text,
  note                  text check (length(note) between 1 and 500),
  acknowledged_severity text check (acknowledged_severity in ('warning', 'critical')),
  acknowledged_value    bigint,
  closed_at    timestamptz check (closed_at >= opened_at),
  constraint acknowledged_by_a_person check (
    num_nulls(acknowledged_at, acknowledged_by, note, acknowledged_severity, acknowledged_value) in (0, 5))
);
-- A condition has one alert while it lasts, whichever process sees it first.
create unique index alerts_open on alerts (kind, object_id) where closed_at is null;
create index alerts_newest on alerts (opened_at, alert_id);
create index alerts_closed on alerts (closed_at) where closed_at is not null;
grant select, insert, update, delete on alerts to svc_operator;

-- What is sent to ALERT_WEBHOOK_URL. `due_at` is null once it was accepted or given up.
create table alert_messages (
  message_id text collate "C" not null primary key,
  alert_id   text collate "C" not null references alerts on delete cascade,
  body       text not null check (length(body) <= 16384),
  created_at timestamptz not null,
  attempts   integer not null default 0,
  due_at     timestamptz,
  sent_at    timestamptz,
  -- of the last attempt, in words
  failure    text,
  constraint sent_is_not_due check (sent_at is null or due_at is null)
);
create index alert_messages_due on alert_messages (due_at, message_id) where due_at is not null;
create index alert_messages_of on alert_messages (alert_id, message_id);
grant select, insert, update, delete on alert_messages to svc_operator;

-- The process that watches; the lease of one that dies runs out.
create table alert_watch (
  only_row boolean not null default true primary key check (only_row),
  holder   text collate "C" not null,
  until    timestamptz not null
);
grant select, insert, update on alert_watch to svc_operator;
