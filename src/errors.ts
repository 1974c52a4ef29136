/** Decision F3: what kind of failure it is, beside the status. */
export type ErrorType =
  | 'VALIDATION_ERROR'
  | 'AUTHORIZATION_ERROR'
  | 'NOT_FOUND_ERROR'
  | 'CONFLICT_ERROR'
  | 'BUSINESS_ERROR'
  | 'RATE_LIMIT_ERROR'
  | 'SYSTEM_ERROR'

interface FailureKind {
  readonly status: number
  readonly errorType: ErrorType
  /** What the caller reads when the thrower says nothing more precise. */
  readonly description: string
  /** For the reference: when it happens and what the caller does about it. */
  readonly remedy: string
}

const kind = (status: number, errorType: ErrorType, description: string, remedy: string): FailureKind => ({
  status,
  errorType,
  description,
  remedy,
})

/** Every failure that a caller can meet. The only place where a status is chosen. */
export const FAILURES = {
  validation_failed: kind(
    400,
    'VALIDATION_ERROR',
    'The request breaks a rule of this operation',
    'The description names every bad field and its rule. Correct them and send again.',
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
    'The body is larger than this operation takes',
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
    'Get a new token. It may be missing, malformed, expired, revoked or of another kind than this operation takes.',
  ),
  invalid_api_key: kind(
    401,
    'SYSTEM_ERROR',
    'Invalid API key',
    'Send the merchant’s key in the `API-Key` header. It may be missing, mistyped, revoked, or its merchant disabled.',
  ),
  invalid_signature: kind(
    401,
    'SYSTEM_ERROR',
    'The signature is missing, wrong or too old',
    'Sign `<timestamp>.<raw body>` with HMAC-SHA-256 and a live key, and send it within five minutes.',
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
    'The session cookie is missing or belongs to another token',
    'Send the `SVCSESSION` cookie that came with the very token you send.',
  ),
  not_signed_in: kind(
    401,
    'SYSTEM_ERROR',
    'Nobody is signed in',
    'Sign in to the console. The session may have ended, or been ended by an administrator.',
  ),
  wrong_password: kind(
    401,
    'SYSTEM_ERROR',
    'Name or password is wrong',
    'Check both; an administrator can set a new password with `svc operator reset-password`.',
  ),
  role_too_low: kind(
    403,
    'AUTHORIZATION_ERROR',
    'Your role does not allow this',
    'Ask an operator or an administrator; `svc operator role` changes roles.',
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
    'Send `grant_type=client_credentials` as a form, each parameter once (RFC 6749).',
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
    'The scope asks for more than the partner has',
    'Leave the scope out, or ask for the partner’s own products.',
  ),
  seal_rejected: kind(
    400,
    'VALIDATION_ERROR',
    'The sealed request cannot be opened',
    'Seal anew to a published key (`/.well-known/jwks.json`) or with your shared key; in sandbox mode the description says what is wrong. `svc open` helps to debug.',
  ),
  payload_not_sealed: kind(
    400,
    'VALIDATION_ERROR',
    'The request must be sealed',
    'Send the compact JWE as a JSON string, or bare with `Content-Type: application/jose`.',
  ),
  not_acceptable: kind(
    406,
    'VALIDATION_ERROR',
    'A sealed answer holds a single card',
    'Name one `svcCardId`, or ask for `application/json`.',
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
    'Send the access key of the same merchant, or leave the header out.',
  ),
  route_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such operation',
    'Check the path; every operation is listed at /docs and in /openapi.json.',
  ),
  method_not_allowed: kind(
    405,
    'NOT_FOUND_ERROR',
    'This path does not take this method',
    'Use one of the methods in the `Allow` header.',
  ),
  qr_code_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such QR code',
    'Use the `qrCodeId` that the create operation answered, with a token of the same merchant.',
  ),
  payment_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such payment',
    'Use a bank reference (`utr`) of a credit that was notified before.',
  ),
  operator_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such operator',
    'List them: `svc operator list`.',
  ),
  merchant_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such merchant',
    'List them: `svc merchant list`.',
  ),
  partner_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such partner',
    'List them: `svc partner list`.',
  ),
  credential_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such key or client',
    'Use the id that was answered when it was issued; the tenant’s page lists them.',
  ),
  ledger_account_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such ledger account',
    'Use an id of the list of ledger accounts.',
  ),
  request_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such request in the request log',
    'It may be too old, or a read that was not sampled; failures and commands of the last days are kept.',
  ),
  company_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such company',
    'Use the id of a company of your own, as on-boarding gave it.',
  ),
  card_account_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such card account under the company',
    'Use the id of a card account that belongs to that company.',
  ),
  user_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such user in the company',
    'Use the id of a user of that company, or leave `userId` out.',
  ),
  card_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such card',
    'Use the `svcCardId` of a card of your own.',
  ),
  coin_config_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such coin configuration',
    'Use the `coinConfigId` that the create operation answered, with a token of the same partner.',
  ),
  bulk_job_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such bulk job',
    'Use the `jobId` that the upload answered, with a token of the same partner.',
  ),
  already_exists: kind(
    409,
    'CONFLICT_ERROR',
    'There is one already',
    'The description says which value is taken. Choose another one.',
  ),
  last_administrator: kind(
    409,
    'CONFLICT_ERROR',
    'This is the last administrator who can sign in',
    'Give somebody else the role `admin` first.',
  ),
  invalid_transition: kind(
    409,
    'CONFLICT_ERROR',
    'The card cannot go from its state to that one',
    'The description says which moves are legal from here.',
  ),
  seal_replayed: kind(
    409,
    'CONFLICT_ERROR',
    'This seal was used before',
    'A seal counts once: seal the request anew. To repeat a request, send the same seal with the same Idempotency-Key.',
  ),
  reference_in_use: kind(
    409,
    'CONFLICT_ERROR',
    'An active QR code with another request has this referenceNumber',
    'Cancel the active code first, or use another `referenceNumber`.',
  ),
  reference_paid: kind(
    409,
    'CONFLICT_ERROR',
    'The QR code of this referenceNumber was already paid',
    'The order is paid. Use a new `referenceNumber` for a new order.',
  ),
  refund_not_due: kind(
    409,
    'CONFLICT_ERROR',
    'This credit was accepted and is not to be returned',
    'Only credits answered `REFUND_PENDING` or `SUSPENSE` go back to their payers.',
  ),
  utr_conflict: kind(
    409,
    'CONFLICT_ERROR',
    'Another credit with this bank reference was recorded before',
    'One bank reference names one credit: amount, payer and code must be the same on every notice.',
  ),
  coin_config_overlaps: kind(
    409,
    'CONFLICT_ERROR',
    'Another active configuration answers for this event at the same time',
    'End or deactivate the other one, or choose a validity that does not overlap.',
  ),
  request_id_conflict: kind(
    409,
    'CONFLICT_ERROR',
    'This requestId was used with another request',
    'One `requestId` names one intent: repeat it unchanged to get the first answer, use a new one for anything else.',
  ),
  revision_mismatch: kind(
    412,
    'CONFLICT_ERROR',
    'The configuration was changed since that revision',
    'Read it again, and send the change with the new `ETag` in `If-Match`.',
  ),
  revision_required: kind(
    428,
    'CONFLICT_ERROR',
    'If-Match with the revision that is to be changed is required',
    'Send the `ETag` of the look-up, such as `"3"`, in `If-Match`; so no change of others is lost.',
  ),
  insufficient_funds: kind(
    422,
    'BUSINESS_ERROR',
    'There is not enough money',
    'Fund the card account, or choose a smaller amount.',
  ),
  load_over_limit: kind(
    422,
    'BUSINESS_ERROR',
    'The load is over the limit of a card',
    'A gift card holds at most the limit in the settings, 10,000 rupees by default.',
  ),
  card_not_usable: kind(
    422,
    'BUSINESS_ERROR',
    'The card is not unlocked, not activated or expired',
    'Unlock or activate the card; a blocked or expired card stays unusable.',
  ),
  channel_not_allowed: kind(
    422,
    'BUSINESS_ERROR',
    'The card may not be used in this channel',
    'Both the user’s flag and the admin’s flag of the channel must be on.',
  ),
  refund_over_spent: kind(
    422,
    'BUSINESS_ERROR',
    'The refund is more than the card has spent',
    'Refund at most what was spent and not refunded yet.',
  ),
  mcc_not_allowed: kind(
    422,
    'BUSINESS_ERROR',
    'Merchants of category 6540 (stored-value load) may not create UPI QR codes',
    'A code must not fund a prepaid instrument; use a merchant of another category.',
  ),
  no_coin_config: kind(
    422,
    'BUSINESS_ERROR',
    'No active configuration covers this event at that time',
    'Create a configuration for the event, or check its validity; `dryRun` tells which ones were considered.',
  ),
  coin_daily_limit_reached: kind(
    422,
    'BUSINESS_ERROR',
    'The award would go over the daily limit of this user',
    'Nothing was awarded. The limit counts from midnight in the business time zone.',
  ),
  insufficient_coins: kind(
    422,
    'BUSINESS_ERROR',
    'The user has fewer active coins than that',
    'Redeem at most the `active` coins of the balance; expired coins are gone.',
  ),
  idempotency_key_reused: kind(
    422,
    'BUSINESS_ERROR',
    'This Idempotency-Key was used with another request',
    'Use a new key for a new intent; repeat the same request to get the first answer.',
  ),
  too_many_failed_attempts: kind(
    429,
    'RATE_LIMIT_ERROR',
    'Too many failed attempts',
    'Wait as long as `Retry-After` says. A valid key is never refused for this reason.',
  ),
  rate_limited: kind(
    429,
    'RATE_LIMIT_ERROR',
    'Too many requests',
    'Wait as long as `Retry-After` says; the `RateLimit` fields show what is left.',
  ),
  webhook_endpoint_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such webhook endpoint',
    'Use the `endpointId` that the create operation answered.',
  ),
  event_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'There is no such event',
    'Use the `id` of an event of your own feed, `GET /api/v0/events`.',
  ),
  events_forgotten: kind(
    410,
    'NOT_FOUND_ERROR',
    'Events from there on are no longer kept',
    'You have missed events. Read the records themselves to catch up, then go on from the number or time that the description names.',
  ),
  webhook_url_refused: kind(
    422,
    'BUSINESS_ERROR',
    'Webhooks cannot be sent to this URL',
    'The description says why. Use an `https` URL of a public host, without credentials; sandbox mode takes `http` and loopback too.',
  ),
  webhook_endpoint_disabled: kind(
    409,
    'CONFLICT_ERROR',
    'The webhook endpoint is disabled',
    'Enable it first; what it missed can then be replayed.',
  ),
  too_many_webhook_endpoints: kind(
    422,
    'BUSINESS_ERROR',
    'There are as many webhook endpoints as a tenant may have',
    'Delete one that is not needed, or let one endpoint take more types.',
  ),
  too_many_event_streams: kind(
    429,
    'RATE_LIMIT_ERROR',
    'As many event streams are open as a tenant may have',
    'Close one, or ask in pages with `GET /api/v0/events`.',
  ),
  too_many_streams: kind(
    429,
    'RATE_LIMIT_ERROR',
    'Two searches of whole accounts are running for this partner',
    'Wait for one of them to end, or ask in pages with `limit` and `after`.',
  ),
  internal_error: kind(
    500,
    'SYSTEM_ERROR',
    'Something went wrong on our side',
    'Try again with the same Idempotency-Key. If it stays, report the request id.',
  ),
  overloaded: kind(
    503,
    'SYSTEM_ERROR',
    'More requests of this caller are under way than its share',
    'Slow down and try again after `Retry-After`, with the same Idempotency-Key.',
  ),
  temporarily_unavailable: kind(
    503,
    'SYSTEM_ERROR',
    'The service cannot do this right now',
    'Try again after `Retry-After`, with the same Idempotency-Key: nothing is ever done twice.',
  ),
} as const satisfies Record<string, FailureKind>

