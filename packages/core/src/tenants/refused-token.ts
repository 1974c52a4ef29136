import { fail } from '@svc/contract/errors'

const MERCHANT_TOKEN = 'POST /api/v0/merchant/token'
const PARTNER_TOKEN = 'POST /oauth/token'

/** Why a token is refused, and what to do (decisions A11, F7). Without quotes or other letters: it stands in the challenge too. */
const REASONS = {
  missing: 'The access token is missing: send the header Authorization with Bearer, a space and the token',
  malformed: 'The Authorization header is malformed: send Bearer, a space and the token, and nothing else',
  no_bearer: 'The Authorization header does not begin with Bearer: send Bearer, a space and the token',
  api_key: `An API key was sent in place of a token: exchange it at ${MERCHANT_TOKEN}, then send the token`,
  client_secret: `A client secret was sent in place of a token: exchange it at ${PARTNER_TOKEN}, then send the token`,
  unknown: `The access token is not one of this service, or was changed: get a new one at ${MERCHANT_TOKEN} or ${PARTNER_TOKEN}`,
  outdated: `The access token is of an earlier version of this service: get a new one at ${PARTNER_TOKEN}`,
  expired: 'The access token has expired: get a new one',
  revoked:
    'The credential of the access token was revoked, or its tenant is disabled: get a token with a credential that works',
  of_partner: `This operation needs the token of a merchant, and one of a partner was sent: get one at ${MERCHANT_TOKEN}`,
  of_merchant: `This operation needs the token of a partner, and one of a merchant was sent: get one at ${PARTNER_TOKEN}`,
} as const

export function refuseToken(reason: keyof typeof REASONS, cause?: unknown): never {
  return fail('invalid_token', { description: REASONS[reason], cause })
}

/** Of an `Authorization` header without a token that could be one. */
export function refuseHeader(authorization: string | undefined): never {
  if (!authorization?.trim()) return refuseToken('missing')
  const value = authorization.replace(/^Bearer */i, '').trim()
  if (/^svc_(?:test|live)_/.test(value)) return refuseToken('api_key')
  if (value.startsWith('svc_secret_')) return refuseToken('client_secret')
  return refuseToken(/^Bearer\b/i.test(authorization) ? 'malformed' : 'no_bearer')
}
