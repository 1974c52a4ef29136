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
} as const satisfies Record<string, FailureKind>
