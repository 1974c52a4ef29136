import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { COINS, ifMatch, newCoinPartner, newCompany, newConfig, newEvent } from '../harness/coins.ts'
import { expectFailure } from '../harness/failure.ts'
import type { TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let partner: TestPartner
let client: Client

beforeAll(async () => {
  service = await openService()
  ;({ partner, client } = await newCoinPartner(service))
})
afterAll(() => service.close())

const create = (request: object) =>
  client.post(COINS, { event: newEvent(), amount: 10, title: 'Thank you', ...request })
const update = (id: string, request: object, revision?: number) =>
  client.patch(`${COINS}/${id}`, request, revision === undefined ? {} : ifMatch(revision))
const revisionsOf = async (id: string, query = ''): Promise<Json> =>
  payloadOf(await client.get(`${COINS}/${id}/revisions${query}`))

const rejected: [request: object, words: string[]][] = [
  [{ event: 'two words' }, ['event must be 1 to 64 letters']],
  [{ amount: 0, title: '' }, ['amount must be at least 1', 'title must not be empty']],
  [{ amount: 1.5 }, ['amount must be an integer']],
  [{ configuration: 'SPECIAL' }, ['configuration must be one of DEFAULT, CUSTOM']],
  [{ configuration: 'CUSTOM' }, ['companyId is required for a CUSTOM configuration']],
  [{ companyId: 'com_1' }, ['companyId is accepted for a CUSTOM configuration only']],
  [{ validFrom: '2027-01-01' }, ['validFrom must be an RFC 3339 date-time']],
  [
    { validFrom: '2027-01-02T00:00:00Z', validTo: '2027-01-02T05:30:00+05:30', perUserDailyLimit: 9 },
    ['validTo must be later than validFrom', 'perUserDailyLimit must be at least amount'],
  ],
  [{ coinsExpireAfterDays: 0 }, ['coinsExpireAfterDays must be at least 1']],
  [{ revision: 3 }, ['revision is not a known field']],
]
test.each(rejected)(
  'a configuration that breaks a rule is rejected field by field: %j',
  async (request, words) => {
    const response = await create(request)
    expectFailure(response, 'validation_failed')
    for (const word of words) expect(response.errorDescription).toContain(word)
  },
)

test('another partner’s company is rejected, also in a batch with requests of its owner', async () => {
  const { client: outsider } = await newCoinPartner(service)
  const custom = { configuration: 'CUSTOM', companyId: partner.companyId, amount: 1, title: 'Thanks' }
  const send = (sender: Client) => sender.post(COINS, { ...custom, event: newEvent() })
  const all = await Promise.all(Array.from({ length: 60 }, (_, n) => send(n % 2 === 0 ? client : outsider)))
  const codesOf = (turn: number) =>
    new Set(all.filter((_, n) => n % 2 === turn).map(({ error = 'ok' }) => error))
  expect([...codesOf(0)]).toEqual(['ok'])
  expect([...codesOf(1)]).toEqual(['company_not_found'])
})

test('a configuration without validFrom is valid from its creation, DEFAULT and active', async () => {
  const made = await newConfig(client)
  expect(made).toMatchObject({
    configuration: 'DEFAULT',
    status: 'ACTIVE',
    validFrom: made.createdOn,
    revision: 1,
  })
  expect(Object.keys(made)).not.toContain('validTo')
  expect(Object.keys(made)).not.toContain('companyId')
})

test('an update writes the next revision and keeps all that it was not asked to change', async () => {
  const made = await newConfig(client, {
    description: 'first',
    perUserDailyLimit: 30,
    coinsExpireAfterDays: 7,
  })
  const changed = payloadOf(await update(made.coinConfigId, { amount: 12, description: null }, 1))
  const { description: _, ...kept } = made
  expect(changed).toEqual({ ...kept, amount: 12, revision: 2, modifiedOn: changed.modifiedOn })
  expect(changed.modifiedOn >= made.modifiedOn).toBe(true)
  expect(payloadOf(await client.get(`${COINS}/${made.coinConfigId}`))).toEqual(changed)
})

test('an update without If-Match gets 428, a stale one 412, and neither changes anything (K7)', async () => {
  const { coinConfigId: id } = await newConfig(client)
  expectFailure(await update(id, { amount: 11 }), 'revision_required')
  payloadOf(await update(id, { amount: 12 }, 1))
  expectFailure(await update(id, { amount: 13 }, 1), 'revision_mismatch')
  expectFailure(
    await client.patch(`${COINS}/${id}`, { amount: 14 }, { 'if-match': 'W/"2"' }),
    'revision_mismatch',
  )
  const unquoted = await client.patch(`${COINS}/${id}`, { amount: 15 }, { 'if-match': '2' })
  expectFailure(unquoted, 'validation_failed')
  expect(unquoted.errorDescription).toContain('If-Match')
  expect((await revisionsOf(id)).data.map(({ amount }: Json) => amount)).toEqual([12, 10])
  for (const tag of ['"7", "2"', '*'])
    payloadOf(await client.patch(`${COINS}/${id}`, { amount: tag.length + 20 }, { 'if-match': tag }))
  expect((await revisionsOf(id)).data[0]).toMatchObject({ amount: 21, revision: 4 })
})

test('the event, the kind and the company never change (K7)', async () => {
  const { coinConfigId: id } = await newConfig(client)
  for (const field of [{ event: 'other' }, { configuration: 'CUSTOM' }, { companyId: partner.companyId }]) {
    const response = await update(id, field, 1)
    expectFailure(response, 'validation_failed')
    expect(response.errorDescription).toContain(`${Object.keys(field)[0]} is not a known field`)
  }
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query(`select has_column_privilege('svc_service', 'coin_configs', name, 'update') as may
      from unnest(array['event', 'configuration', 'company_id', 'partner_id']) as name`),
  )
  expect(rows.map(({ may }) => may)).toEqual([false, false, false, false])
})

