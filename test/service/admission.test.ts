import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { issueApiKey, revokeApiKey } from '@svc/core/tenants/api-key'
import { saveLimits } from '@svc/core/tenants/credential-limits'
import { signNotice } from '@svc/server/http/notice-signature'
import { expect, test } from 'vitest'
import { type ApiResponse, type Client, payloadOf } from '../harness/client.ts'
import { OFFICE } from '../harness/credential-programs.ts'
import { cancel, creditOf, newCode, newCodes, notifyCredit } from '../harness/qr-codes.ts'
import {
  asSuperuser,
  BANK_RAIL_KEY,
  CARD_RAIL_KEY,
  openService,
  RAIL_KEY,
  type TestMerchant,
  type TestService,
  tokenOf,
} from '../harness/service.ts'

const MOST = 50
const openSmall = () => openService({ env: { REQUESTS_MAX: String(MOST) } })

/** Every batch of commands that changes QR codes takes seconds from now on. */
const slowDown = (service: TestService) =>
  asSuperuser(service.db.database, (admin) =>
    admin.query(`create function stroll() returns trigger language plpgsql as $$ begin
        perform pg_sleep(3); return null; end $$;
      create trigger stroll after update on qr_codes for each statement execute function stroll()`),
  )

test('when a process is at its limit, the callers that filled it are rejected at once, and all others and the probes are served', async () => {
  const service = await openSmall()
  const [busy, other] = [
    await service.as(await service.newMerchant()),
    await service.as(await service.newMerchant()),
  ]
  const codes = [...(await newCodes(service, busy, 40)), ...(await newCodes(service, busy, 40))]
  await slowDown(service)
  const sent = codes.map(({ qrCodeId }) => cancel(busy, qrCodeId))
  const refused = await Promise.any(
    sent.map(async (response) =>
      (await response).status === 503 ? response : Promise.reject(new Error('taken')),
    ),
  )
  expect(refused).toMatchObject({ error: 'overloaded', headers: { 'retry-after': '1' } })
  for (let n = 0; n < 20; n++)
    expect((await other.post('/api/v0/qr-code/search', { limit: 1 })).status).toBe(200)
  expect((await service.client.get('/readyz')).status).toBe(200)
  const responses = await Promise.all(sent)
  const of = (status: number): ApiResponse[] => responses.filter((response) => response.status === status)
  expect(of(200).length).toBeGreaterThanOrEqual(MOST)
  expect(of(200).length + of(503).length).toBe(codes.length)
  // What was refused was not carried out, and goes through when it is sent again.
  for (const [n, { status }] of responses.entries())
    if (status === 503) {
      const { qrCodeId } = codes[n]!
      expect(payloadOf(await busy.get(`/api/v0/qr-code/${qrCodeId}`)).status).toBe('ACTIVE')
    }
  expect(service.logged()).toContain('requests are refused')
  expect(service.logged()).not.toContain('a request failed')
  await service.close()
})

