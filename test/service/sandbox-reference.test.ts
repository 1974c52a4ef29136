import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { MASTER_KEY, newDatabase } from '../harness/service.ts'

let place: string
let service: ServiceProcess

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'svc-reference-'))
  const db = await newDatabase()
  service = await startProcess({ DATABASE_URL: db.url, SVC_MASTER_KEY: MASTER_KEY, DATA_DIR: place })
}, 60_000)
afterAll(async () => {
  await service.end('SIGTERM')
  await rm(place, { recursive: true, force: true })
})

/** The bank of the sandbox has confirmed no refund, so its notice goes to quarantine. */
const OTHERS: Record<string, number> = { confirmRefund: 202 }

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

test('in a sandbox the request that the reference shows succeeds unchanged, for every operation', async () => {
  const response = await fetch(`${service.baseUrl}/openapi.json`)
  const cookie = response.headers.get('set-cookie')!.split(';')[0]!
  const document: Json = await response.json()
  const wrong: unknown[] = []
  for (const [path, methods] of Object.entries<Json>(document.paths))
    for (const [method, operation] of Object.entries<Json>(methods)) {
      const { operationId, status, text } = await press(
        path,
        method.toUpperCase(),
        operation,
        document,
        cookie,
      )
      if (status !== (OTHERS[operationId] ?? 200)) wrong.push([operationId, status, text.slice(0, 300)])
    }
  expect(wrong).toEqual([])
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
