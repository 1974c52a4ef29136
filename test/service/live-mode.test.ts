import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openInstallation } from '@svc/app/installation'
import { readConfig } from '@svc/contract/config'
import { issueApiKey } from '@svc/core/tenants/api-key'
import { Keyring } from '@svc/platform/crypto/keyring'
import { MasterKeys } from '@svc/platform/crypto/master-keys'
import { Database } from '@svc/platform/db/database'
import { openLog } from '@svc/platform/log'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiResponse } from '../harness/client.ts'
import { signedIn } from '../harness/console.ts'
import { FORM, newPartner } from '../harness/partner.ts'
import { memberBrowser } from '../harness/portal.ts'
import {
  asSuperuser,
  MASTER_KEY,
  newDatabase,
  openService,
  type TestDatabase,
  type TestService,
  tokenOf,
} from '../harness/service.ts'

const LIVE = { SVC_MODE: 'live' }
const log = openLog('silent', { write: () => undefined })
let live: TestService
let dataDir: string

beforeAll(async () => {
  live = await openService({ env: { ...LIVE, RATE_LIMIT_PER_SECOND: '5', RATE_LIMIT_BURST: '20' } })
  dataDir = await mkdtemp(join(tmpdir(), 'svc-live-'))
})
afterAll(async () => {
  await live.close()
  await rm(dataDir, { recursive: true, force: true })
})

const configFor = (db: TestDatabase, env: Record<string, string> = {}) =>
  readConfig({ ...LIVE, DATABASE_URL: db.url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: dataDir, ...env })

test('live mode has no sandbox: its operations neither exist nor are documented', async () => {
  const { paths } = (await live.client.get('/openapi.json')).json
  expect(Object.keys(paths).filter((path) => path.startsWith('/sandbox'))).toEqual([])
  for (const path of ['/sandbox/upi/pay', '/sandbox', '/sandbox/clock']) {
    const response = await live.client.post(path, {})
    expect([path, response.status, response.error]).toEqual([path, 404, 'route_not_found'])
  }
})

test('live mode creates no notice signature itself: without UPI_RAIL_KEYS no credit is accepted', async () => {
  const service = await openService({ env: { ...LIVE, UPI_RAIL_KEYS: '' } })
  const notice = { utr: 'UTR0000001', tr: 'T', amount: 1, payerVpa: 'ab@bank' }
  const own = service.app.services.keyring.newest('upi_rail').bytes.toString('base64url')
  for (const key of ['', 'undefined', own])
    expect((await service.client.notify('/rails/upi/credits', notice, key)).error).toBe('invalid_signature')
  await service.close()
})

test('/metrics accepts METRICS_TOKEN alone; without it, or with another one, it looks like a nonexistent path', async () => {
  const absent = await live.client.get('/metrics')
  expect([absent.status, absent.error]).toEqual([404, 'route_not_found'])
  const service = await openService({ env: { ...LIVE, METRICS_TOKEN: 'figures-0123456789' } })
  const comparable = ({ headers, json }: ApiResponse) => {
    const { 'x-request-id': requestId, date: _, ...rest } = headers
    const text = JSON.stringify(json).replaceAll(String(requestId), '')
    return [rest, text.replace(/"timestamp":"[^"]+"/, '')]
  }
  for (const authorization of [
    '',
    'Bearer',
    'Bearer x',
    'figures-0123456789',
    'Bearer figures-012345678',
    'Bearer figures-01234567890',
    'bearer  figures-0123456789',
  ])
    expect([authorization, ...comparable(await service.client.get('/metrics', { authorization }))]).toEqual([
      authorization,
      ...comparable(await service.client.get('/none', { authorization })),
    ])
  expect((await service.client.get('/metrics')).status).toBe(404)
  const open = await service.client.get('/metrics', { authorization: 'Bearer figures-0123456789' })
  expect(open.status).toBe(200)
  expect(open.text).toContain('svc_http_request_seconds')
  await service.close()
})

test('a credential over its rate gets 429 with Retry-After and RateLimit fields, and another one is served at the same time', async () => {
  const [greedy, modest] = [await live.newMerchant(), await live.newMerchant()]
  const client = live.client.with({ authorization: `Bearer ${await tokenOf(live.client, greedy.apiKey)}` })
  const responses = await Promise.all(
    Array.from({ length: 60 }, () => client.post('/api/v0/qr-code/search', {})),
  )
  const passed = responses.filter(({ status }) => status === 200)
  const refused = responses.filter(({ status }) => status === 429)
  expect(passed.length + refused.length).toBe(60)
  expect(refused.length).toBeGreaterThan(0)
  // The request for the token was one of the 20.
  expect(passed.length).toBeGreaterThanOrEqual(19)
  for (const response of responses) {
    expect(response.headers['ratelimit-policy']).toBe('"credential";q=20;w=4')
    expect(response.headers['ratelimit']).toMatch(/^"credential";r=\d+;t=\d+$/)
  }
  for (const { error, headers, json } of refused) {
    expect([error, json.errorResponse.errorType]).toEqual(['rate_limited', 'RATE_LIMIT_ERROR'])
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    expect(headers['ratelimit']).toContain(';r=0;')
  }
  expect((await (await live.as(modest)).post('/api/v0/qr-code/search', {})).status).toBe(200)
  // Nor is another key of the same merchant.
  const { keyring, random, database } = live.app.services
  const second = await database.operate((tx) =>
    issueApiKey(tx, { keyring, random, mode: 'live' }, greedy.merchantId, 'till'),
  )
  const till = live.client.with({
    authorization: `Bearer ${await tokenOf(live.client, second.secret.reveal())}`,
  })
  expect((await till.post('/api/v0/qr-code/search', {})).status).toBe(200)
})

test('requests for a token count in the rate of their credential, and of no other one of the tenant', async () => {
  const [merchant, partner] = [await live.newMerchant(), await newPartner(live)]
  const byKey = (key: string) =>
    live.client.post('/api/v0/merchant/token', undefined, { 'api-key': key }).then(({ status }) => status)
  const byClient = (secret: string) =>
    live.client
      .send('POST', '/oauth/token', Buffer.from('grant_type=client_credentials'), {
        ...FORM,
        authorization: `Basic ${Buffer.from(`${partner.clientId}:${secret}`).toString('base64')}`,
      })
      .then(({ status }) => status)
  const { keyring, random, database } = live.app.services
  const second = await database.operate((tx) =>
    issueApiKey(tx, { keyring, random, mode: 'live' }, merchant.merchantId, 'till'),
  )
  for (const [args, right, wrong] of [
    [byKey, merchant.apiKey, `${merchant.apiKey.slice(0, -4)}none`],
    [byClient, partner.clientSecret, 'wrong'],
  ] as const) {
    // Wrong secrets use nothing of it up.
    expect(new Set(await Promise.all(Array.from({ length: 30 }, () => args(wrong))))).toEqual(new Set([401]))
    expect(await args(right)).toBe(200)
    expect(new Set(await Promise.all(Array.from({ length: 60 }, () => args(right))))).toEqual(
      new Set([200, 429]),
    )
  }
  expect(await byKey(second.secret.reveal())).toBe(200)
})

test('an operator or a member over the rate takes nothing from other operators, nor from other members of the tenant', async () => {
  const { merchantId } = await live.newMerchant()
  for (const enter of [() => signedIn(live, 'viewer'), () => memberBrowser(live, merchantId)]) {
    const [greedy, modest] = [await enter(), await enter()]
    const responses = await Promise.all(Array.from({ length: 60 }, () => greedy.get('/session')))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 429]))
    expect((await modest.get('/session')).status).toBe(200)
  }
})

