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
  invitation_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Invitation not found',
    'The link may be incomplete: copy it whole. Otherwise ask an administrator for a new invitation.',
  ),
  invitation_used: kind(
    409,
    'CONFLICT_ERROR',
    'The invitation was used before',
    'Sign in with the name and password that were chosen then. If that was not you, report it to an administrator at once.',
  ),
  invitation_revoked: kind(
    409,
    'CONFLICT_ERROR',
    'The invitation was revoked',
    'Ask an administrator for a new invitation.',
  ),
  invitation_expired: kind(
    409,
    'CONFLICT_ERROR',
    'The invitation has expired',
    'Ask an administrator for a new invitation: links work for a limited time.',
  ),
  too_many_invitations: kind(
    409,
    'CONFLICT_ERROR',
    'Too many invitations are open',
    'Revoke those that are no longer needed.',
  ),
} as const satisfies Record<string, FailureKind>
