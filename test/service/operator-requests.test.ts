import { idFloor } from '@svc/contract/id-kinds'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { encryptWithHeader, HEADER_ATTACKS } from '../../packages/jwe/test/forged.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { asPartner, CREATE, createCard, encryptFor, JOSE, newPartner } from '../harness/partner.ts'
import { asSuperuser, newDatabase, openService, type TestService, tokenOf } from '../harness/service.ts'

let service: TestService
let viewer: Browser
beforeAll(async () => {
  service = await openService()
  viewer = await signedIn(service, 'viewer')
})
afterAll(() => service.close())

/** A request as the console shows it, a moment later. */
const shown = async (requestId: string, browser = viewer): Promise<Json> =>
  vi.waitFor(
    async () => {
      const { json, status } = await browser.get(`/requests/${requestId}`)
      expect(status).toBe(200)
      return json
    },
    { timeout: 10_000, interval: 100 },
  )
const idOf = ({ headers }: { headers: Record<string, unknown> }) => String(headers['x-request-id'])

test('the logged part of a body contains no personal data and no secret, and still shows what was requested', async () => {
  const merchant = await service.newMerchant()
  const client = await service.as(merchant)
  const created = await client.post('/api/v0/qr-code', {
    qrName: 'Canary Kumari',
    amount: 249.5,
    fixedAmount: true,
    referenceNumber: 'order-1042',
    customerName: 'Canary Kumari',
    customerEmail: 'canary.kumari@example.com',
    customerMobile: '9123456780',
    description: 'for Canary Kumari, card 4111 1111 1111 1111',
    customParams: { 'canary.key': 'canary value' },
  })
  const detail = await shown(idOf(created))
  expect(detail).toMatchObject({ operation: 'createQrCode', status: 200, tenantId: merchant.merchantId })
  expect(detail.body).toMatchObject({ amount: 249.5, fixedAmount: true, referenceNumber: 'order-1042' })
  expect(detail.body.customerMobile).toBe('••••••6780')
  expect(detail.objects).toContainEqual({ kind: 'qrCode', id: payloadOf(created).qrCodeId })

  const partner = await newPartner(service)
  const caller = await asPartner(service.client, partner)
  const order = {
    firstName: 'Canary',
    email: 'canary.rao@example.com',
    mobile: '9123456781',
    pan: 'CANRY1234F',
  }
  const card = await createCard(caller, partner, order)
  const opened = await shown(idOf(card))
  expect(opened.jwe).toEqual({ kid: partner.sharedKey.kid, alg: 'A256KW', enc: 'A256GCM', opened: true })
  const token = await tokenOf(service.client, merchant.apiKey)
  const wrong = await service.client.post('/api/v0/merchant/token', undefined, {
    'api-key': `${merchant.apiKey}x`,
  })
  await shown(idOf(wrong))
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query<{ text: string }>('select r::text as text from request_log r'),
  )
  const log = rows.map(({ text }) => text).join('\n')
  for (const secret of [
    'anary',
    'CANRY1234F',
    '912345678',
    '4111',
    merchant.apiKey,
    merchant.apiKey.slice(-12),
    token,
    partner.clientSecret,
  ])
    expect(log).not.toContain(secret)
})

test('an encrypted request that was not decrypted shows its kid, its algorithms and which check failed, in live mode too', async () => {
  const live = await openService({ db: service.db, env: { SVC_MODE: 'live' } })
  try {
    const partner = await newPartner(live)
    const browser = await signedIn(live, 'viewer')
    const client = await asPartner(live.client, partner)
    const { companyId, cardAccountId, sharedKey } = partner
    const { key, kid } = sharedKey
    const good = await encryptFor(partner, { companyId, cardAccountId })
    const [header, ...parts] = good.split('.')
    const unknown = await encryptFor(partner, {}, { ...sharedKey, kid: 'sk_of_nobody' })
    const headers = HEADER_ATTACKS.filter(([, , claimed]) => (claimed as Json).kid === 'key-1').slice(0, 12)
    const jwes: [encrypted: string, problem: string, kid: string | undefined][] = [
      [[header, ...parts.slice(0, 3), 'A'.repeat(22)].join('.'), 'tag', kid],
      [unknown, 'unknown_kid', 'sk_of_nobody'],
      ['no.jwe', 'not_jwe', undefined],
      [await encryptFor(partner, [1]), 'not_json', kid],
      ...headers.map(([, problem, claimed]): [string, string, string] => [
        encryptWithHeader({ ...(claimed as object), kid }, key as never, { plaintext: Buffer.from('{}') }),
        problem,
        kid,
      ]),
    ]
    const responses = []
    for (const [encrypted] of jwes) responses.push(await client.send('POST', CREATE, encrypted, JOSE))
    const reported = new Set<string>()
    for (const [i, response] of responses.entries()) {
      const [, problem, named] = jwes[i]!
      expect([response.status, response.error]).toEqual([400, 'decryption_failed'])
      reported.add(response.json.errorResponse?.error_description ?? response.json.message)
      const { jwe, body } = await shown(idOf(response), browser)
      expect([problem, jwe.failedCheck, jwe.opened, jwe.kid]).toEqual([problem, problem, false, named])
      expect(jwe.explanation.length).toBeGreaterThan(20)
      expect(body).toBeUndefined()
    }
    // The caller is told one thing for all of them.
    expect(reported.size).toBe(1)
  } finally {
    await live.close()
  }
})

