import { SCOPES } from '@svc/contract/scopes'
import { revokeOAuthClient } from '@svc/core/tenants/partner'
import { setTenantDisabled } from '@svc/core/tenants/tenant'
import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiResponse, type Client, payloadOf } from '../harness/client.ts'
import {
  asPartner,
  createCard,
  FORM,
  newPartner,
  partnerToken,
  type TestPartner,
} from '../harness/partner.ts'
import { openService, type TestService, tokenOf } from '../harness/service.ts'

let service: TestService
let partner: TestPartner

beforeAll(async () => {
  service = await openService()
  partner = await newPartner(service, { products: ['incentive', 'employee_rewards'] })
})
afterAll(() => service.close())

const INSECURE = { [oauth.allowInsecureRequests]: true }
const grant = { grant_type: 'client_credentials' }
const posted = () => ({ client_id: partner.clientId, client_secret: partner.clientSecret })
const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
const headerOf = (secret = partner.clientSecret) => ({ authorization: basic(partner.clientId, secret) })
const send = (form: Record<string, string> | string, headers: Record<string, string> = {}) =>
  service.client.send('POST', '/oauth/token', new URLSearchParams(form).toString(), { ...FORM, ...headers })
const cookieOf = (response: ApiResponse) => String(response.headers['set-cookie'])

/** Of a failure: all but what differs from one request to the next. */
const withoutIdAndTime = ({ text }: ApiResponse) =>
  text.replace(/"requestId":"req_\w+"/, '').replace(/"timestamp":"[^"]+"/, '')

test.each(['client_secret_basic', 'client_secret_post'])(
  'a standard OAuth client, configured by the metadata alone, gets a token by %s that the card operations accept',
  async (method) => {
    const issuer = new URL(service.baseUrl)
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE })
    const server = await oauth.processDiscoveryResponse(issuer, found)
    expect(server.token_endpoint_auth_methods_supported).toContain(method)
    const authenticate =
      method === 'client_secret_basic'
        ? oauth.ClientSecretBasic(partner.clientSecret)
        : oauth.ClientSecretPost(partner.clientSecret)
    const client = { client_id: partner.clientId }
    const response = await oauth.clientCredentialsGrantRequest(server, client, authenticate, {}, INSECURE)
    const result = await oauth.processClientCredentialsResponse(server, client, response)
    expect(result).toMatchObject({
      token_type: 'bearer',
      expires_in: 3600,
      scope: Object.keys(SCOPES).join(' '),
    })
    const caller = service.client.with({
      authorization: `Bearer ${result.access_token}`,
      partnerid: partner.partnerId,
    })
    payloadOf(await createCard(caller, partner))
  },
)

test('a standard OAuth client reads the rejection of a wrong secret as invalid_client with a Basic challenge', async () => {
  const issuer = new URL(service.baseUrl)
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE }),
  )
  const client = { client_id: partner.clientId }
  const refused = await oauth.clientCredentialsGrantRequest(
    server,
    client,
    oauth.ClientSecretBasic('wrong'),
    {},
    INSECURE,
  )
  expect(refused.headers.get('www-authenticate')).toMatch(/^Basic /)
  const error = await oauth
    .processClientCredentialsResponse(server, client, refused.clone())
    .catch((e: unknown) => e)
  expect(error).toBeInstanceOf(oauth.WWWAuthenticateChallengeError)
  expect(await refused.json()).toMatchObject({ error: 'invalid_client' })
})

test('a requested scope is granted, each part once', async () => {
  const { json } = await send({ ...grant, ...posted(), scope: 'cards:read  cards:read' })
  expect(json.scope).toBe('cards:read')
})

