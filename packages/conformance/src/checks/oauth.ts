import { type Check, decided } from '../check.ts'
import type { HttpResponse } from '../exchange.ts'
import { fail, wantKind, wantSameRefusal, wantStatus, wantText, wantValue } from '../expect.ts'
import { PATHS, type Subject, skip } from '../subject.ts'

const tokenResponse = (subject: Subject): Promise<HttpResponse> =>
  subject.observe('a partner token', () => subject.partnerTokenResponse())

export const OAUTH_CHECKS: readonly Check[] = [
  decided(
    '5.oauth.status',
    'decision A7',
    'Client credentials in the body get a bearer token (RFC 6749)',
    async (s) => {
      const response = await tokenResponse(s)
      wantStatus(response, 200)
      wantText(response, 'access_token')
      wantValue(response, 'token_type', 'Bearer')
      if (!((wantKind(response, 'expires_in', 'integer') as number) > 0))
        fail(response, 'expires_in: more than 0', '0')
    },
  ),
  decided('5.oauth.basic', 'decision A7', 'Client credentials in the Basic header get a token', async (s) => {
    const { clientId, clientSecret } = s.partner()
    if (!clientId || !clientSecret) return skip('the credentials of incentivePartner have no client')
    const pair = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString(
      'base64',
    )
    s.http.redactor.hide(pair, 'INCENTIVE_PARTNER_BASIC')
    const form = new URLSearchParams({ grant_type: 'client_credentials' })
    const response = await s.partnerTokenOf('incentivePartner', { authorization: `Basic ${pair}` }, form)
    wantStatus(response, 200)
    wantText(response, 'access_token')
  }),
  decided(
    '5.oauth.no-store',
    'decision A7',
    'The token response is not to be stored (RFC 6749 section 5.1)',
    async (s) => {
      const response = await tokenResponse(s)
      if (!response.headers['cache-control']?.includes('no-store'))
        fail(response, 'Cache-Control: no-store', response.headers['cache-control'] ?? 'none')
    },
  ),
  decided(
    '5.oauth.cookie',
    'decision A8',
    'The token response sets a session cookie, HttpOnly and SameSite=Strict',
    async (s) => {
      const response = await tokenResponse(s)
      const isSession = (cookie: string) => /; *HttpOnly/i.test(cookie) && /; *SameSite=Strict/i.test(cookie)
      if (!response.cookies.some(isSession))
        fail(response, 'a cookie with HttpOnly and SameSite=Strict', response.cookies.join(', ') || 'none')
    },
  ),
  decided('5.oauth.wrong-secret', 'decision A7', 'A wrong secret is 401 invalid_client', async (s) => {
    const response = await s.partnerTokenResponse('incentivePartner', { client_secret: 'wrong' })
    wantStatus(response, 401)
    wantValue(response, 'error', 'invalid_client')
    wantText(response, 'error_description')
  }),
  decided('5.oauth.alike', 'decision A11', 'An unknown client is refused like a wrong secret', async (s) => {
    const wrong = await s.partnerTokenResponse('incentivePartner', { client_secret: 'wrong' })
    const unknown = await s.partnerTokenResponse('incentivePartner', {
      client_id: 'cli_00000000000000000000000000',
    })
    wantSameRefusal(unknown, wrong, 'the response to a wrong secret')
  }),
  decided('5.oauth.grant', 'decision A7', 'Another grant type is 400 unsupported_grant_type', async (s) => {
    const response = await s.partnerTokenResponse('incentivePartner', { grant_type: 'password' })
    wantStatus(response, 400)
    wantValue(response, 'error', 'unsupported_grant_type')
  }),
  decided(
    '5.oauth.scope',
    'decision A7',
    'A scope that the partner does not have is 400 invalid_scope',
    async (s) => {
      const response = await s.partnerTokenResponse('incentivePartner', { scope: 'everything' })
      wantStatus(response, 400)
      wantValue(response, 'error', 'invalid_scope')
    },
  ),
  decided(
    '5.oauth.metadata',
    'decision A7',
    'The metadata names the token endpoint (RFC 8414)',
    async (s) => {
      const response = await s.call('GET', '/.well-known/oauth-authorization-server', undefined)
      wantStatus(response, 200)
      const endpoint = wantText(response, 'token_endpoint')
      if (!endpoint.endsWith(PATHS.partnerToken))
        fail(response, `token_endpoint: …${PATHS.partnerToken}`, endpoint)
    },
  ),
  decided('5.other-merchant', 'decision A10', 'Two merchants’ tokens differ', async (s) => {
    const [one, other] = [await s.merchantToken(), await s.merchantToken('otherMerchant')]
    if (one === other) fail(await s.tokenResponse('otherMerchant'), 'another token', 'the same')
  }),
]
