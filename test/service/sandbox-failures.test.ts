import { readFile } from 'node:fs/promises'
import { FAILURES } from '@svc/contract/errors'
import { INJECTED_FAULTS } from '@svc/server/sandbox/fault-injection'
import { Pool } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { asSuperuser, openService, type TestService, tokenOf } from '../harness/service.ts'

let service: TestService
let pool: Pool
let authorization: string
beforeAll(async () => {
  service = await openService()
  pool = new Pool(service.baseUrl, { connections: 4 })
  authorization = `Bearer ${await tokenOf(service.client, (await service.newMerchant()).apiKey)}`
})
afterAll(async () => {
  await pool.close()
  await service.close()
})

/** Not by the usual client, which would find that not every operation documents every failure. */
async function create(headers: Record<string, string>, at = pool) {
  const response = await at.request({
    method: 'POST',
    path: '/api/v0/qr-code',
    headers: { authorization, 'content-type': 'application/json', ...headers },
    body: '{}',
  })
  const text = await response.body.text()
  const json: Json = String(response.headers['content-type']).includes('json') ? JSON.parse(text) : undefined
  return { status: response.statusCode, headers: response.headers, json }
}
const codes = (): Promise<number> =>
  asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query<{ codes: number }>('select count(*)::integer as codes from qr_codes')
    return rows[0]!.codes
  })

test('every row of the sandbox’s table of failures can be triggered over HTTP, and does nothing else', async () => {
  const before = await codes()
  for (const { name, status, what } of INJECTED_FAULTS) {
    if (name === 'no_response' || name === 'response_lost') continue
    if (status === undefined) {
      await expect(create({ 'sandbox-fail': name })).rejects.toThrow(/socket|other side/i)
      continue
    }
    const response = await create({ 'sandbox-fail': name })
    expect([name, response.status]).toEqual([name, status])
    if (!Object.hasOwn(FAILURES, name)) continue
    expect(JSON.parse(response.json.payload).error).toBe(name)
    expect(response.json.errorResponse).toMatchObject({
      errorType: FAILURES[name as keyof typeof FAILURES].errorType,
      requestId: response.headers['x-request-id'],
    })
    expect(response.headers['retry-after'] !== undefined).toBe(what.includes('Retry-After'))
    expect(response.headers['www-authenticate'] !== undefined).toBe(status === 401)
  }
  expect(await codes()).toBe(before)
  const reference = await readFile('docs/reference/sandbox.md', 'utf8')
  for (const { name } of INJECTED_FAULTS) expect(reference).toContain(`| \`${name}\` |`)
  expect(INJECTED_FAULTS.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(FAILURES)))
})

test('a request with a lost response was executed: the repeat gets it, and nothing is done twice', async () => {
  const before = await codes()
  const headers = { 'idempotency-key': 'lost' }
  await expect(create({ ...headers, 'sandbox-fail': 'response_lost' })).rejects.toThrow(/socket|other side/i)
  expect(await codes()).toBe(before + 1)
  expect((await create(headers)).status).toBe(200)
  expect(await codes()).toBe(before + 1)
})

test('no response arrives until the caller gives up; a delay holds a response back', async () => {
  const before = await codes()
  const impatient = new Pool(service.baseUrl, { headersTimeout: 500 })
  await expect(create({ 'sandbox-fail': 'no_response' }, impatient)).rejects.toThrow('Headers Timeout')
  await impatient.destroy()
  expect(await codes()).toBe(before)
  const startedAtMs = performance.now()
  expect((await create({ 'sandbox-delay': '300' })).status).toBe(200)
  expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(295)
  expect((await create({ 'sandbox-delay': '10', 'sandbox-fail': 'overloaded' })).status).toBe(503)
})

test('a request can be made to fail a number of times only, counted by its Idempotency-Key', async () => {
  const headers = { 'sandbox-fail': 'temporarily_unavailable; times=2', 'idempotency-key': 'twice' }
  const statuses = []
  for (let i = 0; i < 4; i++) statuses.push((await create(headers)).status)
  expect(statuses).toEqual([503, 503, 200, 200])
  expect((await create({ ...headers, 'idempotency-key': 'another' })).status).toBe(503)
})

test('a failure that cannot be triggered is reported as such', async () => {
  for (const headers of [
    { 'sandbox-fail': 'no_such_word' },
    { 'sandbox-fail': '__proto__' },
    { 'sandbox-fail': 'overloaded; times=2' },
    { 'sandbox-fail': 'overloaded; times=999', 'idempotency-key': 'x' },
    { 'sandbox-delay': '60001' },
    { 'sandbox-delay': '-1' },
  ] as Record<string, string>[]) {
    const response = await create(headers)
    expect(JSON.parse(response.json.payload).error).toBe('validation_failed')
    expect(JSON.parse(response.json.payload).error_description).toMatch(/^Sandbox-/)
  }
})

test('in live mode no failure is triggered', async () => {
  const live = await openService({ env: { SVC_MODE: 'live' } })
  const response = await fetch(`${live.baseUrl}/livez`, {
    headers: { 'sandbox-fail': 'overloaded', 'sandbox-delay': 'x' },
  })
  expect(response.status).toBe(200)
  await live.close()
})
