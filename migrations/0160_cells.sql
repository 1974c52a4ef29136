-- Cells (decision X40): databases with their own processes that serve one installation together. What a cell issues names
-- it, so that a router and the other cells know whose it is. An installation of one database names none.
alter table installation add column cell text collate "C";
-- The digits with which its new card numbers begin, in the place of CARD_BIN.
alter table installation add column card_range text;
alter table installation
  add constraint cell_is_a_letter check (cell ~ '^[a-z]$') not valid,
  add constraint cell_has_a_card_range check ((cell is null) = (card_range is null)) not valid,
  add constraint card_range_is_digits check (card_range ~ '^[0-9]{6,10}$') not valid;

-- All cells, in the database of the first.
create table cells (
  cell       text collate "C" not null check (cell ~ '^[a-z]$'),
  card_range text not null check (card_range ~ '^[0-9]{6,10}$'),
  since      timestamptz not null default clock_timestamp()
);
alter table cells add primary key (cell);
grant select on cells to svc_service, svc_operator;

revoke execute on all functions in schema svc from public;
