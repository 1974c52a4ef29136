import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { payloadOf } from '../harness/client.ts'
import { makeMonthToClose } from '../harness/closed-month.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { readCsv } from '../harness/console-csv.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { giveAccount } from '../harness/payouts.ts'
import { shopWith } from '../harness/refunds.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const HOSTILE = '=HYPERLINK("http://evil.example")'
/** More than one page of what an export reads. */
const SUSPENDED = 1_203

let service: TestService
let admin: Browser
const ids: Record<string, string> = {}

beforeAll(async () => {
  service = await openService()
  admin = await signedIn(service, 'admin')
  const { merchantId } = await service.newMerchant({ name: 'Books, "Pens" & Co' })
  const partner = await newPartner(service)
  const card = await createCard(await asPartner(service.client, partner), partner, {})
  expect(card.status).toBe(200)
  const company = await admin.post('/companies', { partnerId: partner.partnerId, name: HOSTILE })
  expect(company.status).toBe(200)
  const endpoint = { url: 'https://shop.example.com/hook' }
  await admin.post(`/tenants/${merchantId}/members`, { name: 'asha@shop.example', role: 'admin' })
  const made = (await admin.post('/webhooks', { tenantId: merchantId, endpoint })).json
  Object.assign(ids, {
    tenantId: merchantId,
    accountId: `card_funding:${partner.cardAccountId}`,
    endpointId: made.endpointId,
  })
  const shop = await shopWith(service, 100)
  await giveAccount(service, shop.merchantId)
  const of = await makeMonthToClose(service)
  const { batches } = (await admin.post('/settlements', of.settlementFile)).json
  await admin.post(`/book-months/${of.through}/close`, { despite: 'statements are late' })
  Object.assign(ids, { batchId: batches[0].batchId, through: of.through })
  ids['payoutId'] = payloadOf(await shop.client.post('/sandbox/payouts', {})).payoutId
  await asSuperuser(service.db.database, (db) =>
    db.query(
      `insert into payments (payment_id, merchant_id, utr, tr, amount_paise, payer_vpa, status, reason, created_at)
       select 'pay_' || lpad(n::text, 26, '0'), 'house', 'X' || n, '', n * 10, '=cmd|x', 'SUSPENSE', 'unknown_code',
         '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 second'
       from generate_series(1, $1::int) n`,
      [SUSPENDED],
    ),
  )
})
afterAll(() => service.close())

/** Lists of a handful. */
const UNPAGED = new Set(['/settings', '/bank-accounts', '/funds-proofs', '/closings'])

async function walk(path: string): Promise<Json[]> {
  const rows: Json[] = []
  for (let after = ''; ; ) {
    const page = `${path.includes('?') ? '&' : '?'}limit=500${after && `&after=${after}`}`
    const { json } = await admin.get(UNPAGED.has(path) ? path : path + page)
    rows.push(...json.data)
    if (json.next === undefined) return rows
    after = encodeURIComponent(json.next)
  }
}

const LISTS = CONSOLE_OPERATIONS.filter(
  ({ id, path }) => CONSOLE_OPERATIONS.some((other) => other.path === `${path}.csv`) && id.includes('.list'),
).map(({ path }) => path.slice('/console/api/v0'.length))

test('every list has an export', () => {
  const lists = CONSOLE_OPERATIONS.filter(({ id }) => id.includes('.list'))
  expect(lists.length).toBeGreaterThan(15)
  expect(LISTS).toEqual(lists.map(({ path }) => path.slice('/console/api/v0'.length)))
})

/** The texts of an item, wherever they are, numbers with two decimals. */
const leaves = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [String(value)]

test.each(LISTS)(
  '%s.csv has the rows of the list, in its order, under the names of the API',
  async (path) => {
    const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(ids[name]!))
    const items: Json[] = /^\/(operators|sessions)|\/members$/.test(path)
      ? (await admin.get(filled)).json.data
      : await walk(filled)
    const { headers, status, text } = await admin.get(`${filled}.csv`)
    expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8'])
    const rows = readCsv(text)
    const names = text.slice(0, text.indexOf('\r\n')).split(',')
    const known = items.map((item) => {
      const texts = leaves(item)
      const id = /^[a-z]{2,6}_[0-9a-z]{25,26}$|^[0-9a-f]{24}$|^[a-z_]+:|^\d+$/
      return texts.find((leaf) => id.test(leaf)) ?? texts[0]!
    })
    const exported = rows.map((row) => Object.values(row))
    expect(rows.length).toBeGreaterThanOrEqual(items.length)
    // The newest are the first; requests and the audit have grown by the reading.
    const newer = /^\/(requests|audit)$/.test(path) ? rows.length - items.length : 0
    for (const [i, id] of known.entries()) expect(exported[i + newer]).toContain(id)
    expect(new Set(names).size).toBe(names.length)
  },
)

test('an export longer than a page has every row once, and its amounts add up to the paisa', async () => {
  const { text } = await admin.get('/payments.csv?status=SUSPENSE&sort=created')
  const rows = readCsv(text)
  expect(rows.map(({ utr }) => utr)).toEqual(Array.from({ length: SUSPENDED }, (_, n) => `X${n + 1}`))
  expect(rows.every(({ amount }) => /^\d+\.\d\d$/.test(amount!))).toBe(true)
  const paise = rows.reduce((sum, { amount }) => sum + BigInt(amount!.replace('.', '')), 0n)
  expect(paise).toBe(BigInt((SUSPENDED * (SUSPENDED + 1) * 10) / 2))
  expect(rows[0]).toMatchObject({
    amount: '0.10',
    payerVpa: '•••',
    createdOn: '2026-01-01T05:30:01.000+05:30',
    merchantId: 'house',
    merchantName: '',
  })
})

test('texts from others are exported unchanged but never as a formula', async () => {
  const merchants = readCsv((await admin.get('/merchants.csv')).text)
  expect(merchants.map(({ name }) => name)).toContain('Books, "Pens" & Co')
  const companies = readCsv((await admin.get('/companies.csv')).text)
  expect(companies.map(({ name }) => name)).toContain(`'${HOSTILE}`)
})

test('an export applies the filters of its list, and rejects invalid ones before the first byte', async () => {
  const found = readCsv((await admin.get('/payments.csv?q=x77')).text)
  expect(found.map(({ utr }) => utr)).toEqual(['X77'])
  for (const query of ['limit=5', 'after=x', 'status=LOST', 'amount=1', 'createdFrom=yesterday'])
    expect((await admin.get(`/payments.csv?${query}`)).error, query).toBe('validation_failed')
})

test('the operator and the list of an export are audited, without the values of its filters', async () => {
  await admin.get('/users.csv?q=secret%40example.com')
  const { data } = (await admin.get('/audit?action=list.exported&target=console.listUsers&limit=1')).json
  expect(data[0]).toMatchObject({
    actor: expect.stringMatching(/^operator admin\./),
    details: { filters: 'q' },
  })
  expect(JSON.stringify(data)).not.toContain('secret')
})

test('the export of a list requires the role of the list', async () => {
  const viewer = await signedIn(service, 'viewer')
  expect((await viewer.get('/payments.csv?status=ACCEPTED')).status).toBe(200)
  expect((await viewer.get('/rail-notices.csv')).error).toBe('role_too_low')
})
