import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueApiKey, revokeApiKey } from '@svc/core/tenants/api-key'
import { setMerchantDisabled } from '@svc/core/tenants/merchant'
import { base64url, decodeProtectedHeader, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiResponse, Client } from '../harness/client.ts'
import { asSuperuser, openService, type TestMerchant, type TestService, tokenOf } from '../harness/service.ts'

let service: TestService
let merchant: TestMerchant
let token: string
let claims: JWTPayload
let kid: string

beforeAll(async () => {
  service = await openService()
  merchant = await service.newMerchant()
  token = await tokenOf(service.client, merchant.apiKey)
  claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
  kid = decodeProtectedHeader(token).kid!
})
afterAll(() => service.close())

const search = (authorization: string | undefined, client = service.client): Promise<ApiResponse> =>
  client.post('/api/v0/qr-code/search', { limit: 1 }, authorization === undefined ? {} : { authorization })
const use = (text: string, client = service.client) => search(`Bearer ${text}`, client)

function expectInvalid(response: ApiResponse, credentialsWereSent = true): void {
  const text = expect.stringMatching(/^\{"error":"invalid_token","error_description":"[^"]+"\}$/)
  expect(response.status, response.text).toBe(401)
  expect(response.json).toEqual({
    payload: text,
    errorResponse: {
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      requestId: response.headers['x-request-id'],
      errorType: 'SYSTEM_ERROR',
      errorMessage: text,
    },
    response_code: 1,
    response_message: 'Failure',
  })
  const challenge = credentialsWereSent
    ? /^Bearer realm="svc", error="invalid_token"/
    : /^Bearer realm="svc"$/
  expect(response.headers['www-authenticate']).toMatch(challenge)
}

/** The service's own signing key, as only the service has it: to sign what it never would. */
function ownKey() {
  const { bytes } = service.app.services.keyring.newest('token_signing')
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), bytes])
  return createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
}

const signed = (payload: JWTPayload, header: object = {}): Promise<string> =>
  new SignJWT(payload).setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid, ...header }).sign(ownKey())

test('the token forger of these tests can create a token that is accepted', async () => {
  expect((await use(await signed({ ...claims, jti: 'forged' }))).status).toBe(200)
})

test.each<[string, () => string | undefined]>([
  ['is missing', () => undefined],
  ['is empty, and so is absent', () => ''],
  ['is a scheme alone', () => 'Bearer'],
  ['has an empty token', () => 'Bearer '],
  ['is the token alone', () => token],
  ['is Basic', () => `Basic ${Buffer.from('a:b').toString('base64')}`],
  ['is another scheme with a good token', () => `Token ${token}`],
  ['is two tokens', () => `Bearer ${token} ${token}`],
  ['is two schemes', () => `Bearer ${token}, Basic eDp5`],
  ['has a comma', () => `Bearer ${token},`],
  ['is an API key', () => `Bearer ${merchant.apiKey}`],
  ['is no JWT', () => 'Bearer abc'],
  ['has three empty parts', () => 'Bearer ..'],
  ['has four parts', () => `Bearer ${token}.x`],
  ['lacks its signature', () => `Bearer ${token.split('.').slice(0, 2).join('.')}.`],
  ['is very long', () => `Bearer ${'a'.repeat(8_000)}`],
])('an Authorization header that %s is an invalid token', async (_, header) => {
  const authorization = header()
  expectInvalid(await search(authorization), Boolean(authorization))
})

test('the scheme’s name may be written in any case (RFC 9110 section 11.1)', async () => {
  for (const scheme of ['bearer', 'BEARER', 'bEaReR'])
    expect((await search(`${scheme} ${token}`)).status).toBe(200)
})

test('every part of a token is protected: any changed character invalidates it', async () => {
  const part = (index: number, change: (text: string) => string) =>
    token
      .split('.')
      .map((text, i) => (i === index ? change(text) : text))
      .join('.')
  const json = (change: object) => (text: string) =>
    base64url.encode(JSON.stringify({ ...JSON.parse(Buffer.from(text, 'base64url').toString()), ...change }))
  const flip = (at: number) => (text: string) =>
    text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
  const other = await service.newMerchant()
  const changed = [
    part(1, json({ sub: other.merchantId })),
    part(1, json({ exp: 9_999_999_999 })),
    part(0, json({ kid: 'x' })),
  ]
  for (const index of [0, 1, 2]) for (const at of [0, 5, 20, 40]) changed.push(part(index, flip(at)))
  for (const text of changed) expectInvalid(await use(text))
})

