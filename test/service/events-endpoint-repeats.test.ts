import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { expectFailure } from '../harness/failure.ts'
import { newCode, newCodes } from '../harness/qr-codes.ts'
import { openService, type TestService } from '../harness/service.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'

const ENDPOINTS = '/api/v0/webhook-endpoints'

let service: TestService
let receiver: WebhookReceiver
beforeAll(async () => {
  service = await openService()
  receiver = await WebhookReceiver.open()
})
afterAll(async () => {
  await service.close()
  await receiver.close()
})

async function feedOf(tenant: Client, count: number): Promise<Json[]> {
  for (;;) {
    const { data } = payloadOf(await tenant.get('/api/v0/events?limit=500'))
    if (data.length >= count) return data
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test('a repeat of any change of an endpoint, under the same Idempotency-Key, changes nothing and gets the first response', async () => {
  const tenant = await service.as(await service.newMerchant())
  await newCodes(service, tenant, 3)
  const events = await feedOf(tenant, 3)
  const { endpointId } = payloadOf(await tenant.post(ENDPOINTS, { url: receiver.url('/repeated') }))
  const path = `${ENDPOINTS}/${endpointId}`
  const createdAtMs = service.clock.now()
  const range = {
    from: new Date(createdAtMs - 60_000).toISOString(),
    to: new Date(createdAtMs + 60_000).toISOString(),
  }
  const sent = () => receiver.at('/repeated').length
  const twice = async (method: 'POST' | 'PATCH' | 'DELETE', place: string, body?: object) => {
    const headers = {
      'idempotency-key': `${method} ${place}`.replaceAll(/[^A-Za-z]/g, ''),
      ...(body && { 'content-type': 'application/json' }),
    }
    const first = await tenant.send(method, place, body && JSON.stringify(body), headers)
    service.clock.advance(1_000)
    const again = await tenant.send(method, place, body && JSON.stringify(body), headers)
    expect(first.status, first.text).toBe(200)
    expect([again.status, again.text]).toEqual([200, first.text])
    return payloadOf(first)
  }
  const { secret } = await twice('POST', `${path}/rotate-secret`, {})
  const { description, modifiedOn } = await twice('PATCH', path, { description: 'till' })
  expect(payloadOf(await tenant.get(path))).toMatchObject({ description, modifiedOn })
  expect(await twice('POST', `${path}/resend`, { eventId: events[0].id })).toEqual({ queued: 1 })
  await receiver.until(() => sent() === 1)
  expect(await twice('POST', `${path}/replay`, range)).toMatchObject({ queued: 3, more: false })
  await receiver.until(() => sent() === 4)
  // What would have been sent twice would be on its way by now: one more event comes after all of it.
  await newCode(service, tenant)
  await receiver.until(() => receiver.at('/repeated').some(({ event }) => event.sequence === 4))
  expect(sent()).toBe(5)
  const signatures = receiver.at('/repeated').map(({ headers }) => headers['webhook-signature']!.split(' '))
  expect(new Set(signatures.map((all) => all.filter((one) => one.startsWith('v1,')).length))).toEqual(
    new Set([2]),
  )
  expect(secret).toMatch(/^whsec_/)
  await twice('DELETE', path)
  expectFailure(await tenant.get(path), 'webhook_endpoint_not_found')
})
