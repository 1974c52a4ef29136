import { checkInvariants } from '@svc/console-api/invariants'
import { signNotice } from '@svc/server/http/notice-signature'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { type ApiResponse, type Client, type Json, payloadOf } from '../harness/client.ts'
import { Browser, newOperator } from '../harness/console.ts'
import { UNREADABLE } from '../harness/odd-notices.ts'
import { cancel, creditOf, newCode, newUtr, notifyCredit } from '../harness/qr-codes.ts'
import { brokenIn } from '../harness/refunds.ts'
import {
  asSuperuser,
  MASTER_KEY,
  openService,
  RAIL_KEY,
  type TestMerchant,
  type TestService,
} from '../harness/service.ts'

let service: TestService
let merchant: TestMerchant
let shop: Client
beforeAll(async () => {
  service = await openService({ env: { RAIL_GRACE_SECONDS: '60' } })
  merchant = await service.newMerchant()
  shop = await service.as(merchant)
})
afterAll(() => service.close())

const PATH = '/rails/upi/credits'
/** Bytes as a bank sends them, signed. */
const send = (text: string, type?: string): Promise<ApiResponse> =>
  service.client.send('POST', PATH, text, {
    ...(type && { 'content-type': type }),
    'x-rail-signature': signNotice(Buffer.from(text), RAIL_KEY, service.clock.now()),
  })
const notify = async (notice: object) => payloadOf(await send(JSON.stringify(notice), 'application/json'))

test('a notice with two amounts is quarantined: the one that the bank means is not guessed', async () => {
  const credit = creditOf((await newCode(service, shop)).tr)
  const text = JSON.stringify(credit).replace(/}$/, ',"amount":99999}')
  const response = await send(text, 'application/json')
  expect([response.status, response.json.payload.reason]).toEqual([202, 'not_json'])
  const escaped = await send(text.replace('"amount":99999', '"\\u0061mount":99999'), 'application/json')
  expect(escaped.json.payload.reason).toBe('not_json')
  expect(await notify(credit)).toMatchObject({ status: 'ACCEPTED', amount: credit.amount })
})

test.each<[string, (credit: Json) => object]>([
  ['with fields that nobody asked for', (c) => ({ ...c, rrn: 123456789012345, remarks: { deep: [1] } })],
  ['with its amount as a text', (c) => ({ ...c, amount: '10.00' })],
  ['with a masked payer', (c) => ({ ...c, payerVpa: 'as***@bank' })],
  ['without a payer', ({ payerVpa: _payer, ...c }) => c],
  ['with a number as its reference', (c) => ({ ...c, utr: Number(`4${Date.now()}`) })],
  [
    'with a reference of the code in lower case and parts',
    (c) => ({ ...c, tr: `${c.tr.slice(0, 9).toLowerCase()}-${c.tr.slice(9)}` }),
  ],
  ['with a transaction of last year', (c) => ({ ...c, transactionTime: '2025-01-01T00:00:00+05:30' })],
])('a notice %s is the payment that it reports', async (_, change) => {
  const { tr } = await newCode(service, shop)
  expect(await notify(change(creditOf(tr)))).toMatchObject({ status: 'ACCEPTED', amount: 10 })
})

test.each([
  ['status', 'FAILED', 'not_a_credit'],
  ['success', false, 'not_a_credit'],
  ['responseCode', 'U30', 'not_a_credit'],
  ['event', 'payment.failed', 'not_a_credit'],
  ['currency', 'USD', 'not_in_rupees'],
  ['transactionTime', '2026-04-01T10:00:00', 'time_unreadable'],
  ['transactionTime', '2999-01-01T00:00:00Z', 'time_unreadable'],
  ['utr', 'NOT AVAILABLE', 'reference_unreadable'],
  ['payerVpa', { vpa: 'asha@bank' }, 'field_unreadable'],
])('a credit that states %s %j is quarantined with that field', async (field, stated, reason) => {
  const credit = { ...creditOf((await newCode(service, shop)).tr), [field]: stated }
  const { status, json } = await send(JSON.stringify(credit), 'application/json')
  expect([status, json.payload]).toMatchObject([202, { status: 'QUARANTINED', reason, field }])
})

