import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { newCode } from '../harness/qr-codes.ts'
import { openService, type TestService } from '../harness/service.ts'
import { verifyDelivery, WebhookReceiver } from '../harness/webhook-receiver.ts'

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

test('a repeated rotation removes no secret before its time: while five are in use, another one is rejected', async () => {
  const shop = await service.as(await service.newMerchant())
  const { secret: previous, endpointId } = payloadOf(
    await shop.post('/api/v0/webhook-endpoints', { url: receiver.url('/repeated') }),
  )
  const rotate = (body: object = {}) =>
    shop.post(`/api/v0/webhook-endpoints/${endpointId}/rotate-secret`, body)
  // One by one and together: processes and batches see each other's secrets.
  const responses = [await rotate(), ...(await Promise.all(Array.from({ length: 9 }, () => rotate())))]
  const rotated = responses
    .filter(({ status }) => status === 200)
    .map((response) => payloadOf(response).secret)
  expect(new Set(rotated).size).toBe(4)
  const refused = responses.filter(({ status }) => status !== 200)
  expect(new Set(refused.map(({ status, error }) => `${status} ${error}`))).toEqual(
    new Set(['409 too_many_webhook_secrets']),
  )
  const [, until] = /the next one expires on (\S+)$/.exec(refused[0]!.errorDescription!)!
  expect(Math.abs(Date.parse(until!) - service.clock.now() - 86_400_000)).toBeLessThan(120_000)
  await newCode(service, shop)
  await receiver.until(() => receiver.at('/repeated').length === 1)
  const [delivery] = receiver.at('/repeated')
  for (const secret of [previous, ...rotated]) verifyDelivery(delivery!, secret)

  // What may have leaked can always be ended.
  const { secret: only } = payloadOf(await rotate({ graceSeconds: 0 }))
  await newCode(service, shop)
  await receiver.until(() => receiver.at('/repeated').length === 2)
  const [, last] = receiver.at('/repeated')
  verifyDelivery(last!, only)
  for (const secret of [previous, ...rotated]) expect(() => verifyDelivery(last!, secret)).toThrow()
  payloadOf(await rotate())
})