test('payments that wait for locked rows of one merchant leave the bank capacity for those of the others', async () => {
  const service = await openSmall()
  const [held, free] = [
    await newCode(service, await service.as(await service.newMerchant()), { multipleUse: true }),
    await newCode(service, await service.as(await service.newMerchant()), { multipleUse: true }),
  ]
  await asSuperuser(service.db.database, async (admin) => {
    await admin.query('begin')
    await admin.query('select from qr_codes where qr_code_id = $1 for update', [held.qrCodeId])
    const waiting = Array.from({ length: MOST + 10 }, () => notifyCredit(service.client, creditOf(held.tr)))
    let responded = 0
    for (const response of waiting) void response.then(({ status }) => (responded += status === 200 ? 1 : 0))
    await expect
      .poll(async () => (await notifyCredit(service.client, creditOf(free.tr))).status, { timeout: 8_000 })
      .toBe(200)
    expect(responded).toBe(0)
    await admin.query('rollback')
    const statuses = (await Promise.all(waiting)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(MOST)
  })
  await service.close()
})

const UPLOAD =
  'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 60\r\n\r\n'

test('requests count from their headers on: unauthenticated callers of one address that never finish theirs fill its share, not a tenant’s', async () => {
  const service = await openSmall()
  const tenant = await service.as(await service.newMerchant())
  // So that its token was verified before.
  await tenant.post('/api/v0/qr-code/search', { limit: 1 })
  const { hostname, port } = new URL(service.baseUrl)
  const sockets: Socket[] = []
  const outsider = () => service.client.post('/api/v0/merchant/token', {}, { 'API-Key': 'none' })
  await expect
    .poll(
      async () => {
        for (let n = 0; n < MOST; n++) {
          const socket = connect(Number(port), hostname)
          sockets.push(socket.on('error', () => undefined).resume())
          socket.write(UPLOAD)
        }
        return (await outsider()).error
      },
      { timeout: 10_000 },
    )
    .toBe('overloaded')
  for (let n = 0; n < 20; n++)
    expect((await tenant.post('/api/v0/qr-code/search', { limit: 1 })).status).toBe(200)
  for (const socket of sockets) socket.destroy()
  await expect.poll(async () => (await outsider()).error).toBe('invalid_api_key')
  await service.close()
})

test('requests behind another response of a connection that breaks no longer count, however they ended', async () => {
  const service = await openSmall()
  const tenant = await service.as(await service.newMerchant())
  const { hostname, port } = new URL(service.baseUrl)
  const { authorization } = tenant.headers
  const stream = `GET /api/v0/events/stream HTTP/1.1\r\nHost: a\r\nAuthorization: ${String(authorization)}\r\n\r\n`
  const refused = 'GET /api/v0/qr-code/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer none\r\n\r\n'
  const outsider = () => service.client.post('/api/v0/merchant/token', {}, { 'API-Key': 'none' })
  for (let n = 0; n < MOST; n++) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined).write(`${stream}${refused}${refused}${UPLOAD}`)
    await once(socket, 'data')
    socket.resetAndDestroy()
    await once(socket, 'close')
  }
  await expect.poll(async () => (await outsider()).error).toBe('invalid_api_key')
  await service.close()
})

test('an address over its budget of failed requests gets 429 for wrong tokens; valid tokens pass, also at first use, and so do API keys', async () => {
  const service = await openService({ env: { SVC_MODE: 'live', FAILED_REQUESTS_PER_SECOND: '5' } })
  const merchant = await service.newMerchant()
  const known = await service.as(merchant)
  expect((await known.post('/api/v0/qr-code/search', { limit: 1 })).status).toBe(200)
  const wrong = () => service.client.get('/api/v0/qr-code/x', { authorization: 'Bearer abc' })
  const refused = { error: 'rate_limited', headers: { 'retry-after': '1' } }
  await expect.poll(wrong, { interval: 1 }).toMatchObject(refused)
  expect((await known.post('/api/v0/qr-code/search', { limit: 1 })).status).toBe(200)
  await expect.poll(async () => (await wrong()).error, { interval: 1 }).toBe('rate_limited')
  const fresh = await service.as(await service.newMerchant())
  await expect.poll(async () => (await wrong()).error, { interval: 1 }).toBe('rate_limited')
  expect((await fresh.post('/api/v0/qr-code/search', { limit: 1 })).status).toBe(200)
  await service.close()
})

/** Revokes the API key of the merchant; returns a client with a token of it that this process has verified. */
async function revokedClient(service: TestService, merchant: TestMerchant) {
  const { database, random, keyring } = service.app.services
  const mode = service.app.services.config.SVC_MODE === 'live' ? 'live' : 'test'
  const { apiKeyId, secret } = await database.operate((tx) =>
    issueApiKey(tx, { keyring, random, mode }, merchant.merchantId, 'lost'),
  )
  const authorization = `Bearer ${await tokenOf(service.client, secret.reveal())}`
  const client = service.client.with({ authorization })
  expect((await client.post('/api/v0/qr-code/search', { limit: 1 })).status).toBe(200)
  await database.operate((tx) => revokeApiKey(tx, apiKeyId))
  await expect
    .poll(async () => (await client.post('/api/v0/qr-code/search', { limit: 1 })).error, { timeout: 5_000 })
    .toBe('invalid_token')
  return client
}