test('a credit without a reference of a code belongs to its payee, in suspense', async () => {
  const { tr: _tr, ...credit } = creditOf('')
  const { paymentId } = await notify({ ...credit, payeeVpa: merchant.vpa })
  expect(payloadOf(await shop.get(`/api/v0/payments/${paymentId}`))).toMatchObject({ status: 'SUSPENSE' })
})

test('one bank reference written in several ways is one payment', async () => {
  const { tr } = await newCode(service, shop, { multipleUse: true })
  const first = await notify(creditOf(tr, { utr: 'ab-1234/5678 x' }))
  for (const utr of ['AB12345678X', 'ab12345678x'])
    expect((await notify(creditOf(tr, { utr }))).paymentId).toBe(first.paymentId)
  expect(first.utr).toBe('AB12345678X')
  const { data } = payloadOf(await shop.get('/api/v0/payments?utr=ab-1234-5678-x'))
  expect(data.map(({ paymentId }: Json) => paymentId)).toEqual([first.paymentId])
})

test.each(UNREADABLE)(
  'a signed notice that is %s is quarantined once, and is stored byte for byte',
  async (_, text, type, reason) => {
    const responses = [await send(text, type), await send(text, type)]
    for (const { status, json } of responses)
      expect([status, json.payload.status, json.payload.reason]).toEqual([202, 'QUARANTINED', reason])
    const { rows } = await asSuperuser(service.db.database, (db) =>
      db.query('select body from rail_notices where notice_id = $1', [responses[0]!.json.payload.noticeId]),
    )
    expect(rows.map(({ body }) => body.toString())).toEqual([text])
  },
)

test('a wrong signature is 401, counted, and logged with what identifies the notice', async () => {
  const text = JSON.stringify(creditOf('x'))
  const wrong = signNotice(Buffer.from(text), 'not-the-key-0123456789-0123456789', service.clock.now())
  const response = await service.client.send('POST', PATH, text, { 'x-rail-signature': wrong })
  expect(response).toMatchObject({ status: 401, error: 'invalid_signature' })
  expect(service.logged()).toMatch(/"bodySha256":"[0-9a-f]{64}".*"keysTried":1/)
  const { text: metrics } = await service.client.get('/metrics')
  expect(metrics).toMatch(/svc_rail_signatures_rejected_total [1-9]/)
})

test('expiry is decided by the bank’s time within the grace period, and by the service’s where the bank states none', async () => {
  const iso = (ms: number) => new Date(service.clock.now() + ms).toISOString()
  const expiring = (reference: object = {}) =>
    newCode(service, shop, { multipleUse: true, expiry: iso(60_000), ...reference })
  const code = await expiring()
  const replaced = await expiring({ referenceNumber: 'replaced' })
  const inTime = iso(59_000)
  service.clock.advance(61_000)
  payloadOf(await shop.post('/api/v0/qr-code', { referenceNumber: 'replaced' }))
  const paid = (tr: string, transactionTime?: string) => notify({ ...creditOf(tr), transactionTime })
  expect(await paid(code.tr, inTime)).toMatchObject({ status: 'ACCEPTED' })
  expect(await paid(replaced.tr, inTime)).toMatchObject({ reason: 'qr_code_expired' })
  expect(await paid(code.tr, iso(0))).toMatchObject({ reason: 'qr_code_expired' })
  expect(await paid(code.tr)).toMatchObject({ reason: 'qr_code_expired' })
  service.clock.advance(60_000)
  expect(await paid(code.tr, inTime)).toMatchObject({ reason: 'qr_code_expired' })
})

test('a cancelled code accepts nothing, not even what was paid before the cancel: the reason and both times show it', async () => {
  const { qrCodeId, tr } = await newCode(service, shop)
  const transactionTime = new Date(service.clock.now() - 5_000).toISOString()
  await cancel(shop, qrCodeId)
  const refused = await notify({ ...creditOf(tr), transactionTime })
  expect(refused).toMatchObject({ status: 'REFUND_PENDING', reason: 'paid_before_cancel' })
  expect(Date.parse(refused.transactionOn)).toBe(Date.parse(transactionTime))
  expect(Date.parse(refused.createdOn)).toBeGreaterThan(Date.parse(transactionTime))
})

