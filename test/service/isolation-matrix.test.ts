import { setTimeout as sleep } from 'node:timers/promises'
import { revokeApiKey } from '@svc/core/tenants/api-key'
import { OPERATIONS } from '@svc/server/operations'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { done, encryptOrder, results, upload, uploadLoads } from '../harness/bulk.ts'
import { type ApiResponse, type Client, payloadOf } from '../harness/client.ts'
import { type Ids, ROWS, type Row } from '../harness/isolation-rows.ts'
import {
  IDS,
  masked,
  newMerchantTenant,
  newPartnerTenant,
  placesOf,
  rowsToSend,
  type Tenant,
  unknown,
} from '../harness/isolation-world.ts'
import { encryptFor, partnerToken, type TestPartner } from '../harness/partner.ts'
import { PLATFORM_TABLES } from '../harness/platform-tables.ts'
import { newUtr } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let victims: { merchant: Tenant; partner: Tenant }
let callers: { merchant: Tenant; incentive: Tenant; rewards: Tenant }
/** Credentials that let nobody in. */
let outsiders: Record<string, Client>

beforeAll(async () => {
  service = await openService()
  const both = ['incentive', 'employee_rewards'] as const
  victims = { merchant: await newMerchantTenant(service), partner: await newPartnerTenant(service, both) }
  callers = {
    merchant: await newMerchantTenant(service),
    incentive: await newPartnerTenant(service, ['incentive']),
    rewards: await newPartnerTenant(service, ['employee_rewards']),
  }
  // Lists are compared with one another: the simulated bank has made the refunds before.
  const unpaid = `select status from merchant_refunds where status in ('PENDING', 'SENT')`
  const areUnpaid = () =>
    asSuperuser(service.db.database, async (db) => (await db.query(unpaid)).rowCount! > 0)
  while (await areUnpaid()) await sleep(50)
  const revoked = await service.newMerchant()
  const revokedClient = await service.as(revoked)
  await service.app.services.database.operate((tx) => revokeApiKey(tx, revoked.apiKeyId))
  while ((await revokedClient.get('/api/v0/events')).status === 200);
  outsiders = {
    nobody: service.client,
    revoked: revokedClient,
    garbage: service.client.with({ authorization: 'Bearer x.y.z' }),
    'API key as a token': service.client.with({ authorization: `Bearer ${revoked.apiKey}` }),
  }
})
afterAll(() => service.close())

const callerOf = (auth: string): Tenant => (auth === 'merchant' ? callers.merchant : callers.incentive)
const victimOf = (auth: string): Tenant => (auth === 'merchant' ? victims.merchant : victims.partner)

async function send(
  id: string,
  client: Client,
  ids: Ids,
  encrypter: TestPartner,
  more = {},
): Promise<ApiResponse> {
  const { method, path, encrypted } = OPERATIONS.find((operation) => operation.id === id)!
  const { query = '', body, headers } = (ROWS[id] as Row)(ids)
  const isEncrypted = encrypted === 'request' || encrypted === 'both'
  const text = Buffer.isBuffer(body)
    ? body
    : body && JSON.stringify(isEncrypted ? await encryptFor(encrypter, body) : body)
  const target = path.replace(/:(\w+)/g, (_, name: string) => ids[name]!) + query
  return client.send(method, target, text, {
    ...(body && { 'content-type': 'application/json' }),
    ...headers,
    ...more,
  })
}

/** Requests that each party sends at once. */
const BESIDE = 10

const withoutRequestId = (text: string): string => text.replace(/req-T[0-9A-F]{16}/g, '<request>')

/** How many commands of an operation were carried out so far, in how many batches. */
async function batchesOf(id: string): Promise<{ commands: number; batches: number }> {
  const { values } = await service.app.services.metrics.batchCommands.get()
  const of = (suffix: string) =>
    values.find(({ labels, metricName }) => labels.queue === id && metricName?.endsWith(suffix))?.value ?? 0
  return { commands: of('_sum'), batches: of('_count') }
}

test('the matrix has a row for every operation, and no other', () => {
  expect(Object.keys(ROWS).sort()).toEqual(OPERATIONS.map(({ id }) => id).sort())
})

