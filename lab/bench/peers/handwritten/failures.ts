import { plainTimestamp } from './values.ts'

const FAILURES = {
  validation_failed: [400, 'VALIDATION_ERROR', 'The request is invalid'],
  request_not_encrypted: [400, 'VALIDATION_ERROR', 'The request must be encrypted'],
  decryption_failed: [400, 'VALIDATION_ERROR', 'The encrypted request cannot be decrypted'],
  invalid_token: [401, 'SYSTEM_ERROR', 'Invalid access token'],
  invalid_api_key: [401, 'SYSTEM_ERROR', 'Invalid API key'],
  invalid_session: [401, 'SYSTEM_ERROR', 'The session cookie is missing or belongs to another token'],
  invalid_signature: [401, 'SYSTEM_ERROR', 'The signature is missing, wrong or too old'],
  insufficient_scope: [403, 'AUTHORIZATION_ERROR', 'The token lacks the scope'],
  partner_mismatch: [403, 'AUTHORIZATION_ERROR', 'partnerId is not the partner of the token'],
  access_key_mismatch: [403, 'AUTHORIZATION_ERROR', 'merchantAccessKey is not the one of the merchant'],
  qr_code_not_found: [404, 'NOT_FOUND_ERROR', 'QR code not found'],
  company_not_found: [404, 'NOT_FOUND_ERROR', 'Company not found'],
  card_account_not_found: [404, 'NOT_FOUND_ERROR', 'Card account not found in the company'],
  user_not_found: [404, 'NOT_FOUND_ERROR', 'User not found in the company'],
  coin_config_not_found: [404, 'NOT_FOUND_ERROR', 'Coin configuration not found'],
  reference_in_use: [409, 'CONFLICT_ERROR', 'The reference number is used by another active QR code'],
  insufficient_funds: [422, 'BUSINESS_ERROR', 'Insufficient funds'],
  idempotency_key_reused: [422, 'BUSINESS_ERROR', 'This Idempotency-Key was used with another request'],
  internal_error: [500, 'SYSTEM_ERROR', 'Internal error'],
} as const

export type FailureCode = keyof typeof FAILURES
export type Envelope = 'response_code' | 'code' | 'result_code'

/** An error that the caller is told. */
export class Failure extends Error {
  readonly code: FailureCode
  readonly status: number
  readonly description: string

  constructor(code: FailureCode, description?: string) {
    super(code)
    this.code = code
    this.status = FAILURES[code][0]
    this.description = description ?? FAILURES[code][2]
  }
}

export function fail(code: FailureCode, description?: string): never {
  throw new Failure(code, description)
}

/** The failure envelope of section 2.2, with the fields of the operation's own envelope. */
export function failureBody({ code, description }: Failure, envelope: Envelope, requestId: string): string {
  const text = JSON.stringify({ error: code, error_description: description })
  return JSON.stringify({
    payload: text,
    errorResponse: {
      timestamp: plainTimestamp(new Date()),
      requestId,
      errorType: FAILURES[code][1],
      errorMessage: text,
    },
    response_code: 1,
    response_message: 'Failure',
    ...(envelope === 'code' && { code: 1, message: 'Failure' }),
    ...(envelope === 'result_code' && { resultCode: 1, resultMessage: description }),
  })
}