test('the log is bounded by age and by rows, and the newest entries stay', async () => {
  const db = await newDatabase()
  const day = 86_400_000
  const old = idFloor('req', new Date(Date.now() - 3 * day))
  await asSuperuser(db.database, (admin) =>
    admin.query(
      `insert into request_log (request_id, tenant_id, at, operation, kind, method, path, status, duration_ms, address,
         body_bytes, objects)
       select case when n <= 200 then $1 || 'a' || n else 'req_0z' || lpad(n::text, 24, '0') end, 'house',
         case when n <= 200 then now() - interval '3 days' else now() end,
         'createQrCode', 'command', 'POST', '/', 200, 1, '', 0, '{}' from generate_series(1, 2200) n`,
      [old],
    ),
  )
  // House is kept once a minute; the clock that says so is the machine's.
  const machine = performance.now.bind(performance)
  const ahead = vi.spyOn(performance, 'now').mockImplementation(() => machine() + 2 * 3_600_000)
  const bounded = await openService({
    db,
    env: { REQUEST_LOG_DAYS: '2', REQUEST_LOG_ROWS_MAX: '1000' },
  })
  try {
    await vi.waitFor(
      async () => {
        const { rows } = await asSuperuser(db.database, (admin) =>
          admin.query('select count(*)::int as count, min(request_id), max(request_id) from request_log'),
        )
        expect(rows).toEqual([
          { count: 1000, min: `req_0z${'1201'.padStart(24, '0')}`, max: `req_0z${'2200'.padStart(24, '0')}` },
        ])
      },
      { timeout: 15_000, interval: 200 },
    )
  } finally {
    ahead.mockRestore()
    await bounded.close()
  }
})

test('where the row limit deletes entries before their days are over, the log and the console state since when it is complete', async () => {
  const db = await newDatabase()
  const hourAgo = Date.now() - 3_600_000
  // One entry a second; the first 500 are more than the limit allows, and one is older than the days allow.
  await asSuperuser(db.database, (admin) =>
    admin.query(
      `insert into request_log (request_id, tenant_id, at, operation, kind, method, path, status, duration_ms, address,
         body_bytes, objects)
       select case when n = 0 then $1 else 'req_0z' || lpad(n::text, 24, '0') end, 'house',
         to_timestamp($2::bigint / 1000.0) + n * interval '1 second', 'createQrCode', 'command', 'POST', '/', 200, 1,
         '', 0, '{}' from generate_series(0, 1500) n`,
      [`${idFloor('req', new Date(Date.now() - 3 * 86_400_000))}a`, hourAgo],
    ),
  )
  const machine = performance.now.bind(performance)
  const ahead = vi.spyOn(performance, 'now').mockImplementation(() => machine() + 2 * 3_600_000)
  const bounded = await openService({ db, env: { REQUEST_LOG_DAYS: '2', REQUEST_LOG_ROWS_MAX: '1000' } })
  const warnings = () =>
    bounded
      .logged()
      .split('\n')
      .filter((line) => line.includes('REQUEST_LOG_ROWS_MAX'))
  try {
    let browser = await signedIn(bounded, 'viewer')
    const log = async () => (await browser.get('/request-log')).json
    await vi.waitFor(async () => expect((await log()).completeSince).toBeDefined(), { timeout: 15_000 })
    const { completeSince, ...limits } = await log()
    expect(limits).toEqual({ days: 2, rowsMax: 1000 })
    expect(Date.parse(completeSince)).toBe(hourAgo + 500_000)
    await expect.poll(warnings).toHaveLength(1)
    expect(JSON.parse(warnings()[0]!)).toMatchObject({ completeSince, days: 2, rowsMax: 1000 })

    // What was deleted early would be gone by now for its age.
    bounded.clock.advance(3 * 86_400_000)
    browser = await signedIn(bounded, 'viewer')
    expect(await log()).toEqual({ days: 2, rowsMax: 1000 })
    expect(warnings()).toHaveLength(1)
  } finally {
    ahead.mockRestore()
    await bounded.close()
  }
})