test('an update without changes writes no revision', async () => {
  const made = await newConfig(client, { validTo: '2090-01-01T00:00:00Z', perUserDailyLimit: 30 })
  const { amount, title, validFrom, validTo, perUserDailyLimit } = made
  const same = payloadOf(
    await update(made.coinConfigId, { amount, title, validFrom, validTo, perUserDailyLimit }, 1),
  )
  expect(same).toEqual(made)
  expect((await revisionsOf(made.coinConfigId)).recordsCount).toBe(1)
})

test('an update is checked as a whole, including what it does not change', async () => {
  const { coinConfigId: id } = await newConfig(client, {
    amount: 10,
    perUserDailyLimit: 20,
    validTo: '2090-01-01T00:00:00Z',
  })
  expectFailure(await update(id, { amount: 21 }, 1), 'validation_failed')
  expectFailure(await update(id, { validFrom: '2091-01-01T00:00:00Z' }, 1), 'validation_failed')
  payloadOf(await update(id, { amount: 21, perUserDailyLimit: null }, 1))
})

test('the same Idempotency-Key with another If-Match is another request', async () => {
  const { coinConfigId: id } = await newConfig(client)
  const send = (tag: string) =>
    client.patch(`${COINS}/${id}`, { amount: 11 }, { 'if-match': tag, 'idempotency-key': 'once' })
  const first = await send('"1"')
  expect((await send('"1"')).text).toBe(first.text)
  expectFailure(await send('"2"'), 'idempotency_key_reused')
})

test('deactivating twice returns the same response and writes one revision; an update activates it again', async () => {
  const { coinConfigId: id } = await newConfig(client)
  const first = await client.post(`${COINS}/${id}/deactivate`)
  expect(payloadOf(first)).toMatchObject({ status: 'INACTIVE', revision: 2 })
  expect((await client.post(`${COINS}/${id}/deactivate`, {})).text).toBe(first.text)
  expectFailure(await client.post(`${COINS}/${id}/deactivate`, {}, ifMatch(1)), 'revision_mismatch')
  expect(payloadOf(await update(id, { status: 'ACTIVE' }, 2))).toMatchObject({
    status: 'ACTIVE',
    revision: 3,
  })
})

test('every revision can be read unchanged, newest first, in pages', async () => {
  const made = await newConfig(client, { amount: 1 })
  const records = [made]
  for (let revision = 1; revision < 7; revision++)
    records.unshift(payloadOf(await update(made.coinConfigId, { amount: revision + 1 }, revision)))
  expect(await revisionsOf(made.coinConfigId)).toEqual({ recordsCount: 7, data: records })
  const first = await revisionsOf(made.coinConfigId, '?limit=4')
  const second = await revisionsOf(made.coinConfigId, `?limit=4&after=${first.next}`)
  expect([...first.data, ...second.data]).toEqual(records)
  expect(second.next).toBeUndefined()
  for (const query of ['?limit=0', '?limit=501', '?limit=x', '?after=x'])
    expectFailure(await client.get(`${COINS}/${made.coinConfigId}/revisions${query}`), 'validation_failed')
})

