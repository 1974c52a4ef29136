import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { keyMaker } from '@svc/app/serve-until'
import { setTenantDisabled } from '@svc/core/tenants/tenant'
import { prepareReferenceTenants } from '@svc/server/sandbox/reference-tenants'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { asSuperuser, MASTER_KEY, newDatabase, openService } from '../harness/service.ts'

let place: string
let environment: Record<string, string>
let service: ServiceProcess

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'svc-reference-'))
  const db = await newDatabase()
  environment = { DATABASE_URL: db.url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: place }
  service = await startProcess(environment)
}, 60_000)
afterAll(async () => {
  await service.end('SIGTERM')
  await rm(place, { recursive: true, force: true })
})

/**
 * The bank of the sandbox has confirmed no refund, so its notice goes to quarantine; and no month of its merchants is over,
 * so that they have no invoice.
 */
const OTHERS: Record<string, number> = { confirmRefund: 202, getTaxDocument: 404, getTaxDocumentPdf: 404 }

/** What the page of the reference sends when a reader presses "Test request". */
async function press(path: string, method: string, operation: Json, document: Json, cookie: string) {
  const { operationId, parameters, requestBody, security } = operation
  const example = (place: string) =>
    parameters.filter((each: Json) => each.in === place && each.example !== undefined)
  const query = new URLSearchParams(example('query').map((each: Json) => [each.name, String(each.example)]))
  const filled = example('path').reduce(
    (url: string, { name, example: value }: Json) => url.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  )
  const headers: Record<string, string> = { cookie }
  for (const each of example('header')) headers[each.name] = String(each.example)
  const [scheme] = Object.keys(security[0] ?? {})
  const found = document.components.securitySchemes[scheme ?? '']
  const secret = found?.flows?.clientCredentials ?? found
  if (secret?.['x-scalar-secret-token'])
    headers['authorization'] = `Bearer ${secret['x-scalar-secret-token']}`
  let body: string | undefined
  const [[mediaType, content] = []] = Object.entries<Json>(requestBody?.content ?? {})
  const value = Object.values<Json>(content?.examples ?? {})[0]?.value
  if (mediaType && value !== undefined) {
    headers['content-type'] = mediaType
    body = mediaType.includes('urlencoded')
      ? String(new URLSearchParams(value))
      : typeof value === 'string'
        ? value
        : JSON.stringify(value, null, 2)
  }
  const response = await fetch(`${service.baseUrl}${filled}${query.size > 0 ? `?${query}` : ''}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
  })
  if (operationId === 'streamEvents') await response.body?.cancel()
  const text = operationId === 'streamEvents' ? '' : await response.text()
  return { operationId, status: response.status, text }
}

async function readReference(): Promise<{ document: Json; cookie: string }> {
  const response = await fetch(`${service.baseUrl}/openapi.json`)
  expect(response.status).toBe(200)
  return { document: await response.json(), cookie: response.headers.get('set-cookie')!.split(';')[0]! }
}

/** Presses every button of the page once; returns what did not succeed. */
async function pressAll(): Promise<unknown[]> {
  const { document, cookie } = await readReference()
  const wrong: unknown[] = []
  for (const [path, methods] of Object.entries<Json>(document.paths))
    for (const [method, operation] of Object.entries<Json>(methods)) {
      const pressed = await press(path, method.toUpperCase(), operation, document, cookie)
      const { operationId, status, text } = pressed
      if (status !== (OTHERS[operationId] ?? 200)) wrong.push([operationId, status, text.slice(0, 300)])
    }
  return [...wrong, ...withoutExample(document)]
}

const withoutExample = (document: Json): string[] =>
  Object.values<Json>(document.paths)
    .flatMap((methods) => Object.values<Json>(methods))
    .filter(({ description }) => description.startsWith('**No example'))
    .map(({ operationId }) => operationId)

/** Until the examples that were used are replaced. */
const replaced = () =>
  expect.poll(async () => withoutExample((await readReference()).document), { timeout: 30_000 }).toEqual([])

test('in a sandbox the request that the reference shows succeeds unchanged, for every operation, again and after a restart', async () => {
  expect(await pressAll()).toEqual([])
  await replaced()
  expect(await pressAll()).toEqual([])
  await service.end('SIGTERM')
  service = await startProcess(environment)
  expect(await pressAll()).toEqual([])
}, 240_000)

/** Written by background work that has nothing to do with requests. */
const ON_ITS_OWN = new Set(
  ['alert_watch', 'webhook_attempts', 'webhook_deliveries', 'webhook_leases'].map((table) => `svc.${table}`),
)

/** Of every table its rows and the newest transaction that wrote one. */
const tables = (name: string) =>
  asSuperuser(name, async (db) => {
    const { rows } = await db.query<{ table: string }>(
      `select format('%I.%I', schemaname, tablename) as table from pg_tables where schemaname = 'svc' order by 1`,
    )
    const state: Record<string, unknown> = {}
    for (const { table } of rows.filter((row) => !ON_ITS_OWN.has(row.table))) {
      const found = await db.query(`select count(*), max(xmin::text::bigint) as newest from ${table}`)
      state[table] = found.rows[0]
    }
    return state
  })

/** Starts a sandbox in this process whose examples exist. */
async function sandboxWithExamples(options: Parameters<typeof openService>[0] = {}) {
  const own = await openService(options)
  const reference = await prepareReferenceTenants(own.app.services, keyMaker(own.app))
  await own.app.keepExamples(reference)
  return { own, reference }
}

/** The tables once nothing writes to them any more. */
async function whenQuiet(name: string) {
  let before = {}
  const isQuiet = async () => {
    const last = before
    before = await tables(name)
    return isDeepStrictEqual(last, before)
  }
  await expect.poll(isQuiet, { timeout: 60_000, interval: 500 }).toBe(true)
  return before
}

test('reading the reference writes nothing, also by many readers at once', async () => {
  const db = await newDatabase()
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'svc-reference-read-'))
  const first = await sandboxWithExamples({ db, env: { DATA_DIR } })
  await first.own.close()
  // The simulated bank makes the refund of the examples, and the audit is anchored after it.
  const bank = await openService({ db, env: { DATA_DIR } })
  const waiting = `select 1 from svc.merchant_refunds where status in ('PENDING', 'SENT')`
  const refunds = async () => asSuperuser(db.database, async (c) => (await c.query(waiting)).rows.length)
  await expect.poll(refunds, { timeout: 60_000 }).toBe(0)
  await bank.close()
  const own = await openService({ db, env: { DATA_DIR } })
  const before = await whenQuiet(db.database)
  for (let round = 0; round < 3; round++)
    await Promise.all(
      ['/openapi.json', '/openapi.json', '/docs/', '/docs/errors', '/docs/guides', '/'].map(async (path) =>
        expect((await fetch(`${own.baseUrl}${path}`)).status, path).toBe(200),
      ),
    )
  // What is noted in memory is written at the end.
  await own.close()
  expect(await tables(db.database)).toEqual(before)
}, 120_000)

test('readers who come at once get one filling', async () => {
  const { own } = await sandboxWithExamples()
  const read = async () => (await fetch(`${own.baseUrl}/openapi.json`)).text()
  const atOnce = await Promise.all([read(), read(), read(), read()])
  expect(new Set(atOnce).size).toBe(1)
  expect(await read()).not.toBe(atOnce[0])
  await own.close()
}, 120_000)

test('where a record is missing its operation says so, and everything else is filled', async () => {
  const { own, reference } = await sandboxWithExamples()
  await own.app.services.database.operate((tx) =>
    setTenantDisabled(tx, reference.merchant.merchantId, 'merchant', true),
  )
  await asSuperuser(own.db.database, (db) =>
    db.query(`update users set first_name = 'Left' where first_name = 'Leaving'`),
  )
  const document = (await own.client.get('/openapi.json')).json
  expect(withoutExample(document)).toEqual(['eraseUser'])
  expect(document.info.description).toMatch(/^\*\*Credentials of these examples do not work/)
  const { partner, client, merchant } = document.components.securitySchemes
  expect(client['x-scalar-secret-password']).toBe(reference.partner.clientSecret)
  expect(partner.flows.clientCredentials['x-scalar-secret-token']).toMatch(/^eyJ/)
  expect(merchant['x-scalar-secret-token']).toBeUndefined()
  await own.close()
}, 120_000)

test('the page at / of a sandbox links to the reference and shows credentials that work', async () => {
  const page = await (await fetch(service.baseUrl)).text()
  for (const path of ['/docs', '/console', '/openapi.json', '/docs/errors', '/docs/guides'])
    expect(page).toContain(`href="${path}"`)
  const [apiKey] = /svc_test_\w+/.exec(page)!
  const headers = { 'api-key': apiKey }
  expect((await fetch(`${service.baseUrl}/api/v0/merchant/token`, { method: 'POST', headers })).status).toBe(
    200,
  )
})