test('an operator assigns a quarantined notice, once: it becomes a payment like any other', async () => {
  const browser = new Browser(service)
  await browser.signIn((await newOperator(service, 'operator')).name)
  const [mine, other] = [await newCode(service, shop), await newCode(service, shop)]
  const ids: string[] = []
  for (const words of ['first', 'second'])
    ids.push((await send(`{"words":"${words} ${mine.tr}"}`, 'application/json')).json.payload.noticeId)
  const waiting = (await browser.get('/rail-notices?status=QUARANTINED')).json.data
  expect(waiting.map(({ noticeId }: Json) => noticeId)).toEqual(expect.arrayContaining(ids))
  const reading = { utr: newUtr(), amount: 10, tr: mine.tr }
  const path = `/rail-notices/${ids[0]}/assign`
  expect((await browser.post(path, reading)).json).toMatchObject({ status: 'ACCEPTED', utr: reading.utr })
  expect((await browser.get(`/rail-notices/${ids[0]}`)).json).toMatchObject({
    noticeId: ids[0],
    status: 'ASSIGNED',
    body: `{"words":"first ${mine.tr}"}`,
  })
  expect((await browser.get(`/search?q=${ids[0]}`)).json.results).toMatchObject([
    { kind: 'notice', id: ids[0] },
  ])
  expect((await browser.get('/rail-notices/rnt_none')).error).toBe('notice_not_found')
  expect((await browser.post(path, reading)).error).toBe('notice_not_in_quarantine')
  expect((await browser.post(`/rail-notices/${ids[1]}/assign`, reading)).error).toBe('utr_conflict')
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const assign = [
    'admin',
    'notice',
    'assign',
    ids[1]!,
    '--utr',
    newUtr(),
    '--amount',
    '10',
    '--tr',
    other.tr,
    '--json',
  ]
  const { stdout, code } = await runHere(assign, env)
  expect([code, JSON.parse(stdout).status]).toEqual([0, 'ACCEPTED'])
  const broken = (await checkInvariants(service.app.services.database)).filter(
    ({ violations }) => violations.length > 0,
  )
  expect(broken).toEqual([])
})

test('an operator dismisses a quarantined notice, once and with a reason; it stays as signed, and repeats change nothing', async () => {
  const browser = new Browser(service)
  const { name } = await newOperator(service, 'operator')
  await browser.signIn(name)
  const texts = ['{"message":"a test"}', '{"message":"another test"}']
  const ids: string[] = []
  for (const text of texts) ids.push((await send(text, 'application/json')).json.payload.noticeId)
  const dismiss = (id: string, reason: string) => browser.post(`/rail-notices/${id}/dismiss`, { reason })
  expect((await dismiss(ids[0]!, ' ')).status).toBe(400)
  const dismissed = {
    noticeId: ids[0],
    status: 'DISMISSED',
    body: texts[0],
    assignedBy: `operator ${name}`,
    dismissal: 'the bank tests',
  }
  expect((await dismiss(ids[0]!, 'the bank tests')).json).toMatchObject(dismissed)
  expect((await dismiss(ids[0]!, 'again')).error).toBe('notice_not_in_quarantine')
  expect((await dismiss('rnt_none', 'none')).error).toBe('notice_not_found')
  const credit = { utr: newUtr(), amount: 10 }
  expect((await browser.post(`/rail-notices/${ids[0]}/assign`, credit)).error).toBe(
    'notice_not_in_quarantine',
  )
  const repeated = await send(texts[0]!, 'application/json')
  expect(repeated.status).toBe(202)
  expect(repeated.json.payload).toMatchObject({ noticeId: ids[0], status: 'DISMISSED' })
  expect((await browser.get(`/rail-notices/${ids[0]}`)).json).toMatchObject(dismissed)
  const waiting = (await browser.get('/rail-notices?status=QUARANTINED')).json.data
  expect(waiting.map(({ noticeId }: Json) => noticeId)).not.toContain(ids[0])
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const command = ['admin', 'notice', 'dismiss', ids[1]!, '--json', '--reason']
  expect((await runHere([...command, '   '], env)).code).toBe(1)
  const { stdout } = await runHere([...command, 'a test of the bank'], env)
  expect(JSON.parse(stdout)).toMatchObject({ status: 'DISMISSED', dismissal: 'a test of the bank' })
  const [entry] = (await browser.get(`/audit?target=${ids[0]}`)).json.data
  expect(entry).toMatchObject({ action: 'rail_notice.dismissed', details: { reason: 'the bank tests' } })
  expect(await brokenIn(service)).toEqual([])
})