test('the sandbox has no rate limit', async () => {
  const service = await openService({ env: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '1' } })
  const client = await service.as(await service.newMerchant())
  for (const { status, headers } of await Promise.all(
    Array.from({ length: 30 }, () => client.post('/api/v0/qr-code/search', {})),
  ))
    expect([status, headers['ratelimit']]).toEqual([200, undefined])
  await service.close()
})

test('a database that may lose acknowledged writes is rejected in live mode, and one that may not is opened', async () => {
  const db = await newDatabase()
  const open = () => openInstallation(configFor(db), log, () => undefined)
  await asSuperuser('postgres', (client) =>
    client.query(`alter database ${db.database} set synchronous_commit = off`),
  )
  await expect(open()).rejects.toThrow(/synchronous_commit is off/)
  await asSuperuser('postgres', (client) =>
    client.query(`alter database ${db.database} reset synchronous_commit`),
  )
  const installation = await open()
  expect(installation.database).toBe('PostgreSQL at DATABASE_URL')
  await installation.release()
  expect(await readdir(dataDir)).toEqual([])
})

test('a master key that is not the database’s is reported by name, without any key being shown', async () => {
  const db = await newDatabase({ keys: false })
  const keysOf = (key: string) => new MasterKeys(configFor(db, { SVC_MASTER_KEY: key }).SVC_MASTER_KEY!)
  const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
  const database = new Database({ url: db.url }, 4, log)
  try {
    await Keyring.open(database, keysOf(first))
    const failure: Error = await Keyring.open(database, keysOf(second)).then(
      () => new Error('opened'),
      (error: Error) => error,
    )
    expect(failure.message).toContain(keysOf(first).currentId)
    expect(failure.message).toContain(keysOf(second).currentId)
    expect(failure.message).toContain('SVC_MASTER_KEY')
    expect(failure.message).not.toMatch(
      new RegExp([first, second].map((key) => key.slice(0, 16).replace(/[+/]/g, '\\$&')).join('|')),
    )
    await Keyring.open(database, keysOf(`${second},${first}`))
  } finally {
    await database.close()
  }
})

test('the service drops its privileges whatever options DATABASE_URL contains', async () => {
  const db = await newDatabase()
  for (const options of [
    '-c search_path=svc',
    '-c role=postgres',
    '-c search_path=svc -c row_security=off',
  ]) {
    const database = new Database({ url: `${db.url}&options=${encodeURIComponent(options)}` }, 4, log)
    try {
      const who = await database.directory({
        name: '',
        text: `select current_user::text as role, current_setting('search_path') as path`,
      })
      expect([options, ...who]).toEqual([options, { role: 'svc_service', path: 'svc' }])
    } finally {
      await database.close()
    }
  }
})
