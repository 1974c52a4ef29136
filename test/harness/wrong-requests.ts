/** Secrets and ids that the requests send: filled before they are sent. */
export const sent: Record<
  | 'merchant'
  | 'expired'
  | 'revoked'
  | 'partner'
  | 'otherPartner'
  | 'apiKey'
  | 'secret'
  | 'clientId'
  | 'cookie'
  | 'partnerId'
  | 'otherId',
  string
> = {} as never

export type Headers = Record<string, string>
export interface Wrong {
  readonly method: string
  readonly path: string
  readonly headers: () => Headers
  readonly body: string | undefined
  readonly code: string
  /** What the description says: what is wrong, and what would be right. */
  readonly says: RegExp
}

export const JSON_TYPE = { 'content-type': 'application/json' }
const none = (): Headers => ({})
const bearer =
  (who: keyof typeof sent, more: Headers = {}) =>
  (): Headers => ({
    authorization: `Bearer ${sent[who]}`,
    ...more,
  })
const partner =
  (more: Headers = {}) =>
  (): Headers =>
    bearer('partner', { partnerid: sent.partnerId, ...more })()

const wrong = (
  request: string,
  headers: () => Headers,
  body: string | undefined,
  code: string,
  says: RegExp,
): Wrong => {
  const [method = '', path = ''] = request.split(' ')
  return { method, path, headers, body, code, says }
}
const SEARCH = 'POST /api/v0/qr-code/search'
const CREATE = 'POST /api/v0/qr-code'
const CARDS = 'POST /api/v0/partner/svcCard'
const OAUTH = 'POST /oauth/token'

const tokens = (authorization: () => string, says: RegExp, request = SEARCH) =>
  wrong(request, () => ({ authorization: authorization() }), '{}', 'invalid_token', says)

const TOKENS = [
  wrong(SEARCH, none, '{}', 'invalid_token', /token is missing: send the header Authorization/),
  tokens(() => sent.merchant, /does not begin with Bearer: send Bearer/),
  tokens(() => `Token ${sent.merchant}`, /does not begin with Bearer/),
  tokens(() => 'Basic eDp5', /does not begin with Bearer/),
  tokens(() => 'Bearer', /malformed: send Bearer, a space and the token/),
  tokens(() => 'Bearer abc', /malformed/),
  tokens(() => `Bearer ${sent.merchant} ${sent.merchant}`, /malformed/),
  tokens(
    () => `Bearer ${sent.apiKey}`,
    /API key was sent in place of a token: exchange it at POST \/api\/v0\/merchant\/token/,
  ),
  tokens(() => sent.apiKey, /API key was sent in place of a token/),
  tokens(
    () => `Bearer ${sent.secret}`,
    /client secret was sent in place of a token: exchange it at POST \/oauth\/token/,
  ),
  tokens(
    () => `Bearer ${sent.merchant.slice(0, -8)}AAAAAAAA`,
    /not one of this service, or was changed: get a new one/,
  ),
  tokens(() => `Bearer ${sent.expired}`, /has expired: get a new one/),
  tokens(() => `Bearer ${sent.revoked}`, /credential of the access token was revoked/),
  tokens(
    () => `Bearer ${sent.partner}`,
    /needs the token of a merchant, and one of a partner was sent: get one at POST \/api\/v0\/merchant\/token/,
  ),
  tokens(
    () => `Bearer ${sent.merchant}`,
    /needs the token of a partner, and one of a merchant was sent: get one at POST \/oauth\/token/,
    'POST /api/v0/svc-coins/search',
  ),
]

const form = (fields: Headers): string => String(new URLSearchParams(fields))
const FORM = (): Headers => ({ 'content-type': 'application/x-www-form-urlencoded' })
const key = (value: string) => (): Headers => ({ 'api-key': value })

