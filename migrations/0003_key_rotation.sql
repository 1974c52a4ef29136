-- From when on a data key seals: a new one opens at once and seals only when every process has read it.
alter table keyring add column effective_at timestamptz not null default now();
update keyring set effective_at = created_at;
