import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Json, payloadOf } from '../harness/client.ts'
import { openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

test('each header that an endpoint cannot have is reported with what is wrong with it', async () => {
  const tenant = await service.as(await service.newMerchant())
  const create = (headers: Json) =>
    tenant.post('/api/v0/webhook-endpoints', { url: 'https://hooks.example/svc', headers })
  for (const [headers, description] of [
    [
      { X_Tenant: '1', Host: 'x', 'webhook-id': 'x', 'X-Fine': 'y' },
      'headers.X_Tenant must have a name of 1 to 64 letters, digits and hyphens; headers.Host is a header that the service sets itself; headers.webhook-id is a header that the service sets itself',
    ],
    [{ 'X-A': 'ä', 'x-a': '1' }, 'headers.X-A must have a value of visible ASCII characters'],
    [{ 'X-A': '1', 'x-a': '1' }, 'headers.x-a is there twice: names of headers have no case'],
    [{ 'X\u2028': 5 }, 'headers.X? must be a string, not a number'],
    [{ [`X-${'a'.repeat(70)}`]: 'x'.repeat(2_000) }, /^headers\.X-a{58} must have at most 1024 characters$/],
  ] as const) {
    const response = await create(headers)
    expect([response.status, response.error]).toEqual([400, 'validation_failed'])
    expect(response.errorDescription).toMatch(description)
  }
  const problem = await tenant.post(
    '/api/v0/webhook-endpoints',
    { url: 'https://hooks.example/svc', headers: { X_Tenant: 'secret' } },
    { accept: 'application/problem+json' },
  )
  expect(problem.json.errors).toEqual([
    {
      in: 'body',
      pointer: '/headers/X_Tenant',
      rule: 'format',
      message: 'headers.X_Tenant must have a name of 1 to 64 letters, digits and hyphens',
    },
  ])
  expect(problem.text).not.toContain('secret')
})

test('the description of an endpoint is cleared by an empty text', async () => {
  const tenant = await service.as(await service.newMerchant())
  const request = { url: 'https://hooks.example/svc', description: 'till' }
  const { endpointId } = payloadOf(await tenant.post('/api/v0/webhook-endpoints', request))
  const changed = await tenant.patch(`/api/v0/webhook-endpoints/${endpointId}`, { description: '' })
  expect(payloadOf(changed).description).toBe('')
})
