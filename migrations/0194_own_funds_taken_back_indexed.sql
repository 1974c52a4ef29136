-- run: statement by statement
drop index concurrently if exists own_funds_references_stand_once;
create unique index concurrently own_funds_references_stand_once on own_funds_movements (tenant_id, reference)
  where reversed_by is null;
-- How often a reference was entered.
drop index concurrently if exists own_funds_movements_by_reference;
create index concurrently own_funds_movements_by_reference on own_funds_movements (tenant_id, reference);
-- A reference is entered again once its movement was taken back.
alter table own_funds_movements drop constraint if exists own_funds_references_once;