test('beyond the requests that may be logged in a second the rest is dropped and counted, and every one gets its response', async () => {
  const small = await openService({ env: { REQUEST_LOG_PER_SECOND: '5', REQUEST_LOG_READ_SAMPLE: '1' } })
  try {
    const browser = await signedIn(small, 'viewer')
    const responses = await Promise.all(Array.from({ length: 200 }, () => small.client.get('/api/v0/none')))
    expect(new Set(responses.map(({ error }) => error))).toEqual(new Set(['route_not_found']))
    await vi.waitFor(
      async () => {
        const { queues, failures } = (await browser.get('/overview?range=hour')).json
        const { total } = (await browser.get('/requests')).json
        expect(queues.requestLogDropped).toBeGreaterThan(0)
        expect(total.count + queues.requestLogDropped).toBe(200)
        // What is not entered is still counted.
        expect(failures).toContainEqual({ error: 'route_not_found', count: 200 })
      },
      { timeout: 10_000, interval: 200 },
    )
  } finally {
    await small.close()
  }
})

test('commands and failures are always logged, reads are sampled', async () => {
  const sampled = await openService({ env: { REQUEST_LOG_READ_SAMPLE: '10' } })
  try {
    const browser = await signedIn(sampled, 'viewer')
    const merchant = await sampled.newMerchant()
    const client = await sampled.as(merchant)
    const { qrCodeId } = payloadOf(await client.post('/api/v0/qr-code', { qrName: 'x' }))
    for (let i = 0; i < 20; i++) expect((await client.get(`/api/v0/qr-code/${qrCodeId}`)).status).toBe(200)
    await vi.waitFor(
      async () => {
        const { data } = (await browser.get(`/requests?tenantId=${merchant.merchantId}`)).json
        const kinds = data.map(({ kind }: Json) => kind)
        expect(kinds.filter((kind: string) => kind === 'command').length).toBe(1)
        expect(kinds.filter((kind: string) => kind === 'read').length).toBe(2)
      },
      { timeout: 10_000, interval: 200 },
    )
  } finally {
    await sampled.close()
  }
})

test('tenants list their own requests alone, by every filter, page by page, without bodies and addresses', async () => {
  const [tenant, outsider] = [
    await service.as(await service.newMerchant()),
    await service.as(await service.newMerchant()),
  ]
  const [made, missing] = [
    await tenant.post('/api/v0/qr-code', { customerName: 'Canary Kumari' }),
    await tenant.get('/api/v0/qr-code/qr_none'),
  ]
  const list = async (query = '', client = tenant): Promise<Json> =>
    payloadOf(await client.get(`/api/v0/requests${query}`))
  await expect.poll(async () => (await list()).recordsCount, { timeout: 10_000 }).toBe(2)
  const [failure, write] = (await list()).data
  expect(failure).toEqual({
    requestId: idOf(missing),
    receivedOn: expect.any(String),
    operation: 'getQrCode',
    method: 'GET',
    path: '/api/v0/qr-code/qr_none',
    status: 404,
    durationMs: expect.any(Number),
    error: 'qr_code_not_found',
    description: expect.any(String),
  })
  expect(write).toMatchObject({ requestId: idOf(made), operation: 'createQrCode', status: 200 })
  expect(JSON.stringify(await list())).not.toContain('Canary')
  const idsOf = async (query: string) => (await list(query)).data.map(({ requestId }: Json) => requestId)
  for (const query of ['?status=4xx', '?error=qr_code_not_found', '?operation=getQrCode', '?limit=1'])
    expect(await idsOf(query), query).toEqual([failure.requestId])
  const { next } = await list('?limit=1')
  for (const query of ['?status=2xx', '?operation=createQrCode', `?after=${next}`])
    expect(await idsOf(query), query).toEqual([write.requestId])
  for (const query of ['?status=5xx', '?error=invalid_token', '?from=2999-01-01T00:00:00Z'])
    expect(await idsOf(query), query).toEqual([])
  expect((await idsOf(`?${new URLSearchParams({ from: write.receivedOn })}`)).length).toBe(2)
  expect((await tenant.get('/api/v0/requests?status=3xx')).status).toBe(400)
  expect((await list('', outsider)).data).toEqual([])
})

test('an entry that the database rejects does not affect other entries', async () => {
  const merchant = await service.newMerchant()
  const client = await service.as(merchant)
  await asSuperuser(service.db.database, (db) =>
    db.query(`alter table request_log add constraint no_poison check (path !~ 'poison') not valid`),
  )
  const paths = ['a', 'poison', 'b', 'c', 'poison', 'd']
  const responses = await Promise.all(paths.map((name) => client.get(`/api/v0/qr-code/${name}`)))
  for (const [i, name] of paths.entries())
    if (name !== 'poison') expect((await shown(idOf(responses[i]!))).path).toBe(`/api/v0/qr-code/${name}`)
})
