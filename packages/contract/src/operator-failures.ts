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
  single_sign_on_off: kind(
    404,
    'NOT_FOUND_ERROR',
    'Single sign-on is not set up',
    'Sign in with a password, or set `OIDC_ISSUER`.',
  ),
  identity_provider_unavailable: kind(
    503,
    'SYSTEM_ERROR',
    'The identity provider does not respond as expected',
    'Try again, or sign in with a password. The log has the cause; check `OIDC_ISSUER`, and that the service reaches it.',
  ),
  single_sign_on_failed: kind(
    401,
    'SYSTEM_ERROR',
    'The identity provider did not confirm the sign-in',
    'Start again on the sign-in page: each attempt works once, in the browser that began it, for ten minutes. The log has the cause.',
  ),
  not_an_operator: kind(
    403,
    'AUTHORIZATION_ERROR',
    'You have no access to this console',
    'Ask an administrator to invite the name that the description has.',
  ),
  passwords_off: kind(
    403,
    'AUTHORIZATION_ERROR',
    'Passwords are switched off here',
    'Sign in with single sign-on. `CONSOLE_PASSWORDS=on` allows passwords again.',
  ),
  passkeys_off: kind(
    404,
    'NOT_FOUND_ERROR',
    'Passkeys are not possible at this address',
    'Browsers allow passkeys only for host names, over TLS or on this machine: set `PUBLIC_URL` to such an address.',
  ),
  passkey_refused: kind(
    401,
    'SYSTEM_ERROR',
    'The passkey was not accepted',
    'Try again: each attempt works once, for ten minutes. The passkey may have been removed, or belong to another address.',
  ),
  passkey_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Passkey not found',
    'List your passkeys and use a `passkeyId` from there.',
  ),
  too_many_passkeys: kind(
    409,
    'CONFLICT_ERROR',
    'You have too many passkeys',
    'Remove those that you no longer use.',
  ),
} as const satisfies Record<string, FailureKind>
