import { type FailureKind, kind } from './failure-kind.ts'

/** Errors of those who are named: tenants, operators and their credentials. */
export const TENANT_FAILURES = {
  operator_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Operator not found',
    'List them: `svc admin operator list`.',
  ),
  tenant_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Tenant not found',
    'Use the id of a merchant or a partner; `sandbox.json` has those of the demo tenants.',
  ),
  merchant_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Merchant not found',
    'List them: `svc admin merchant list`.',
  ),
  partner_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Partner not found',
    'List them: `svc admin partner list`.',
  ),
  credential_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'API key or client not found',
    'Use the id that was returned when it was issued; the page of the tenant lists them.',
  ),
  secret_not_shown: kind(
    403,
    'AUTHORIZATION_ERROR',
    'In live mode secrets of tenants are not shown to operators: they are handed over by a link',
    'Hand credentials over by a link, which issues them when its person opens it: *Hand over* on the page of the tenant, or `svc admin member hand-over <tenantId> <name>`. Administrators of the tenant replace credentials and webhook secrets in the portal, or by the API.',
  ),
  credential_ended: kind(
    409,
    'CONFLICT_ERROR',
    'The credential was revoked or replaced',
    'List the credentials: one that was replaced says until when it works.',
  ),
  too_many_credentials: kind(
    422,
    'BUSINESS_ERROR',
    'The maximum number of credentials is reached',
    'A tenant has at most 50 API keys or clients in use, and is issued at most 100 in 24 hours; the description says which. Revoke one that no program uses, or wait.',
  ),
  tenant_closing: kind(
    409,
    'CONFLICT_ERROR',
    'The tenant is closing or closed',
    'It gets no new credentials and no opening balances, and its waiting orders of cards fail. Enabling it again ends the closing.',
  ),
  tenant_disabled: kind(
    409,
    'CONFLICT_ERROR',
    'The tenant is disabled',
    'Enable it first: operators do nothing on behalf of a tenant that may not do it itself.',
  ),
  user_erased: kind(
    409,
    'CONFLICT_ERROR',
    'The personal data of this user was erased',
    'Register the person as a new user, or leave out `userId` in the order. Cards of erased users are not replaced, and their allocations of coins are not voided.',
  ),
  user_in_use: kind(
    409,
    'CONFLICT_ERROR',
    'The user still has cards in use, money or coins',
    'Block the cards, return what is left on them to their card account, and redeem the coins; then erase the user.',
  ),
} as const satisfies Record<string, FailureKind>