test('at every instant at most one active configuration applies to an event: DEFAULT of the partner, CUSTOM of each company (K6)', async () => {
  const event = newEvent()
  const [one, two] = [partner.companyId, await newCompany(service, partner)]
  const january = { event, validFrom: '2027-01-01T00:00:00Z', validTo: '2027-02-01T00:00:00Z' }
  const february = { event, validFrom: '2027-02-01T00:00:00Z', validTo: '2027-03-01T00:00:00Z' }
  const first = await newConfig(client, january)
  // Side by side is no overlap; neither are another company's, another event's and another partner's.
  await newConfig(client, february)
  await newConfig(client, { ...january, configuration: 'CUSTOM', companyId: one })
  await newConfig(client, { ...january, configuration: 'CUSTOM', companyId: two })
  await newConfig(client, { ...january, event: newEvent() })
  await newConfig((await newCoinPartner(service)).client, january)
  const overlapping = [
    january,
    { event, validFrom: '2027-01-31T23:59:59.999Z' },
    { event, validFrom: '2026-01-01T00:00:00Z' },
    { ...january, configuration: 'CUSTOM', companyId: two },
  ]
  for (const request of overlapping) {
    const response = await create(request)
    expectFailure(response, 'coin_config_overlaps')
    expect(response.errorDescription).toMatch(/^ccf_[0-9a-z]{26} is active/)
  }
  // An update into the other's time is refused too; once one is inactive the other may take its time, and only one of them.
  expectFailure(
    await update(first.coinConfigId, { validTo: '2027-02-01T00:00:00.001Z' }, 1),
    'coin_config_overlaps',
  )
  payloadOf(await client.post(`${COINS}/${first.coinConfigId}/deactivate`))
  const heir = await newConfig(client, january)
  expectFailure(await update(first.coinConfigId, { status: 'ACTIVE' }, 2), 'coin_config_overlaps')
  payloadOf(await update(first.coinConfigId, { amount: 99 }, 2))
  payloadOf(await client.post(`${COINS}/${heir.coinConfigId}/deactivate`))
  payloadOf(await update(first.coinConfigId, { status: 'ACTIVE' }, 3))
})

test('the database itself rejects two active configurations for one event at one time', async () => {
  const made = await newConfig(client)
  const copy = `insert into coin_configs (coin_config_id, partner_id, configuration, company_id, event, amount, title, status,
      valid_from, valid_to, revision, created_at, modified_at)
    select 'ccf_copy', partner_id, configuration, company_id, event, amount, title, status, valid_from, valid_to, 1,
      created_at, modified_at from coin_configs where coin_config_id = $1`
  const insert = asSuperuser(service.db.database, (db) => db.query(copy, [made.coinConfigId]))
  await expect(insert).rejects.toMatchObject({ code: '23P01', constraint: 'one_active_configuration' })
})

test('a search finds by every filter, newest first, in pages without gaps or repeats', async () => {
  const { partner: own, client: searcher } = await newCoinPartner(service)
  const made: Json[] = []
  for (let i = 0; i < 7; i++) {
    const custom = i % 2 === 0 ? { configuration: 'CUSTOM', companyId: own.companyId } : {}
    const ends = i === 3 ? { validFrom: '2020-01-01T00:00:00Z', validTo: '2021-01-01T00:00:00Z' } : {}
    made.unshift(await newConfig(searcher, { event: `search.${i}`, ...custom, ...ends }))
  }
  made[0] = payloadOf(await searcher.post(`${COINS}/${made[0].coinConfigId}/deactivate`))
  const search = async (filter: object): Promise<Json> =>
    payloadOf(await searcher.post(`${COINS}/search`, filter))
  const filters: [object, (config: Json) => boolean][] = [
    [{}, () => true],
    [{ status: 'INACTIVE' }, ({ status }) => status === 'INACTIVE'],
    [{ configuration: 'DEFAULT' }, ({ configuration }) => configuration === 'DEFAULT'],
    [
      { companyId: own.companyId, status: 'ACTIVE' },
      (c) => c.companyId === own.companyId && c.status === 'ACTIVE',
    ],
    [{ event: 'search.3' }, ({ event }) => event === 'search.3'],
    [{ event: 'search' }, () => false],
    [{ validAt: '2020-06-01T00:00:00Z' }, ({ event }) => event === 'search.3'],
    [{ validAt: '2021-01-01T00:00:00Z' }, () => false],
  ]
  for (const [filter, fits] of filters)
    expect((await search(filter)).data, JSON.stringify(filter)).toEqual(made.filter(fits))
  const pages: Json[] = []
  for (let after: object = {}; ; ) {
    const { data, next } = await search({ limit: 3, ...after })
    pages.push(...data)
    if (next === undefined) break
    after = { after: next }
  }
  expect(pages).toEqual(made)
})

test('every change of a configuration is an event, and nothing else is', async () => {
  const { coinConfigId: id } = await newConfig(client)
  payloadOf(await update(id, { amount: 11 }, 1))
  payloadOf(await update(id, { amount: 11 }, 2))
  expectFailure(await update(id, { amount: 12 }, 1), 'revision_mismatch')
  payloadOf(await client.post(`${COINS}/${id}/deactivate`))
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query(
      'select type, tenant_id, payload from outbox where object_id = $1 order by created_at, event_id',
      [id],
    ),
  )
  expect(rows.map(({ type, tenant_id, payload }) => [type, tenant_id, payload.revision])).toEqual(
    [1, 2, 3].map((revision) => ['coin_config.changed', partner.partnerId, revision]),
  )
  expect(rows.map(({ payload }) => payload).reverse()).toEqual((await revisionsOf(id)).data)
})
