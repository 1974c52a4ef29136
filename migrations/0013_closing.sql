-- Tenants that leave (decision A14). A closing tenant is disabled for good: what is still open is brought to its end, then
-- it is closed. Its rows stay: books, payments and history are kept.
alter table tenants add column closing_at timestamptz;
alter table tenants add column closed_at timestamptz;
alter table tenants
  add constraint closing_is_disabled check (closing_at is null or disabled_at is not null) not valid,
  add constraint closed_was_closing check (closed_at is null or closing_at is not null) not valid;