describe.each(rowsToSend.map((operation) => [operation.id, operation] as const))('%s', (id, operation) => {
  const { auth } = operation

  test('returns the same bytes for another tenant’s id of every kind as for a nonexistent one', async () => {
    const { client, ids, partner = callers.incentive.partner! } = callerOf(auth)
    const foreign = Object.entries({ ...victims.merchant.ids, ...victims.partner.ids })
    for (const name of placesOf(operation)) {
      expect(Object.keys(victimOf(auth).ids), `${id}: this test has a ${name} of another tenant`).toContain(
        name,
      )
      const theirs = victimOf(auth).ids[name]!
      const missing = unknown(theirs)
      for (const headers of [
        {},
        { accept: 'application/problem+json' },
        { 'idempotency-key': `${id}-${name}` },
      ]) {
        const [a, b] = await Promise.all(
          [theirs, missing].map((tried) => send(id, client, { ...ids, [name]: tried }, partner, headers)),
        )
        // The second one of the same key is another request under that key: neither knows of the other's tenant.
        if ('idempotency-key' in headers) continue
        expect(masked(a!, theirs), `${id} ${name}`).toEqual(masked(b!, missing))
        if (IDS.has(name) && operation.path.includes(`:${name}`)) expect(a!.status, `${id} ${name}`).toBe(404)
        for (const [kind, value] of foreign)
          if (value !== theirs)
            expect(a!.text.includes(value), `${id} shows the ${kind} of another tenant`).toBe(false)
      }
    }
  })

  if (operation.acceptsIdempotencyKey && placesOf(operation).length > 0)
    test('treats another tenant’s ids like nonexistent ids, also in one batch with their owner', async () => {
      const [outsider, owner] = [callerOf(auth), victimOf(auth)]
      const places = placesOf(operation)
      const foreign = places.filter((name) => IDS.has(name))
      // A requestId of its own, so that none is a repeat; a dry run is in no batch.
      const sendOnce = ({ client, ids, partner = callers.incentive.partner! }: Tenant, others: Ids) =>
        send(id, client, { ...ids, requestId: `req-${newUtr()}`, dryRun: 'no', ...others }, partner)
      // Each alone, and all ids together: those of one owner fit each other.
      for (const names of [...places.map((name) => [name]), ...(foreign.length > 1 ? [foreign] : [])]) {
        const theirs = Object.fromEntries(names.map((name) => [name, owner.ids[name]!]))
        const missing = Object.fromEntries(names.map((name) => [name, unknown(theirs[name]!)]))
        const before = await batchesOf(id)
        const responses = await Promise.all(
          Array.from({ length: BESIDE }, () => [
            sendOnce(owner, {}),
            sendOnce(outsider, theirs),
            sendOnce(outsider, missing),
          ]).flat(),
        )
        const { commands, batches } = await batchesOf(id)
        expect(batches - before.batches, 'batches are shared').toBeLessThan(commands - before.commands)
        const about = `${id} with another tenant’s ${names.join(', ')}`
        const [owners, foreignResponses, unknowns] = [0, 1, 2].map((turn) =>
          responses.filter((_, n) => n % 3 === turn),
        )
        expect([400, 401, 403, 404], `${id} of the owner`).not.toContain(owners![0]!.status)
        expect(responses.filter(({ status }) => status >= 500).length, about).toBe(0)
        if (names.some((name) => IDS.has(name)))
          expect(foreignResponses!.filter(({ status }) => status < 400).length, about).toBe(0)
        const texts = (group: ApiResponse[], ids: Ids) =>
          group
            .map((response) => JSON.stringify(masked(response, ...Object.values(ids))))
            .map(withoutRequestId)
            .sort()
        expect(texts(foreignResponses!, theirs), about).toEqual(texts(unknowns!, missing))
      }
    })

  test('accepts no credential of another kind, and reveals nothing to it', async () => {
    const kinds: Record<string, Client> = {
      ...outsiders,
      ...(auth === 'tenant'
        ? {}
        : auth === 'merchant'
          ? { partner: callers.incentive.client }
          : { merchant: callers.merchant.client }),
    }
    const { ids, partner = victims.partner.partner! } = victimOf(auth)
    for (const [kind, client] of Object.entries(kinds)) {
      const [a, b] = await Promise.all(
        [ids, Object.fromEntries(Object.keys(ids).map((name) => [name, 'none']))].map((tried) =>
          send(id, client, tried, partner),
        ),
      )
      expect([kind, a!.status, a!.error]).toEqual([kind, 401, 'invalid_token'])
      expect(masked(a!)).toEqual(masked(b!))
    }
  })

  // Last of all, since it changes things; it shows that the requests above failed for their ids and nothing else.
  test('serves the same request of its owner', async () => {
    const { client, ids, partner = callers.incentive.partner! } = callerOf(auth)
    const response = await send(id, client, ids, partner)
    expect([400, 401, 403, 404], response.text).not.toContain(response.status)
  })
})

test('a bulk line with another tenant’s id gets the same result as one with a nonexistent id', async () => {
  const { client, partner } = callers.incentive
  const { ids } = victims.partner
  for (const name of ['companyId', 'cardAccountId', 'userId']) {
    const missing = unknown(ids[name]!)
    const lines = await Promise.all(
      [ids[name]!, missing].map((value) => encryptOrder(partner!, { [name]: value })),
    )
    const { jobId } = payloadOf(
      await upload(
        client,
        lines.map((line) => JSON.stringify(line)),
      ),
    )
    await done(client, jobId)
    const [a, b] = (await results(client, jobId)).map((result) => ({ ...result, row: undefined }))
    expect(a, name).toEqual(b)
    expect(a.error, name).toBeDefined()
  }
})

