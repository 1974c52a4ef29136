-- run: statement by statement
alter table bulk_jobs validate constraint bulk_job_kinds;
alter table bulk_rows validate constraint bulk_row_statuses;
alter table bulk_rows validate constraint done_has_card;
alter table bulk_rows validate constraint loaded_has_load;
