-- run: statement by statement
-- Disputes of which the newest evidence is not sent, by their deadline: alerts look for them.
drop index concurrently if exists disputes_unsent;
create index concurrently disputes_unsent on disputes (evidence_due_at)
  where status = 'EVIDENCE_SUBMITTED' and evidence_sent_at is null;