const CREDENTIALS = [
  wrong(
    'POST /api/v0/merchant/token',
    none,
    undefined,
    'invalid_api_key',
    /API-Key is missing: send the API key/,
  ),
  wrong('POST /api/v0/merchant/token', key('abc'), undefined, 'invalid_api_key', /^Invalid API key$/),
  wrong(
    OAUTH,
    FORM,
    form({ grant_type: 'client_credentials' }),
    'invalid_client',
    /id and secret are missing: send them by HTTP Basic/,
  ),
  wrong(
    OAUTH,
    FORM,
    form({ grant_type: 'client_credentials', client_id: 'me', client_secret: 'x' }),
    'invalid_client',
    /client ids begin with cli_/,
  ),
  wrong(OAUTH, FORM, '{"grant_type":"client_credentials"}', 'invalid_request', /is JSON; send it as a form/),
  wrong(OAUTH, FORM, 'a=1&a=2', 'invalid_request', /more than once/),
  wrong(
    'POST /api/v0/partner/svcCard/search',
    partner(JSON_TYPE),
    '{}',
    'invalid_session',
    /SVCSESSION is missing: POST \/oauth\/token sets it/,
  ),
  wrong(
    'POST /api/v0/partner/svcCard/search',
    () => partner({ ...JSON_TYPE, cookie: sent.cookie })(),
    '{}',
    'invalid_session',
    /SVCSESSION is of another partner, or was changed: POST \/oauth\/token/,
  ),
  wrong(
    'GET /api/v0/partner/svcCard/card_x',
    bearer('partner'),
    undefined,
    'validation_failed',
    /partnerId is required as a header/,
  ),
  wrong(
    'GET /api/v0/partner/svcCard/card_x',
    () => bearer('partner', { partnerid: sent.otherId })(),
    undefined,
    'partner_mismatch',
    /not the partner of the token/,
  ),
  wrong(
    'GET /api/v0/payments',
    bearer('merchant', { merchantAccessKey: 'mak_x' }),
    undefined,
    'access_key_mismatch',
    /does not belong to the merchant/,
  ),
]

const create = (body: string | undefined, code: string, says: RegExp, more: Headers = JSON_TYPE) =>
  wrong(CREATE, bearer('merchant', more), body, code, says)

const BODIES = [
  create('{"qrName":"x",}', 'malformed_body', /at position 14, line 1, column 15/),
  create('{"qrName":"x" "description":"y"}', 'malformed_body', /at position 14, line 1, column 15/),
  create('{\n  "qrName": shop\n}', 'malformed_body', /at position 14, line 2, column 13/),
  create('{"qrName":"x"', 'malformed_body', /ends early, at position 13/),
  create("{'qrName':1}", 'malformed_body', /at position 1, line 1, column 2/),
  create('{"qrName":"a\tb"}', 'malformed_body', /position 1[02]/),
  create('{"qrName":"x","qrName":"y"}', 'malformed_body', /same key twice, at position/),
  create('{"amount":01}', 'malformed_body', /at position 11/),
  create('[1, 2', 'malformed_body', /ends early, at position 5/),
  create('{} {}', 'malformed_body', /at position 3,/),
  create('a=1', 'unsupported_media_type', /must be sent as application\/json/, FORM()),
  create('{}', 'unsupported_media_type', /without a content encoding/, {
    ...JSON_TYPE,
    'content-encoding': 'gzip',
  }),
  create(`{"qrName":"${'x'.repeat(70_000)}"}`, 'payload_too_large', /larger than 65536 bytes, the limit/),
  create(undefined, 'validation_failed', /body is missing: send a JSON object, \{\} where/),
  create('', 'validation_failed', /body is missing/),
  wrong(
    CARDS,
    partner(JSON_TYPE),
    '{"loadAmount":"5"}',
    'request_not_encrypted',
    /compact JWE \(RFC 7516\).*\/\.well-known\/jwks\.json.*\/docs\/guides\/encrypt-a-request/,
  ),
  wrong(CARDS, partner(JSON_TYPE), '"abc"', 'decryption_failed', /./),
]