test('neither "none" nor key confusion is accepted (RFC 8725 sections 2.1 and 3.1)', async () => {
  const publicKey = createPublicKey(ownKey())
  const head = (header: object) => base64url.encode(JSON.stringify({ typ: 'at+jwt', kid, ...header }))
  const body = token.split('.')[1]!
  for (const alg of ['none', 'None', 'NONE', '']) {
    expectInvalid(await use(`${head({ alg })}.${body}.`))
    expectInvalid(await use(`${head({ alg })}.${body}.${token.split('.')[2]}`))
  }
  const spellings = [
    publicKey.export({ format: 'pem', type: 'spki' }),
    publicKey.export({ format: 'der', type: 'spki' }),
    Buffer.from((publicKey.export({ format: 'jwk' }) as { x: string }).x, 'base64url'),
    Buffer.from(JSON.stringify((await service.client.get('/.well-known/jwks.json')).json.keys[0])),
  ]
  for (const secret of spellings) {
    const confused = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid })
      .sign(Buffer.from(secret))
    expectInvalid(await use(confused))
  }
})

test('a key embedded in the token is not used', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const jwk = publicKey.export({ format: 'jwk' }) as never
  for (const header of [
    { jwk },
    { jku: 'http://127.0.0.1:1/jwks' },
    { x5u: 'http://127.0.0.1:1/x' },
    { kid: '../../dev/null' },
    { kid: '__proto__' },
    { kid: undefined },
  ]) {
    const forged = new SignJWT(claims).setProtectedHeader({
      alg: 'EdDSA',
      typ: 'at+jwt',
      kid,
      ...header,
    } as never)
    expectInvalid(await use(await forged.sign(privateKey)))
  }
})

test.each<[string, JWTPayload, object]>([
  ['another issuer', { iss: 'http://127.0.0.1:1' }, {}],
  ['another audience', { aud: 'another' }, {}],
  ['another kind of holder', { kind: 'partner' }, {}],
  ['a kind that does not exist', { kind: 'operator' }, {}],
  ['another type', {}, { typ: 'JWT' }],
  ['no type', {}, { typ: undefined }],
  ['an unknown kid', {}, { kid: 'unknown' }],
  ['a time that has not come', { nbf: 4_102_444_800 }, {}],
  ['a time that is text', { exp: '4102444800' as never }, {}],
])('a token that was signed by the service itself but has %s is invalid', async (_, payload, header) => {
  expectInvalid(await use(await signed({ ...claims, ...payload }, header)))
})

test('a token that lacks any of its claims is invalid', async () => {
  for (const name of ['iss', 'sub', 'aud', 'exp', 'iat', 'jti', 'client_id', 'kind'])
    expectInvalid(await use(await signed({ ...claims, [name]: undefined })))
})

test('a token is valid up to the last millisecond before its expiry and never after, cached or not', async () => {
  const { clock } = service
  const running = clock.now
  const expiryMs = claims.exp! * 1_000
  const at = async (instant: number, text: string) => {
    clock.now = () => instant
    try {
      return await use(text)
    } finally {
      clock.now = running
    }
  }
  expect((await use(token)).status).toBe(200)
  for (const before of [1_000, 1]) {
    expect((await at(expiryMs - before, token)).status).toBe(200)
    expect((await at(expiryMs - before, await signed({ ...claims, jti: `new-${before}` }))).status).toBe(200)
  }
  for (const after of [0, 1, 999, 1_000]) {
    expectInvalid(await at(expiryMs + after, token))
    expectInvalid(await at(expiryMs + after, await signed({ ...claims, jti: `late-${after}` })))
  }
})

/** Polls until the token is refused; fails when a process still takes it a second after the revocation was committed. */
async function refusedWithinASecond(
  clients: readonly Client[],
  text: string,
  committedAtMs: number,
): Promise<void> {
  for (const client of clients) {
    let response: ApiResponse
    let requestedAtMs: number
    do {
      requestedAtMs = performance.now()
      response = await use(text, client)
    } while (response.status === 200 && requestedAtMs - committedAtMs <= 1_000)
    expectInvalid(response)
    for (let again = 0; again < 20; again++) expectInvalid(await use(text, client))
  }
}

