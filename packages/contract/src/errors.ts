import { CARD_FAILURES } from './card-failures.ts'
import { COIN_FAILURES } from './coin-failures.ts'
import { EVENT_FAILURES } from './event-failures.ts'
import { type ErrorType, type FailureDetails, type FailureKind, kind } from './failure-kind.ts'
import type { FieldError } from './field-errors.ts'
import { OPERATOR_FAILURES } from './operator-failures.ts'
import { WRAPPED_AS } from './payload-string.ts'
import { PAYOUT_FAILURES } from './payout-failures.ts'
import { TENANT_FAILURES } from './tenant-failures.ts'

export type { ErrorType, FailureDetails } from './failure-kind.ts'

/** Every error that the service returns. The only place where a status is chosen. */
export const FAILURES = {
  validation_failed: kind(
    400,
    'VALIDATION_ERROR',
    'The request is invalid',
    'Correct the fields that the description names, then send the request again. Problem details list them in `errors`.',
  ),
  malformed_body: kind(
    400,
    'VALIDATION_ERROR',
    'The body is not well-formed JSON',
    'Send strict JSON in UTF-8: no duplicate keys, no control characters, no lone surrogates, at most 20 levels deep.',
  ),
  bad_request: kind(
    400,
    'VALIDATION_ERROR',
    'The request is not well-formed HTTP',
    'Check the request line, the header syntax and the framing of the body.',
  ),
  request_timeout: kind(
    408,
    'VALIDATION_ERROR',
    'The request did not arrive in time',
    'Send the headers and the body without pauses; see the limits in the settings.',
  ),
  payload_too_large: kind(
    413,
    'VALIDATION_ERROR',
    'The body is too large for this operation',
    'Send less than the limit, 64 KiB unless the operation says otherwise.',
  ),
  unsupported_media_type: kind(
    415,
    'VALIDATION_ERROR',
    'The body must be sent as application/json, without a content encoding',
    'Set `Content-Type: application/json` and send the body uncompressed.',
  ),
  headers_too_large: kind(
    431,
    'VALIDATION_ERROR',
    'The header block is too large',
    'Send less than 16 KiB of headers.',
  ),
  invalid_token: kind(
    401,
    'SYSTEM_ERROR',
    'Invalid access token',
    'Get a new token. The one that was sent is missing, malformed, expired, revoked or of a kind that this operation does not accept.',
  ),
  invalid_api_key: kind(
    401,
    'SYSTEM_ERROR',
    'Invalid API key',
    'Send the merchant’s key in the `API-Key` header. The one that was sent is missing, mistyped or revoked, or its merchant is disabled.',
  ),
  invalid_signature: kind(
    401,
    'SYSTEM_ERROR',
    'The signature is missing or wrong',
    'Sign `<timestamp>.<raw body>` with HMAC-SHA-256 and a live key, as the guide of the rail says. How old the signature is does not matter.',
  ),
  invalid_client: kind(
    401,
    'SYSTEM_ERROR',
    'Client authentication failed',
    'Check client id and secret. The client may also be revoked, or its partner disabled.',
  ),
  invalid_session: kind(
    401,
    'SYSTEM_ERROR',
    'The session cookie is missing, expired or of another partner',
    'Send a `SVCSESSION` cookie that came with a live token of the same partner; with `SEARCH_COOKIE=token`, the one that came with this token.',
  ),
  not_signed_in: kind(
    401,
    'SYSTEM_ERROR',
    'Not signed in',
    'Sign in to the console. The session has expired or was ended by an administrator.',
  ),
  wrong_password: kind(
    401,
    'SYSTEM_ERROR',
    'Name or password is wrong',
    'Check both; an administrator can make a link to choose another password, under Operators or with `svc admin operator password-link`.',
  ),
  role_too_low: kind(
    403,
    'AUTHORIZATION_ERROR',
    'Your role does not allow this',
    'Ask an operator or an administrator; `svc admin operator role` changes roles.',
  ),
  cross_site_request: kind(
    403,
    'AUTHORIZATION_ERROR',
    'The request does not come from the console’s own page',
    'Send `x-svc-console: 1`, from the console’s own origin.',
  ),
  invalid_request: kind(
    400,
    'VALIDATION_ERROR',
    'The token request is not complete',
    'Send `grant_type=client_credentials` as a form, with each parameter once (RFC 6749).',
  ),
  unsupported_grant_type: kind(
    400,
    'VALIDATION_ERROR',
    'Only the client_credentials grant is supported',
    'Send `grant_type=client_credentials`.',
  ),
  invalid_scope: kind(
    400,
    'VALIDATION_ERROR',
    'The scope is not known',
    'Request scopes that the description names, separated by spaces, or omit `scope` to get all of them.',
  ),
  decryption_failed: kind(
    400,
    'VALIDATION_ERROR',
    'The encrypted request cannot be decrypted',
    'Encrypt the request again, to a published key (`/.well-known/jwks.json`) or with your shared key. In sandbox mode the description says what is wrong. `svc decrypt` helps to debug.',
  ),
  request_not_encrypted: kind(
    400,
    'VALIDATION_ERROR',
    'The request must be encrypted',
    `Send the compact JWE as a JSON string, bare, or as ${WRAPPED_AS}, the only field of an object. To try without encryption, use \`otherPartner\` of the sandbox: its requests may be plain JSON.`,
  ),
  not_acceptable: kind(
    406,
    'VALIDATION_ERROR',
    'An encrypted response contains a single card',
    'Name one `svcCardId`, or ask for `application/json`.',
  ),
  insufficient_scope: kind(
    403,
    'AUTHORIZATION_ERROR',
    'The token lacks the scope of this operation',
    'Get a token with the scope that `WWW-Authenticate` names; without `scope` in the token request it has all that its credential may have.',
  ),
  address_not_allowed: kind(
    403,
    'AUTHORIZATION_ERROR',
    'The credential may not be used from this address',
    'Call from an address that the API key or OAuth client allows, or let an administrator of the portal or an operator add yours.',
  ),
  partner_mismatch: kind(
    403,
    'AUTHORIZATION_ERROR',
    'partnerId is not the partner of the token',
    'Send the partner id that the token was issued to.',
  ),
  access_key_mismatch: kind(
    403,
    'AUTHORIZATION_ERROR',
    'merchantAccessKey does not belong to the merchant of the token',
    'Send the access key of the same merchant, or omit the header.',
  ),
  route_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Operation not found',
    'Check the path; every operation is listed at /docs and in /openapi.json.',
  ),
  method_not_allowed: kind(
    405,
    'NOT_FOUND_ERROR',
    'This path does not support this method',
    'Use one of the methods in the `Allow` header.',
  ),
  qr_code_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'QR code not found',
    'Use the `qrCodeId` that the create operation returned, with a token of the same merchant.',
  ),
  payment_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Payment not found',
    'Use the `paymentId` of a payment of your own; on the rail, the bank reference (`utr`) of a credit that was notified before.',
  ),
  refund_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Refund not found',
    'Use the `refundId` that the create operation returned, with the `paymentId` of its payment.',
  ),
  dispute_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Dispute not found',
    'Use the `disputeId` of a dispute of your own; list disputes to find it.',
  ),
  ledger_account_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Ledger account not found',
    'Use an id of the list of ledger accounts.',
  ),
  request_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Request not found in the request log',
    'It may be too old, or a read that was not sampled; failures and commands of the last days are kept.',
  ),
  company_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Company not found',
    'Use the id of one of your companies.',
  ),
  card_account_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Card account not found in the company',
    'Use the id of a card account that belongs to that company.',
  ),
  spend_rule_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Spend rule not found',
    'Use the `spendRuleId` of one of your spend rules.',
  ),
  user_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'User not found in the company',
    'Use the id of a user of that company, or omit `userId`.',
  ),
  card_not_found: kind(404, 'NOT_FOUND_ERROR', 'Card not found', 'Use the `svcCardId` of one of your cards.'),
  bulk_job_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Bulk job not found',
    'Use the `jobId` that the upload returned, with a token of the same partner.',
  ),
  already_exists: kind(
    409,
    'CONFLICT_ERROR',
    'Already exists',
    'Choose another value for the field that the description names.',
  ),
  last_administrator: kind(
    409,
    'CONFLICT_ERROR',
    'This is the last administrator who can sign in',
    'Give the role `admin` to another operator first.',
  ),
  invalid_transition: kind(
    409,
    'CONFLICT_ERROR',
    'The card cannot change to this status',
    'The description lists the statuses that are allowed from the current one.',
  ),
  encrypted_request_replayed: kind(
    409,
    'CONFLICT_ERROR',
    'This encrypted request was used before',
    'Each JWE is accepted once: encrypt the request again. To repeat a request, send the same JWE with the same `Idempotency-Key`.',
  ),
  reference_in_use: kind(
    409,
    'CONFLICT_ERROR',
    'An active QR code with other fields has this referenceNumber',
    'Cancel the active code first, or use another `referenceNumber`.',
  ),
  funding_reference_used: kind(
    409,
    'CONFLICT_ERROR',
    'This bank reference was entered before, for another partner, card account or amount',
    'Compare with the bank statement: each payment of a partner is entered once.',
  ),
  qr_code_already_cancelled: kind(
    409,
    'CONFLICT_ERROR',
    'The QR code was cancelled before',
    'Nothing is left to do. Only with the setting `SECOND_CANCEL=conflict`; by default the first response is returned again.',
  ),
  reference_paid: kind(
    409,
    'CONFLICT_ERROR',
    'The QR code of this referenceNumber was already paid',
    'The order is paid. Use a new `referenceNumber` for a new order.',
  ),
  payment_not_accepted: kind(
    409,
    'CONFLICT_ERROR',
    'The payment was not accepted and cannot be refunded by the merchant',
    'Refund payments with the status `ACCEPTED`; the bank returns the others.',
  ),
  refund_reference_in_use: kind(
    409,
    'CONFLICT_ERROR',
    'Another refund has this referenceNumber',
    'Repeat the first request unchanged to get its refund, or use another `referenceNumber`.',
  ),
  ...PAYOUT_FAILURES,
  ...TENANT_FAILURES,
  utr_conflict: kind(
    409,
    'CONFLICT_ERROR',
    'A different credit with this bank reference was recorded before',
    'A bank reference identifies one credit. Send the same amount, payer and code in every notice.',
  ),
  request_id_conflict: kind(
    409,
    'CONFLICT_ERROR',
    'This requestId was used with another request',
    'A `requestId` identifies one request. Repeat it unchanged to get the first response; use a new one for any other request.',
  ),
  revision_mismatch: kind(
    412,
    'CONFLICT_ERROR',
    'The configuration has changed since this revision',
    'Read it again, and send the change with the new `ETag` in `If-Match`.',
  ),
  revision_required: kind(
    428,
    'CONFLICT_ERROR',
    'The If-Match header is required',
    'Send the `ETag` of the lookup, such as `"3"`, in `If-Match`, so that concurrent changes are not lost.',
  ),
  insufficient_funds: kind(
    422,
    'BUSINESS_ERROR',
    'Insufficient funds',
    'Fund the card account, or choose a smaller amount.',
  ),
  load_over_limit: kind(
    422,
    'BUSINESS_ERROR',
    'The load exceeds the limit of a card',
    'Load at most what the description names. The limits are in the settings: `CARD_LOAD_MAX_RUPEES` of gift cards, `CARD_LOAD_LIMITS` of other account types.',
  ),
  ...CARD_FAILURES,
  ...COIN_FAILURES,
  too_many_spend_rules: kind(
    422,
    'BUSINESS_ERROR',
    'There are 20 spend rules in force for this card, card account or partner',
    'Remove a rule, or send the one that the new rule takes the place of as `replaces`.',
  ),
  backtest_too_large: kind(
    422,
    'BUSINESS_ERROR',
    'The backtest covers more than 50,000 messages of the card network',
    'Send `svcCardId` or `cardAccountId`, or a later `from`.',
  ),
  refund_over_payment: kind(
    422,
    'BUSINESS_ERROR',
    'The refund exceeds what is left of the payment',
    'Refund at most the amount of the payment less its `refundedAmount`.',
  ),
  payable_too_low: kind(
    422,
    'BUSINESS_ERROR',
    'The refund exceeds the balance that is payable to the merchant',
    'Refund a smaller amount, or repeat the request after further payments.',
  ),
  refund_over_spent: kind(
    422,
    'BUSINESS_ERROR',
    'The refund exceeds the amount that the card has spent',
    'Refund at most what was spent and not refunded yet.',
  ),
  mcc_not_allowed: kind(
    422,
    'BUSINESS_ERROR',
    'Merchants of category 6540 (stored-value load) may not create UPI QR codes',
    'A code must not fund a prepaid instrument; use a merchant of another category.',
  ),
  idempotency_key_reused: kind(
    422,
    'BUSINESS_ERROR',
    'This Idempotency-Key was used with another request',
    'Use a new key for each new request. Repeat the same request to get the first response.',
  ),
  too_many_failed_attempts: kind(
    429,
    'RATE_LIMIT_ERROR',
    'Too many failed attempts',
    'Wait for the time in `Retry-After`. Valid credentials are never rejected for this reason.',
  ),
  rate_limited: kind(
    429,
    'RATE_LIMIT_ERROR',
    'Too many requests',
    'Wait for the time in `Retry-After`. The `RateLimit` headers show how many requests remain. A message of a rail gets it only with a wrong signature.',
  ),
  webhook_endpoint_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Webhook endpoint not found',
    'Use the `endpointId` that the create operation returned.',
  ),
  ...OPERATOR_FAILURES,
  ...EVENT_FAILURES,
  too_many_streams: kind(
    429,
    'RATE_LIMIT_ERROR',
    'Two responses of unlimited length are already running for this tenant',
    'Wait for one of them to end, or request pages with `limit` and `after`.',
  ),
  internal_error: kind(
    500,
    'SYSTEM_ERROR',
    'Internal error',
    'Try again with the same Idempotency-Key. If the error persists, report the request id.',
  ),
  moved: kind(
    421,
    'SYSTEM_ERROR',
    'The tenant is served by another cell',
    'Nothing was done. Send the request again, to the public address: its router knows where the tenant is by now.',
  ),
  overloaded: kind(
    503,
    'SYSTEM_ERROR',
    'Too many concurrent requests of this caller',
    'Send fewer requests at a time, and try again after `Retry-After`, with the same Idempotency-Key.',
  ),
  temporarily_unavailable: kind(
    503,
    'SYSTEM_ERROR',
    'The service is temporarily unavailable',
    'Try again after `Retry-After`, with the same `Idempotency-Key`.',
  ),
  outcome_unknown: kind(
    503,
    'SYSTEM_ERROR',
    'The database did not confirm in time whether the request was carried out',
    'Repeat the request with the same Idempotency-Key: the repeat waits for the outcome and returns it. Do not treat the request as failed, and do not send it with another key.',
  ),
} as const satisfies Record<string, FailureKind>

