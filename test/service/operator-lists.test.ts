import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { type Browser, signedIn } from '../harness/console.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let admin: Browser
let partners: TestPartner[]

beforeAll(async () => {
  service = await openService()
  admin = await signedIn(service, 'admin')
  for (const [i, name] of ['Zebra', 'apple', 'Äpfel', 'apple', '100 %', 'a_b', 'axb'].entries()) {
    await service.newMerchant({ name })
    service.clock.advance(i % 2 === 0 ? 0 : 60_000)
  }
  partners = [await newPartner(service), await newPartner(service)]
  for (const partner of partners) {
    const client = await asPartner(service.client, partner)
    for (let i = 0; i < 6; i++) {
      service.clock.advance(60_000)
      await createCard(client, partner, { mobile: `98765432${partners.indexOf(partner)}${i}` })
    }
  }
  const tenants = [...partners.map(({ partnerId }) => partnerId), (await service.newMerchant()).merchantId]
  for (const tenantId of [...tenants, ...tenants])
    await admin.post('/webhooks', { tenantId, endpoint: { url: 'https://shop.example.com/hook' } })
  const { data } = (await admin.get('/cards?limit=500')).json
  for (const [i, { svcCardId }] of data.entries())
    if (i % 3 !== 0)
      await admin.post(`/cards/${svcCardId}/status`, { status: i % 3 === 1 ? 'L' : 'BL', reason: 'test' })
})
afterAll(() => service.close())

/** The whole list, page by page; no page longer than asked, each row once. */
async function walk(path: string, limit: number): Promise<Json[]> {
  const rows: Json[] = []
  const glue = path.includes('?') ? '&' : '?'
  for (let after = ''; ; ) {
    const { json, status } = await admin.get(
      `${path}${glue}limit=${limit}${after && `&after=${encodeURIComponent(after)}`}`,
    )
    expect([path, status]).toEqual([path, 200])
    expect(json.data.length).toBeLessThanOrEqual(limit)
    rows.push(...json.data)
    if (json.next === undefined) {
      if (json.total?.exact) expect([path, rows.length]).toEqual([path, json.total.count])
      return rows
    }
    expect(json.data.length).toBe(limit)
    after = json.next
  }
}

const LISTS: readonly (readonly [path: string, id: (row: Json) => string, sorts: readonly string[]])[] = [
  ['/merchants', (row) => row.merchantId, ['-created', 'created', 'name']],
  ['/partners', (row) => row.partnerId, ['-created', 'created', 'name']],
  ['/companies', (row) => row.companyId, ['-created', 'created', 'name']],
  ['/card-accounts', (row) => row.cardAccountId, ['-created', 'created']],
  ['/users', (row) => row.userId, ['-created', 'created']],
  ['/cards', (row) => row.svcCardId, ['-created', 'created']],
  ['/webhooks', (row) => row.endpointId, ['-created', 'created']],
  ['/ledger/accounts', (row) => row.accountId, ['accountId']],
  ['/audit', (row) => String(row.sequence).padStart(9, '0'), ['-created', 'created']],
]
const bytewise = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

test.each(LISTS)('%s is complete and in its order, whatever the page size', async (path, idOf, sorts) => {
  for (const sort of sorts) {
    const all = await walk(`${path}?sort=${sort}`, 500)
    const key = (row: Json) => (sort === 'name' ? `${row.name.toLowerCase()}\u0000` : '') + idOf(row)
    const ordered = all.map(key).toSorted(bytewise)
    expect(all.map(key)).toEqual(sort.startsWith('-') ? ordered.toReversed() : ordered)
    expect((await walk(`${path}?sort=${sort}`, 3)).map(idOf)).toEqual(all.map(idOf))
  }
})