test('revoking a key or disabling its merchant ends the tokens in every process within a second, permanently', async () => {
  // The same issuer for both, as PUBLIC_URL makes it for the processes of one installation.
  const second = await openService({ db: service.db, env: { PUBLIC_URL: service.baseUrl } })
  try {
    const { port } = second.app.http.server.address() as { port: number }
    const clients = [service.client, await Client.open(`http://127.0.0.1:${port}`)]
    const { keyring, random, database } = service.app.services
    for (const how of ['revoke', 'disable', 'revoke while idle'] as const) {
      const shop = await service.newMerchant()
      const other = await database.operate((tx) =>
        issueApiKey(tx, { keyring, random, mode: 'test' }, shop.merchantId, 'other'),
      )
      const dead = await tokenOf(service.client, shop.apiKey)
      const living = await tokenOf(service.client, other.secret.reveal())
      for (const client of clients)
        for (const text of [dead, living]) expect((await use(text, client)).status).toBe(200)
      await database.operate(
        (tx): Promise<unknown> =>
          how === 'disable'
            ? setMerchantDisabled(tx, shop.merchantId, true)
            : revokeApiKey(tx, shop.apiKeyId),
      )
      const committedAtMs = performance.now()
      // Nobody asks for a second: what the idle processes knew before must not be believed any more.
      if (how === 'revoke while idle') {
        await sleep(1_000)
        for (const client of clients) expectInvalid(await use(dead, client))
      }
      await refusedWithinASecond(clients, dead, committedAtMs)
      if (how === 'disable') await refusedWithinASecond(clients, living, committedAtMs)
      else for (const client of clients) expect((await use(living, client)).status).toBe(200)
    }
  } finally {
    await second.close()
  }
})

test('a merchant that is enabled again gets a token that is accepted at once, whatever was cached before', async () => {
  const shop = await service.newMerchant()
  const { database } = service.app.services
  const dead = await tokenOf(service.client, shop.apiKey)
  for (let i = 0; i < 3; i++) {
    await database.operate((tx) => setMerchantDisabled(tx, shop.merchantId, true))
    // The service has just looked, and knows it as disabled.
    await refusedWithinASecond([service.client], dead, performance.now())
    await database.operate((tx) => setMerchantDisabled(tx, shop.merchantId, false))
    expect((await use(await tokenOf(service.client, shop.apiKey))).status).toBe(200)
  }
})

test('a clock jump makes no token valid again: neither an expired one, nor one whose key was revoked in the meantime', async () => {
  const DAY_MS = 86_400_000
  const own = await openService()
  const { client, clock } = own
  const { database } = own.app.services
  try {
    for (const jumpMs of [DAY_MS, -DAY_MS, 400 * DAY_MS]) {
      const shop = await own.newMerchant()
      const before = await tokenOf(client, shop.apiKey)
      expect((await use(before, client)).status).toBe(200)
      clock.advance(jumpMs)
      // Set forward, it has expired; set back, it comes from a time that has not been.
      expectInvalid(await use(before, client))
      const during = await tokenOf(client, shop.apiKey)
      expect((await use(during, client)).status).toBe(200)
      await database.operate((tx) => revokeApiKey(tx, shop.apiKeyId))
      await refusedWithinASecond([client], during, performance.now())
      clock.advance(-jumpMs)
      expectInvalid(await use(before, client))
      await refusedWithinASecond([client], during, performance.now())
      // Expired and then an hour from its end again, by a clock that is a day late.
      clock.advance(-DAY_MS)
      expectInvalid(await use(before, client))
      expectInvalid(await use(during, client))
      clock.advance(DAY_MS)
    }
  } finally {
    await own.close()
  }
})

test('once its signing key is retired, a token issued in the same second is not returned again', async () => {
  const own = await openService()
  try {
    const { keyring, database } = own.app.services
    const { apiKey } = await own.newMerchant()
    const requestedAtMs = own.clock.now()
    const previous = await tokenOf(own.client, apiKey)
    await database.write([], (tx) => keyring.add(tx, 'token_signing', 0, randomBytes(32)))
    await keyring.refresh()
    const kept = keyring.newest('token_signing').keyId
    await asSuperuser(own.db.database, (admin) =>
      admin.query(`update keyring set retired_at = now() where purpose = 'token_signing' and key_id <> $1`, [
        kept,
      ]),
    )
    await keyring.refresh()
    expectInvalid(await use(previous, own.client))
    own.clock.advance(requestedAtMs - (requestedAtMs % 1_000) - own.clock.now())
    expect((await use(await tokenOf(own.client, apiKey), own.client)).status).toBe(200)
  } finally {
    await own.close()
  }
})
