import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { newCode } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'

let service: TestService
let receiver: WebhookReceiver
let tenant: Client
let endpointId: string
let path: string
let tests = 0
let respond: (status: number) => void

beforeAll(async () => {
  service = await openService()
  receiver = await WebhookReceiver.open()
})
afterAll(async () => {
  await service.close()
  await receiver.close()
})

const sql = <T = Json>(text: string, values: unknown[]): Promise<T[]> =>
  asSuperuser(service.db.database, async (db) => (await db.query(text, values)).rows as T[])
const delivery = async () =>
  (
    await sql('select attempts, first, due_at from webhook_deliveries where endpoint_id = $1', [endpointId])
  )[0]
const endpoint = async () => payloadOf(await tenant.get(`/api/v0/webhook-endpoints/${endpointId}`))

/** The next attempt at the endpoint of this test; those of earlier tests are not waited for. */
const attempt = (on: (response: ServerResponse) => void) =>
  new Promise<void>((resolve) => {
    const own = path
    receiver.response = (delivery, response) => {
      if (delivery.path !== own) return void response.writeHead(204).end()
      on(response)
      resolve()
    }
  })
const standStill = (response: ServerResponse) =>
  void (respond = (status) => void response.writeHead(status).end())

/** The process has sent an event, and stands still before it knows the response. */
beforeEach(async () => {
  receiver.received.length = 0
  path = `/slow-${tests++}`
  const arrived = attempt(standStill)
  tenant = await service.as(await service.newMerchant())
  const created = await tenant.post('/api/v0/webhook-endpoints', {
    url: receiver.url(path),
    types: ['qr_code.created'],
  })
  endpointId = payloadOf(created).endpointId
  await newCode(service, tenant)
  await arrived
})

/** Other processes have made attempts meanwhile; the next one is in an hour. */
const others = (attempts: number) =>
  sql(
    `update webhook_deliveries set first = false, attempts = $2, started_at = now() - interval '1 day',
       due_at = now() + interval '1 hour' where endpoint_id = $1`,
    [endpointId, attempts],
  )

/** The response reaches the process; resolves once it has written what came of it. */
async function wake(status: number, attempts = 1): Promise<void> {
  respond(status)
  const written = async () =>
    payloadOf(await tenant.get(`/api/v0/webhook-endpoints/${endpointId}/attempts`)).data.length
  await expect.poll(written).toBe(attempts)
}

test('a failure that a process reports after others have made later attempts does not set the delivery back', async () => {
  await others(5)
  const before = await delivery()
  await wake(500)
  expect(await delivery()).toEqual(before)
})

test('a failure without later attempts by others counts as one attempt', async () => {
  await wake(500)
  expect(await delivery()).toMatchObject({ attempts: 1, first: false })
})

test('an event that such a process gives up stays in the queue while others continue with it', async () => {
  await wake(500)
  const requestArrived = attempt(standStill)
  // The last attempt of three days.
  await sql(
    `update webhook_deliveries set started_at = now() - interval '73 hours', due_at = now() where endpoint_id = $1`,
    [endpointId],
  )
  await requestArrived
  await others(5)
  const before = await delivery()
  await wake(500, 2)
  expect(await delivery()).toEqual(before)
})

test('a success ends the delivery, however late the process reports it', async () => {
  await others(5)
  await wake(204)
  expect(await delivery()).toBeUndefined()
})

test('410 disables an endpoint, and not one that was changed since the attempt began', async () => {
  payloadOf(await tenant.patch(`/api/v0/webhook-endpoints/${endpointId}`, { description: 'back again' }))
  await wake(410)
  expect(await endpoint()).toMatchObject({ enabled: true })

  const requestArrived = attempt((response) => void response.writeHead(410).end())
  await newCode(service, tenant)
  await requestArrived
  await expect.poll(endpoint).toMatchObject({ enabled: false, disabledReason: 'gone' })
})