const FIELDS = [
  create('{"qrname":"x"}', 'validation_failed', /qrname is not a known field; did you mean qrName\?/),
  create('{"amuont":5}', 'validation_failed', /amuont is not a known field; did you mean amount\?/),
  create('{"fixedAmmount":true}', 'validation_failed', /did you mean fixedAmount\?/),
  create('{"qr_name":"x"}', 'validation_failed', /did you mean qrName\?/),
  create('{"colour":"x"}', 'validation_failed', /colour is not a known field$/),
  create('{"amount":"5"}', 'validation_failed', /amount must be a number, not a string/),
  create('{"amount":0}', 'validation_failed', /amount must be at least 0\.01/),
  create('{"fixedAmount":true}', 'validation_failed', /amount is required when fixedAmount is true/),
  create(
    '{"expiry":"2020-01-01T00:00:00Z"}',
    'validation_failed',
    /expiry must be in the future, after \d{4}-/,
  ),
  create(
    '{"expiry":"2100-01-01T00:00:00Z"}',
    'validation_failed',
    /expiry must be at most 5 years ahead, by \d{4}-/,
  ),
  create('{"expiry":"tomorrow"}', 'validation_failed', /expiry must be/),
  create('{}', 'validation_failed', /Idempotency-Key must be 1 to 255 visible/, {
    ...JSON_TYPE,
    'idempotency-key': 'a b',
  }),
  wrong(
    'GET /api/v0/payments?Limit=5',
    bearer('merchant'),
    undefined,
    'validation_failed',
    /Limit is not a known field; did you mean limit\?/,
  ),
  wrong(
    'GET /api/v0/payments?QrCodeId=x',
    bearer('merchant'),
    undefined,
    'validation_failed',
    /did you mean qrCodeId\?/,
  ),
  wrong(
    'GET /api/v0/payments?limit=many',
    bearer('merchant'),
    undefined,
    'validation_failed',
    /limit must be/,
  ),
  wrong(
    'GET /api/v0/payments?from=yesterday',
    bearer('merchant'),
    undefined,
    'validation_failed',
    /from must be/,
  ),
]

const ROUTES = [
  wrong('POST /api/v0/qr-codes', none, '{}', 'route_not_found', /did you mean POST \/api\/v0\/qr-code\?/),
  wrong('GET /api/v0/payment', none, undefined, 'route_not_found', /did you mean GET \/api\/v0\/payments\?/),
  wrong('GET /api/v0/paymets', none, undefined, 'route_not_found', /did you mean GET \/api\/v0\/payments\?/),
  wrong(
    'GET /api/v0/partner/company',
    none,
    undefined,
    'route_not_found',
    /did you mean GET \/api\/v0\/partner\/companies\?/,
  ),
  wrong(
    'POST /api/v0/partner/svccard',
    none,
    '{}',
    'route_not_found',
    /did you mean POST \/api\/v0\/partner\/svcCard\?/,
  ),
  wrong('GET /payments', none, undefined, 'route_not_found', /did you mean GET \/api\/v0\/payments\?/),
  wrong(
    'POST /api/v0/merchant/tokens',
    none,
    undefined,
    'route_not_found',
    /did you mean POST \/api\/v0\/merchant\/token\?/,
  ),
  wrong('GET /api/v0/nothing-like-it', none, undefined, 'route_not_found', /^Operation not found$/),
  wrong('DELETE /api/v0/qr-code', none, undefined, 'method_not_allowed', /does not support DELETE: use POST/),
  wrong('GET /oauth/token', none, undefined, 'method_not_allowed', /does not support GET: use POST/),
  wrong(
    'GET /api/v0/qr-code/qr_none',
    bearer('merchant'),
    undefined,
    'qr_code_not_found',
    /QR code not found/,
  ),
  wrong(
    'POST /rails/upi/credits',
    () => ({ ...JSON_TYPE, 'x-rail-signature': 't=1,v1=00' }),
    '{}',
    'invalid_signature',
    /signature is missing or wrong/,
  ),
]

/** Wrong requests, each with what its response says. */
export const WRONG_REQUESTS = [...TOKENS, ...CREDENTIALS, ...BODIES, ...FIELDS, ...ROUTES]