export type ErrorWord = keyof typeof FAILURES

export interface FailureDetails {
  /** Public words; never a value that the caller sent, never a private cause. */
  description?: string
  /** Seconds, sent as `Retry-After`. */
  retryAfterSeconds?: number
  headers?: Record<string, string>
  /** Private cause, for the log only. */
  cause?: unknown
}

/** A failure that the caller is told of. Anything else that is thrown is our own mistake, a 500. */
export class Failure extends Error {
  override name = 'Failure'
  readonly word: ErrorWord
  readonly description: string
  readonly headers: Record<string, string>

  constructor(word: ErrorWord, details: FailureDetails = {}) {
    // Nobody reads where it was thrown, and a stack costs as much as the rest of a refusal. What broke has its own.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(details.description ?? FAILURES[word].description, { cause: details.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.word = word
    this.description = this.message
    this.headers = { ...details.headers }
    if (details.retryAfterSeconds !== undefined)
      this.headers['retry-after'] = String(details.retryAfterSeconds)
  }

  get status(): number {
    return FAILURES[this.word].status
  }

  get errorType(): ErrorType {
    return FAILURES[this.word].errorType
  }
}

/** Caller's mistake, or a state of ours that the caller must know: `throw`s, so it also fits after `??`. */
export function fail(word: ErrorWord, details?: FailureDetails): never {
  throw new Failure(word, details)
}