describe('errors are those of RFC 6749 section 5.2', () => {
  const wrongSecret = () => send(grant, headerOf('wrong'))
  const cases: [string, () => Promise<ApiResponse>, number, string][] = [
    ['no grant_type', () => send(posted()), 400, 'invalid_request'],
    ['an empty grant_type', () => send({ ...posted(), grant_type: '' }), 400, 'invalid_request'],
    ['another grant', () => send({ ...posted(), grant_type: 'password' }), 400, 'unsupported_grant_type'],
    [
      'an unknown scope',
      () => send({ ...grant, ...posted(), scope: 'cards:read admin' }),
      400,
      'invalid_scope',
    ],
    [
      'a parameter twice',
      () => send(`grant_type=client_credentials&${new URLSearchParams({ ...grant, ...posted() })}`),
      400,
      'invalid_request',
    ],
    ['credentials in both places', () => send({ ...grant, ...posted() }, headerOf()), 400, 'invalid_request'],
    [
      'client_id of another client beside the header',
      () => send({ ...grant, client_id: 'cli_other' }, headerOf()),
      400,
      'invalid_request',
    ],
    ['no credentials', () => send(grant), 401, 'invalid_client'],
    ['an unknown client', () => send({ ...grant, ...posted(), client_id: 'x' }), 401, 'invalid_client'],
    [
      'a wrong secret in the body',
      () => send({ ...grant, ...posted(), client_secret: 'x' }),
      401,
      'invalid_client',
    ],
    ['a wrong secret in the header', wrongSecret, 401, 'invalid_client'],
    ['a header that is not Basic', () => send(grant, { authorization: 'Bearer x' }), 401, 'invalid_client'],
    [
      'JSON instead of a form',
      () => service.client.post('/oauth/token', { ...grant, ...posted() }),
      415,
      'invalid_request',
    ],
  ]
  test.each(cases)('%s', async (_, request, status, error) => {
    const response = await request()
    expect([response.status, response.json.error]).toEqual([status, error])
    expect(response.headers['cache-control']).toBe('no-store')
    // The only characters that RFC 6749 allows here.
    expect(response.json.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
    if (status === 401) expect(response.headers['www-authenticate']).toMatch(/^Basic realm=/)
    expect(response.text).not.toContain(partner.clientSecret)
  })

  test('an unknown client and a known one with a wrong secret get the same bytes', async () => {
    const unknown = await send(grant, { authorization: basic(`cli_${'0'.repeat(26)}`, 'wrong') })
    expect(withoutIdAndTime(unknown)).toBe(withoutIdAndTime(await wrongSecret()))
  })

  test('unknown parameters are ignored, and credentials in the header alone are enough', async () => {
    const response = await send({ ...grant, resource: 'x', client_id: partner.clientId }, headerOf())
    expect(response.json).toMatchObject({ token_type: 'Bearer' })
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
  })
})

test('the session cookie is HttpOnly, SameSite=Strict, with the lifetime of the token, and Secure where the service is reached over https', async () => {
  const attributes = (cookie: string) =>
    cookie
      .split('; ')
      .map((part, i) => (i === 0 ? part.split('=')[0] : part))
      .sort()
  const plain = ['HttpOnly', 'Max-Age=3600', 'Path=/', 'SVCSESSION', 'SameSite=Strict']
  expect(attributes(cookieOf(await partnerToken(service.client, partner)))).toEqual(plain)
  const secure = await openService({ env: { PUBLIC_URL: 'https://cards.example.com' } })
  const response = await partnerToken(secure.client, await newPartner(secure))
  expect(attributes(cookieOf(response))).toEqual([...plain, 'Secure'].sort())
  await secure.close()
})

describe('partner tokens', () => {
  const search = (caller: Client) =>
    caller.post('/api/v0/partner/svcCard/search', {
      companyId: partner.companyId,
      cardAccountId: partner.cardAccountId,
      svcCardId: 'x',
    })

  test('another partner’s id is 403 with the same bytes whether that partner exists or not', async () => {
    const caller = await asPartner(service.client, partner)
    const other = await newPartner(service)
    const existing = await createCard(caller, partner, {}, { partnerid: other.partnerId })
    const missing = await createCard(caller, partner, {}, { partnerid: `par_${'0'.repeat(26)}` })
    expect([existing.status, existing.error]).toEqual([403, 'partner_mismatch'])
    expect(withoutIdAndTime(existing)).toBe(withoutIdAndTime(missing))
  })

  test('without a partnerId card operations are rejected by its name', async () => {
    const { access_token: token } = (await partnerToken(service.client, partner)).json
    const caller = service.client.with({ authorization: `Bearer ${token}` })
    const response = await createCard(caller, partner)
    expect([response.status, response.errorDescription]).toEqual([400, 'partnerId is required as a header'])
  })

  test('a merchant’s token is not accepted for cards, nor a partner’s for QR codes', async () => {
    const merchantToken = await tokenOf(service.client, (await service.newMerchant()).apiKey)
    const { access_token: token } = (await partnerToken(service.client, partner)).json
    const merchant = service.client.with({
      authorization: `Bearer ${merchantToken}`,
      partnerid: partner.partnerId,
    })
    for (const response of [
      await createCard(merchant, partner),
      await search(merchant),
      await merchant.get(`/api/v0/partner/svcCard/card_${'0'.repeat(26)}`),
      await service.client.post('/api/v0/qr-code', {}, { authorization: `Bearer ${token}` }),
    ])
      expect([response.status, response.error]).toEqual([401, 'invalid_token'])
  })

  test('a session is accepted with the tokens of its own partner only', async () => {
    const other = await newPartner(service)
    const [mine, again, theirs] = [
      await partnerToken(service.client, partner),
      await partnerToken(service.client, partner),
      await partnerToken(service.client, other),
    ]
    const caller = (token: ApiResponse, cookie: string) =>
      service.client.with({
        authorization: `Bearer ${token.json.access_token}`,
        partnerid: partner.partnerId,
        cookie,
      })
    const own = cookieOf(mine).split(';')[0]!
    expect((await search(caller(mine, own))).status).toBe(200)
    expect((await search(caller(mine, `a=1; ${own}; b=2`))).status).toBe(200)
    expect((await search(caller(again, own))).status).toBe(200)
    const stolen = cookieOf(theirs).split(';')[0]!
    for (const cookie of ['', 'SVCSESSION=', 'other=1', `${own}x`, own.slice(0, -1), stolen])
      expect((await search(caller(mine, cookie))).error, cookie).toBe('invalid_session')
  })
})

describe.each(['revoked client', 'disabled partner'])('a %s', (what) => {
  test('gets no token and loses those it has, in every service, within a second', async () => {
    const second = await openService({ db: service.db })
    const gone = await newPartner(service)
    const services = [service, second]
    const callers = await Promise.all(services.map(({ client }) => asPartner(client, gone)))
    for (const caller of callers) payloadOf(await createCard(caller, gone, { mobile: '9000000001' }))
    await service.app.services.database.operate(async (tx) => {
      if (what === 'revoked client') await revokeOAuthClient(tx, gone.clientId)
      else await setTenantDisabled(tx, gone.partnerId, 'partner', true)
    })
    const revokedAtMs = performance.now()
    for (const { client } of services)
      expect((await partnerToken(client, gone)).json.error).toBe('invalid_client')
    for (const caller of callers) {
      let response: ApiResponse
      let takenAtMs = revokedAtMs
      for (;;) {
        const sentAtMs = performance.now()
        response = await createCard(caller, gone, { mobile: '9000000001' })
        if (response.status !== 200) break
        takenAtMs = sentAtMs
      }
      expect(response.error).toBe('invalid_token')
      // What is promised: nothing that is sent a second later is taken, however slow the machine.
      expect(takenAtMs - revokedAtMs).toBeLessThan(1_000)
    }
    await second.close()
  })
})

test('guessing ends in 429 with Retry-After, while the legitimate client of the same address is always accepted', async () => {
  const guarded = await openService({ env: { FAILED_ATTEMPTS_PER_MINUTE: '20' } })
  const good = await newPartner(guarded)
  const guess = () => partnerToken(guarded.client, { clientId: good.clientId, clientSecret: 'guess' })
  const statuses: number[] = []
  for (let i = 0; i < 40; i++) {
    const refused = await guess()
    statuses.push(refused.status)
    if (refused.status === 429) expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await partnerToken(guarded.client, good)).status).toBe(200)
  }
  expect(statuses).toEqual([...Array<number>(20).fill(401), ...Array<number>(20).fill(429)])
  await guarded.close()
})