test('requests with a revoked token take none of the room of their tenant', async () => {
  const service = await openSmall()
  const merchant = await service.newMerchant()
  const tenant = await service.as(merchant)
  expect((await tenant.post('/api/v0/qr-code/search', { limit: 1 })).status).toBe(200)
  const thief = await revokedClient(service, merchant)
  const search = (client: Client) => client.post('/api/v0/qr-code/search', { limit: 1 })
  await asSuperuser(service.db.database, async (admin) => {
    // Whether a token is still revoked is not known before the lock is released.
    await admin.query('begin')
    await admin.query('lock table api_keys in access exclusive mode')
    const waiting = Array.from({ length: MOST + 10 }, () => search(thief))
    const refused = await Promise.any(
      waiting.map(async (response) =>
        (await response).error === 'overloaded' ? response : Promise.reject(new Error('another response')),
      ),
    )
    expect(refused.status).toBe(503)
    const served = search(tenant)
    for (let n = 0; n < 3; n++) expect((await search(thief)).error).toBe('overloaded')
    await admin.query('rollback')
    expect((await served).error).toBeUndefined()
    const errors = (await Promise.all(waiting)).map(({ error }) => error)
    expect(errors.filter((error) => error === 'invalid_token').length).toBeGreaterThanOrEqual(MOST)
  })
  await service.close()
})

test('requests with a revoked token, or from an address that its limits forbid, count as failed ones of their address', async () => {
  const env = { SVC_MODE: 'live', FAILED_REQUESTS_PER_SECOND: '5' }
  const service = await openService({ env })
  const merchant = await service.newMerchant()
  const limited = await service.as(merchant)
  expect((await limited.post('/api/v0/qr-code/search', { limit: 1 })).status).toBe(200)
  const revoked = await revokedClient(service, merchant)
  const of = { tenantId: merchant.merchantId, credentialId: merchant.apiKeyId }
  const limits = { addresses: [OFFICE], scopes: [] }
  await service.app.services.database.operate((tx) => saveLimits(tx, of, limits))
  for (const [client, refused] of [
    [revoked, 'invalid_token'],
    [limited, 'address_not_allowed'],
  ] as const) {
    const search = async () => (await client.post('/api/v0/qr-code/search', { limit: 1 })).error
    await expect.poll(search, { timeout: 5_000 }).toBe(refused)
    await expect.poll(search, { interval: 1 }).toBe('rate_limited')
  }
  await service.close()
})

test.each([
  ['/rails/upi/credits', RAIL_KEY, 202],
  ['/rails/bank/credits', BANK_RAIL_KEY, 202],
  // A terminal waits: it gets a decision.
  ['/rails/cards/authorizations', CARD_RAIL_KEY, 200],
])(
  'an address over its budget gets 429 at %s for wrong signatures; a correctly signed message is always accepted',
  async (path, key, stored) => {
    const service = await openService({ env: { SVC_MODE: 'live', FAILED_REQUESTS_PER_SECOND: '5' } })
    const body = Buffer.from('{}')
    const notify = (signingKey: string) =>
      service.client.send('POST', path, body, {
        'content-type': 'application/json',
        'x-rail-signature': signNotice(body, signingKey, Date.now()),
      })
    const forged = () => notify('not the key of the rail, whoever sent it')
    const wrongToken = () => service.client.get('/api/v0/qr-code/x', { authorization: 'Bearer abc' })
    expect((await forged()).error).toBe('invalid_signature')
    for (const refused of [forged, wrongToken]) {
      await expect.poll(async () => (await refused()).error, { interval: 1 }).toBe('rate_limited')
      expect((await notify(key)).status).toBe(stored)
    }
    await service.close()
  },
)

test('a notice whose body does not parse is rejected for its signature alone; signed, it is stored', async () => {
  const service = await openSmall()
  const body = Buffer.from('{"a":1,"a":2}')
  const notify = (key: string) =>
    service.client.send('POST', '/rails/upi/credits', body, {
      'content-type': 'application/json',
      'x-rail-signature': signNotice(body, key, Date.now()),
    })
  const forged = await notify('not the key of the rail, whoever sent it')
  expect([forged.status, forged.error]).toEqual([401, 'invalid_signature'])
  const signed = await notify(RAIL_KEY)
  expect([signed.status, signed.error]).toEqual([202, undefined])
  await service.close()
})