test('a bulk load of another tenant’s card gets the same result as one of a nonexistent card', async () => {
  const { client } = callers.incentive
  const { svcCardId } = victims.partner.ids
  const lines = [svcCardId!, unknown(svcCardId!)].map((id, i) => ({
    svcCardId: id,
    amount: 1,
    referenceNumber: `foreign-${i}`,
  }))
  const { jobId } = payloadOf(await uploadLoads(client, lines))
  await done(client, jobId)
  const [a, b] = (await results(client, jobId)).map((result) => ({ ...result, row: undefined }))
  expect(a).toEqual(b)
  expect(a.error).toBe('card_not_found')
})

test('a session cookie is accepted with the tokens of its own partner alone, in all combinations', async () => {
  const people = [callers.incentive.partner!, victims.partner.partner!]
  const sessions = await Promise.all(
    [...people, ...people].map(async (partner) => {
      const { json, headers } = await partnerToken(service.client, partner)
      return {
        partner,
        token: json.access_token as string,
        cookie: String(headers['set-cookie']).split(';')[0]!,
      }
    }),
  )
  let accepted = 0
  for (const { token, partner } of sessions)
    for (const named of people)
      for (const cookie of [
        ...sessions.map((session) => session.cookie),
        '',
        'SVCSESSION=',
        'SVCSESSION=x',
      ]) {
        const { companyId, cardAccountId } = partner
        const response = await service.client.post(
          '/api/v0/partner/svcCard/search',
          { companyId, cardAccountId, svcCardId: 'x' },
          { authorization: `Bearer ${token}`, partnerid: named.partnerId, cookie },
        )
        const isOwn = sessions.some((session) => session.cookie === cookie && session.partner === partner)
        const fits = named === partner && isOwn
        expect(response.status, response.text).toBe(fits ? 200 : named === partner ? 401 : 403)
        accepted += Number(response.status === 200)
      }
  // Both sessions of a partner with both of its tokens.
  expect(accepted).toBe(2 * sessions.length)
})

test('an event stream contains its own tenant’s events alone', async () => {
  const { client, ids } = callers.rewards
  const { data } = payloadOf(await client.get('/api/v0/events?limit=100'))
  const ended = new AbortController()
  const { access_token: token } = (await partnerToken(service.client, callers.rewards.partner!)).json
  const response = await fetch(`${client.baseUrl}/api/v0/events/stream`, {
    headers: { authorization: `Bearer ${token}` },
    signal: ended.signal,
  })
  let received = ''
  for await (const part of response.body!) {
    received += Buffer.from(part).toString()
    if (received.split('id: ').length > data.length) break
  }
  ended.abort()
  expect(received).toContain(ids['eventId'])
  for (const value of Object.values({ ...victims.merchant.ids, ...victims.partner.ids }))
    expect(received).not.toContain(value)
})
test('every table has row-level security or is known to contain no tenant’s data, and shows other tenants none of its rows', async () => {
  const tables = await asSuperuser(service.db.database, async (db) => {
    // What the service's role may not read at all, it shows to nobody.
    const { rows } = await db.query<{ name: string; secured: boolean }>(
      `select relname as name, relrowsecurity as secured from pg_class
       where relnamespace = 'svc'::regnamespace and relkind in ('r', 'p')
         and has_any_column_privilege('svc_service', oid, 'select') order by 1`,
    )
    return rows
  })
  const victimIds = [victims.partner.partner!.partnerId]
  const owner = `coalesce(to_jsonb(t)->>'merchant_id', to_jsonb(t)->>'tenant_id', to_jsonb(t)->>'partner_id')`
  const [seen, unsecured]: [string[], string[]] = [[], []]
  for (const { name, secured } of tables) {
    if (name in PLATFORM_TABLES) continue
    unsecured.push(...(secured ? [] : [name]))
    const text = `select count(*)::int as rows from ${name} t where ${owner} = any ($1)`
    const all = await asSuperuser(service.db.database, (db) => db.query<{ rows: number }>(text, [victimIds]))
    if (all.rows[0]!.rows > 0) seen.push(name)
    const outsider = callers.incentive.partner!.partnerId
    // As if a statement had lost its tenant condition: it still finds none but the named tenant's rows.
    const [found] = await service.app.services.database.read([outsider], (tx) =>
      tx.query<{ rows: number }>({
        name: '',
        text: `select count(*)::int as rows from ${name} t where ${owner} <> '${outsider}'`,
      }),
    )
    expect([name, found!.rows]).toEqual([name, 0])
  }
  expect(unsecured).toEqual([])
  const filled = [
    'cards',
    'users',
    'card_accounts',
    'companies',
    'coin_configs',
    'coin_wallets',
    'webhook_endpoints',
    'bulk_jobs',
  ]
  for (const name of filled)
    expect(seen, 'rows of the victim, so that the test means something').toContain(name)
})
