-- What an operator asks a merchant to add to its evidence.
alter table disputes
  add column evidence_request text,
  add column evidence_requested_at timestamptz,
  add constraint evidence_request_as_a_whole check (
    (evidence_request is null) = (evidence_requested_at is null) and char_length(evidence_request) <= 1000) not valid;
grant update (evidence_request, evidence_requested_at) on disputes to svc_service;
