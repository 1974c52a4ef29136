-- run: statement by statement
alter table disputes validate constraint evidence_request_as_a_whole;
