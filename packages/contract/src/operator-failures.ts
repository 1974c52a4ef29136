import { type FailureKind, kind } from './failure-kind.ts'

/** What operators ask for and the service does not have, or not in this state. */
export const OPERATOR_FAILURES = {
  journal_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Journal not found',
    'List the transfers of a ledger account and use a `journalId` from there.',
  ),
  card_exception_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Card exception not found',
    'List the exceptions of the card rail and use an `exceptionId` from there.',
  ),
  notice_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Rail notice not found',
    'List the notices of the rail and use a `noticeId` from there.',
  ),
  notice_not_in_quarantine: kind(
    409,
    'CONFLICT_ERROR',
    'The notice is not in quarantine',
    'It was assigned before, or repeats a credit that is recorded.',
  ),
} as const satisfies Record<string, FailureKind>
