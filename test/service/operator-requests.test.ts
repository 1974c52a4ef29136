import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { idFloor } from '../../src/kernel/ids.ts'
import { type Json, payloadOf } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { HEADER_ATTACKS, sealWithHeader } from '../harness/forged-seals.ts'
import { asPartner, CREATE, createCard, JOSE, newPartner, sealFor } from '../harness/partner.ts'
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

test('what the log keeps of a body names no person and no secret, and still says what was asked', async () => {
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
  const asked = await asPartner(service.client, partner)
  const order = {
    firstName: 'Canary',
    email: 'canary.rao@example.com',
    mobile: '9123456781',
    pan: 'CANRY1234F',
  }
  const card = await createCard(asked, partner, order)
  const opened = await shown(idOf(card))
  expect(opened.seal).toEqual({ kid: partner.sharedKey.kid, alg: 'A256KW', enc: 'A256GCM', opened: true })
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

test('a seal that was not opened shows its kid, its algorithms and which check failed, in live mode too', async () => {
  const live = await openService({ db: service.db, env: { SVC_MODE: 'live' } })
  try {
    const partner = await newPartner(live)
    const browser = await signedIn(live, 'viewer')
    const client = await asPartner(live.client, partner)
    const { companyId, cardAccountId, sharedKey } = partner
    const { key, kid } = sharedKey
    const good = await sealFor(partner, { companyId, cardAccountId })
    const [header, ...parts] = good.split('.')
    const unknown = await sealFor(partner, {}, { ...sharedKey, kid: 'sk_of_nobody' })
    const headers = HEADER_ATTACKS.filter(([, , claimed]) => (claimed as Json).kid === 'key-1').slice(0, 12)
    const seals: [sealed: string, fault: string, kid: string | undefined][] = [
      [[header, ...parts.slice(0, 3), 'A'.repeat(22)].join('.'), 'tag', kid],
      [unknown, 'unknown_kid', 'sk_of_nobody'],
      ['no.jwe', 'not_jwe', undefined],
      [await sealFor(partner, [1]), 'not_json', kid],
      ...headers.map(([, fault, claimed]): [string, string, string] => [
        sealWithHeader({ ...(claimed as object), kid }, key as never, { plaintext: Buffer.from('{}') }),
        fault,
        kid,
      ]),
    ]
    const answers = []
    for (const [sealed] of seals) answers.push(await client.send('POST', CREATE, sealed, JOSE))
    const told = new Set<string>()
    for (const [i, answer] of answers.entries()) {
      const [, fault, named] = seals[i]!
      expect([answer.status, answer.error]).toEqual([400, 'seal_rejected'])
      told.add(answer.json.errorResponse?.error_description ?? answer.json.message)
      const { seal, body } = await shown(idOf(answer), browser)
      expect([fault, seal.failedCheck, seal.opened, seal.kid]).toEqual([fault, fault, false, named])
      expect(seal.explanation.length).toBeGreaterThan(20)
      expect(body).toBeUndefined()
    }
    // The caller is told one thing for all of them.
    expect(told.size).toBe(1)
  } finally {
    await live.close()
  }
})

test('the log is bounded by age and by rows, and the newest stay', async () => {
  const db = await newDatabase()
  const day = 86_400_000
  const old = idFloor('req', new Date(Date.now() - 3 * day))
  await asSuperuser(db.database, (admin) =>
    admin.query(
      `insert into request_log (request_id, tenant_id, at, operation, kind, method, path, status, duration_ms, address,
         body_bytes, objects)
       select case when n <= 200 then $1 || 'a' || n else 'req_0z' || lpad(n::text, 24, '0') end, 'house', now(),
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

test('of more requests than may be entered in a second the rest is dropped and counted, and every one is answered', async () => {
  const small = await openService({ env: { REQUEST_LOG_PER_SECOND: '5', REQUEST_LOG_READ_SAMPLE: '1' } })
  try {
    const browser = await signedIn(small, 'viewer')
    const answers = await Promise.all(Array.from({ length: 200 }, () => small.client.get('/api/v0/none')))
    expect(new Set(answers.map(({ error }) => error))).toEqual(new Set(['route_not_found']))
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

test('commands and failures are always entered, of reads one of so many', async () => {
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