export type ErrorCode = keyof typeof FAILURES

/** Of `temporarily_unavailable`, while a process drains. */
export const SHUTTING_DOWN: FailureDetails = {
  description: 'The service is shutting down',
  retryAfterSeconds: 1,
  isOrderly: true,
}

/** An error that the caller receives. Anything else that is thrown is a defect: 500. */
export class Failure extends Error {
  override name = 'Failure'
  readonly code: ErrorCode
  readonly description: string
  readonly errors: readonly FieldError[]
  readonly headers: Record<string, string>
  readonly isOrderly: boolean

  constructor(code: ErrorCode, details: FailureDetails = {}) {
    // A stack costs as much as the rest of a rejection, and nothing reads it. The cause has its own.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    const description = details.description ?? FAILURES[code].description
    super(details.command ? `${description}: ${details.command}` : description, { cause: details.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.description = description
    this.errors = details.errors ?? []
    this.isOrderly = details.isOrderly ?? false
    this.headers = { ...details.headers }
    if (details.retryAfterSeconds !== undefined)
      this.headers['retry-after'] = String(details.retryAfterSeconds)
  }

  get status(): number {
    return FAILURES[this.code].status
  }

  get errorType(): ErrorType {
    return FAILURES[this.code].errorType
  }
}

/** Caller's mistake, or a state of the service that the caller must know: `throw`s, so it also fits after `??`. */
export function fail(code: ErrorCode, details?: FailureDetails): never {
  throw new Failure(code, details)
}
