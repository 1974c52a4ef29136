import { revokeApiKey } from '@svc/core/tenants/api-key'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openSandbox, type SandboxService } from '../harness/conformance.ts'
import { tokenOf } from '../harness/service.ts'
import { type Headers, JSON_TYPE, sent, WRONG_REQUESTS, type Wrong } from '../harness/wrong-requests.ts'

let own: SandboxService
let anchors: ReadonlySet<string>
async function partnerOf(who: 'incentivePartner' | 'otherPartner') {
  const { clientId, clientSecret } = own.sandbox[who]
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  const response = await fetch(`${own.service.baseUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  const { access_token: token } = (await response.json()) as { access_token: string }
  return { token, cookie: response.headers.get('set-cookie')!.split(';')[0]! }
}

beforeAll(async () => {
  own = await openSandbox()
  const { service, sandbox } = own
  const [first, second] = [await partnerOf('incentivePartner'), await partnerOf('otherPartner')]
  const revoked = await service.newMerchant()
  Object.assign(sent, {
    merchant: await tokenOf(service.client, sandbox.merchant.apiKey),
    expired: await tokenOf(service.client, sandbox.otherMerchant.apiKey),
    revoked: await tokenOf(service.client, revoked.apiKey),
    partner: first.token,
    otherPartner: second.token,
    cookie: second.cookie,
    apiKey: sandbox.merchant.apiKey,
    secret: sandbox.incentivePartner.clientSecret,
    clientId: sandbox.incentivePartner.clientId,
    partnerId: sandbox.incentivePartner.partnerId,
    otherId: sandbox.otherPartner.partnerId,
  })
  await service.app.services.database.operate((tx) => revokeApiKey(tx, revoked.apiKeyId))
  // A revocation holds within a second (decision A4).
  const status = async () =>
    (
      await fetch(`${service.baseUrl}/api/v0/payments`, {
        headers: { authorization: `Bearer ${sent.revoked}` },
      })
    ).status
  await vi.waitFor(async () => expect(await status()).toBe(401), 10_000)
  const advance = `/sandbox/tenants/${sandbox.otherMerchant.merchantId}/clock/advance`
  expect((await service.client.post(advance, { bySeconds: 7_200 })).status).toBe(200)
  const page = await (await fetch(`${service.baseUrl}/docs/errors`)).text()
  anchors = new Set([...page.matchAll(/id="(\w+)"/g)].map(([, id]) => id!))
}, 60_000)
afterAll(() => own.service.close())

/** Headers go as they are: `fetch` adds a content type of its own to a text. */
const send = ({ method, path, headers, body }: Wrong) =>
  fetch(`${own.service.baseUrl}${path}`, {
    method,
    headers: { ...(body && JSON_TYPE), ...headers() },
    ...(body !== undefined && { body }),
  })

test('there are sixty wrong requests or more', () => {
  expect(WRONG_REQUESTS.length).toBeGreaterThanOrEqual(60)
})

test.each(WRONG_REQUESTS.map((each) => [`${each.method} ${each.path}`, each.code, each.says, each] as const))(
  '%s fails with %s that says %s and links to its page',
  async (_, code, says, request) => {
    const response = await send(request)
    const text = await response.text()
    const { error, error_description: description } = JSON.parse(JSON.parse(text).errorResponse.errorMessage)
    expect([error, description]).toEqual([code, expect.stringMatching(says)])
    expect(response.headers.get('link')).toContain(
      `</docs/errors#${code}>; rel="help"`.replace('<', `<${own.service.baseUrl}`),
    )
    expect(anchors).toContain(code)
    if (response.status === 401 && code === 'invalid_token' && request.headers()['authorization'])
      expect(response.headers.get('www-authenticate')).toBe(
        `Bearer realm="svc", error="invalid_token", error_description="${description}"`,
      )
  },
)

test('the coin lookup keeps the text of the specification, and its challenge says why', async () => {
  const lookup = async (headers: Headers) => {
    const response = await fetch(`${own.service.baseUrl}/api/v0/svc-coins/ccf_x`, { headers })
    const body = JSON.parse(await response.text())
    expect(body.payload).toBe('{"error":"invalid_token","error_description":"Invalid access token"}')
    return response.headers.get('www-authenticate')
  }
  expect(await lookup({})).toBe('Bearer realm="svc"')
  expect(await lookup({ authorization: `Bearer ${sent.expired}` })).toContain('has expired: get a new one')
  expect(await lookup({ authorization: `Bearer ${sent.apiKey}` })).toContain('An API key was sent')
})