test('filters of cards find the same cards as a scan of all cards', async () => {
  const all = await walk('/cards', 500)
  expect(all.length).toBe(12)
  const [first, second] = partners as [TestPartner, TestPartner]
  // Between two cards, a minute apart: an id is drawn some milliseconds before its row is dated.
  const middle = new Date(Date.parse(all[5].createdOn) - 30_000).toISOString()
  const instant = (row: Json) => Date.parse(row.createdOn)
  const cases: [query: string, fits: (row: Json) => boolean][] = [
    ...['UL', 'L', 'BL', 'AP'].map((status): [string, (row: Json) => boolean] => [
      `status=${status}`,
      (row) => row.status === status,
    ]),
    [`partnerId=${first.partnerId}`, (row) => row.partnerId === first.partnerId],
    [`companyId=${second.companyId}`, (row) => row.companyId === second.companyId],
    [`cardAccountId=${second.cardAccountId}`, (row) => row.cardAccountId === second.cardAccountId],
    [`userId=${all[3].userId}`, (row) => row.userId === all[3].userId],
    [
      `partnerId=${first.partnerId}&status=L`,
      (row) => row.partnerId === first.partnerId && row.status === 'L',
    ],
    [`partnerId=${first.partnerId}&companyId=${second.companyId}`, () => false],
    [`createdFrom=${encodeURIComponent(middle)}`, (row) => instant(row) >= Date.parse(middle)],
    [`createdTo=${encodeURIComponent(middle)}`, (row) => instant(row) < Date.parse(middle)],
    [`q=${all[7].svcCardId}`, (row) => row.svcCardId === all[7].svcCardId],
    ['q=card_none', () => false],
    ['partnerId=par_none', () => false],
  ]
  const ids = (rows: Json[]) => rows.map(({ svcCardId }) => svcCardId)
  for (const [query, fits] of cases)
    expect([query, ids(await walk(`/cards?${query}`, 2))]).toEqual([query, ids(all.filter(fits))])
  expect(ids(await walk('/cards?q=9876543203', 5))).toHaveLength(1)
})

test('a search treats its text as the start of the name and never as a pattern', async () => {
  const names = async (q: string) =>
    (await walk(`/merchants?sort=name&q=${encodeURIComponent(q)}`, 500)).map(({ name }) => name)
  expect(await names('app')).toEqual(['apple', 'apple'])
  expect(await names('APPLE')).toEqual(['apple', 'apple'])
  expect(await names('a_')).toEqual(['a_b'])
  expect(await names('%')).toEqual([])
  expect(await names('100 %')).toEqual(['100 %'])
  expect(await names('ebra')).toEqual([])
  expect(await names(`' or 1=1 --`)).toEqual([])
})

test('unknown orders, sizes and pages are rejected with what would be valid', async () => {
  for (const query of [
    'sort=password_hash',
    'limit=0',
    'limit=501',
    'limit=many',
    'after=nonsense',
    'status=lost',
    'unknown=1',
  ]) {
    const { status, error, json } = await admin.get(`/cards?${query}`)
    expect([query, status, error]).toEqual([query, 400, 'validation_failed'])
    expect(json.detail).toContain(query.split('=')[0])
  }
})

test('a secret is returned once and found nowhere afterwards: no list, no detail, no audit, no log, no table', async () => {
  // Keys need a recent sign-in, and the clock has gone on.
  admin = await signedIn(service, 'admin')
  const { merchant, credential: apiKey } = (
    await admin.post('/merchants', { name: 'Secretive', vpa: 'secretive@bank', mcc: '5411' })
  ).json
  const { partner, credential: client } = (
    await admin.post('/partners', { name: 'Secretive', products: ['incentive'] })
  ).json
  const { partnerId } = partner
  const more = [
    (await admin.post(`/tenants/${merchant.merchantId}/credentials`, { name: 'second' })).json.secret,
    (await admin.post(`/tenants/${partnerId}/credentials`, { name: 'second' })).json.secret,
    (await admin.post(`/partners/${partnerId}/encryption-keys`)).json.k,
  ]
  const secrets: string[] = [apiKey.secret, client.secret, ...more]
  expect(secrets.every((secret) => secret.length >= 40)).toBe(true)
  const reported = await Promise.all(
    [
      '/merchants',
      `/merchants/${merchant.merchantId}`,
      `/tenants/${merchant.merchantId}/credentials`,
      `/tenants/${partnerId}/credentials`,
      '/partners',
      `/partners/${partnerId}`,
      '/audit?limit=500',
      '/requests',
    ].map(async (path) => (await admin.get(path)).text),
  )
  const tables = await asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'svc' and table_type = 'BASE TABLE'`,
    )
    const texts = []
    for (const { name } of rows)
      texts.push(...(await db.query<{ text: string }>(`select t::text as text from svc."${name}" t`)).rows)
    return texts.map(({ text }) => text).join('\n')
  })
  const everything = [...reported, tables, service.logged()].join('\n')
  for (const secret of secrets) {
    expect(everything).not.toContain(secret)
    expect(everything).not.toContain(Buffer.from(secret, 'base64url').toString('hex'))
  }
})
