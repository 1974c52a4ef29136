-- run: statement by statement
alter table users validate constraint erased_is_unknown;
alter table tenants validate constraint closing_is_disabled;
alter table tenants validate constraint closed_was_closing;