test('a notice dismissed by mistake is reopened with a reason, and can then be assigned; a notice in any other state cannot be reopened', async () => {
  const browser = new Browser(service)
  await browser.signIn((await newOperator(service, 'operator')).name)
  const { tr } = await newCode(service, shop)
  const { noticeId } = (await send(`{"lost":"${tr}"}`, 'application/json')).json.payload
  const reopen = (reason: string, id = noticeId) => browser.post(`/rail-notices/${id}/reopen`, { reason })
  expect((await reopen('it waits')).error).toBe('notice_not_dismissed')
  expect((await reopen('none', 'rnt_none')).error).toBe('notice_not_found')
  await browser.post(`/rail-notices/${noticeId}/dismiss`, { reason: 'a test' })
  expect((await reopen(' ')).status).toBe(400)
  const reopened = (await reopen('it is a credit')).json
  expect(reopened).toMatchObject({ noticeId, status: 'QUARANTINED', reason: 'reference_unreadable' })
  expect(reopened).not.toHaveProperty('dismissal')
  expect(reopened).not.toHaveProperty('assignedBy')
  const [entry, before] = (await browser.get(`/audit?target=${noticeId}`)).json.data
  expect([entry, before]).toMatchObject([
    { action: 'rail_notice.reopened', details: { reason: 'it is a credit' } },
    { action: 'rail_notice.dismissed', details: { reason: 'a test' } },
  ])
  await browser.post(`/rail-notices/${noticeId}/dismiss`, { reason: 'again' })
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const command = ['admin', 'notice', 'reopen', noticeId, '--json', '--reason']
  expect((await runHere([...command, '   '], env)).code).toBe(1)
  const again = JSON.parse((await runHere([...command, 'a credit'], env)).stdout)
  expect(again).toEqual((await browser.get(`/rail-notices/${noticeId}`)).json)
  expect(again.status).toBe('QUARANTINED')
  const reading = { utr: newUtr(), amount: 10, tr }
  expect((await browser.post(`/rail-notices/${noticeId}/assign`, reading)).json.status).toBe('ACCEPTED')
  expect((await reopen('once more')).error).toBe('notice_not_dismissed')
  expect(await brokenIn(service)).toEqual([])
})

test('the payer in a readable notice is masked until it is revealed; an unreadable one is shown whole', async () => {
  const browser = new Browser(service)
  await browser.signIn((await newOperator(service, 'operator')).name)
  const { tr } = await newCode(service, shop)
  const credit = creditOf(tr, { payerVpa: 'asha.rao@bank' })
  await notify(credit)
  const kept = async (notice: object) => (await send(JSON.stringify(notice), 'application/json')).json.payload
  const { noticeId } = await kept({ ...credit, amount: 11 })
  await notify({ ...credit, remarks: 'from Asha Rao' })
  const bodies = async (path: string): Promise<string[]> =>
    (await browser.get(path)).json.data.map(({ body }: Json) => body)
  const listed = await bodies(`/rail-notices?q=${credit.utr}`)
  expect(listed).toHaveLength(2)
  for (const body of listed) {
    expect(JSON.parse(body)).toMatchObject({ utr: credit.utr, tr, payerVpa: 'a•••@bank' })
    expect(body).not.toMatch(/asha|rao/i)
  }
  const shown = async (id: string) => JSON.parse((await browser.get(`/rail-notices/${id}`)).json.body)
  expect(await shown(noticeId)).toEqual({ ...credit, amount: 11, payerVpa: 'a•••@bank' })
  const reveal = { objectId: noticeId, reason: 'the bank asks' }
  expect((await browser.post('/personal-data/reveals', reveal)).status).toBe(200)
  expect(await shown(noticeId)).toEqual({ ...credit, amount: 11 })
  const unread = { amount: 10, payerVpa: 'asha.rao@bank' }
  expect(await shown((await kept(unread)).noticeId)).toEqual(unread)
})

test('a notice that repeats a credit in other words is stored with its payment', async () => {
  const { tr } = await newCode(service, shop)
  const credit = creditOf(tr)
  const { paymentId } = payloadOf(await notifyCredit(service.client, credit))
  expect((await notify({ ...credit, remarks: 'again' })).paymentId).toBe(paymentId)
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query('select status from rail_notices where payment_id = $1', [paymentId]),
  )
  expect(rows).toEqual([{ status: 'DUPLICATE' }])
})
