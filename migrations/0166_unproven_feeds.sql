-- run: statement by statement
-- The trees that are behind their feeds.
drop index concurrently if exists event_counters_unproven;
create index concurrently event_counters_unproven on event_counters (tenant_id) where proven_sequence < last_sequence;
