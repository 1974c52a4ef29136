import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { newCode } from '../harness/qr-codes.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'
import { WebhookReceiver } from '../harness/webhook-receiver.ts'

const DAY_MS = 86_400_000
const ENDPOINTS = '/api/v0/webhook-endpoints'

let service: TestService
let receiver: WebhookReceiver
beforeAll(async () => {
  service = await openService({ env: { WEBHOOK_TIMEOUT_MS: '60000' } })
  receiver = await WebhookReceiver.open()
})
afterAll(async () => {
  await service.close()
  await receiver.close()
})

test('the outcome of a first attempt is stored once its row is free, also while the endpoint stays busy', async () => {
  const merchant = await service.newMerchant()
  const tenant = await service.as(merchant)
  const open: ServerResponse[] = []
  receiver.response = (_, response) => void open.push(response)
  payloadOf(await tenant.post(ENDPOINTS, { url: receiver.url('/busy') }))
  await newCode(service, tenant)
  await receiver.until(() => open.length === 1)
  await newCode(service, tenant)
  await receiver.until(() => open.length === 2)
  const deliveries = (sql: string) => `${sql} from webhook_deliveries where tenant_id = $1`
  const left = async (): Promise<unknown> =>
    asSuperuser(service.db.database, async (admin) => {
      const { rows } = await admin.query(deliveries('select sequence::int, first, attempts'), [
        merchant.merchantId,
      ])
      return rows
    })
  await asSuperuser(service.db.database, async (holder) => {
    await holder.query('begin')
    await holder.query(`${deliveries('select')} and sequence = 1 for update`, [merchant.merchantId])
    open[0]!.writeHead(204).end()
    await expect.poll(() => service.logged(), { timeout: 20_000 }).toContain('were not written')
    await holder.query('rollback')
  })
  await expect.poll(left, { timeout: 20_000 }).toEqual([{ sequence: 2, first: true, attempts: 0 }])
  open[1]!.writeHead(204).end()
  await expect.poll(left, { timeout: 20_000 }).toEqual([])
  expect(receiver.at('/busy')).toHaveLength(2)
}, 60_000)

test('a replay of what failed since a time from which attempts are no longer kept is 410 and names the limit; one of everything is not', async () => {
  const tenant = await service.as(await service.newMerchant())
  const { endpointId } = payloadOf(await tenant.post(ENDPOINTS, { url: receiver.url('/replayed') }))
  const replay = (days: number, failedOnly: boolean) =>
    tenant.post(`${ENDPOINTS}/${endpointId}/replay`, {
      from: new Date(service.clock.now() - days * DAY_MS).toISOString(),
      to: new Date(service.clock.now()).toISOString(),
      failedOnly,
    })
  const refused = await replay(31, true)
  expect([refused.status, refused.error]).toEqual([410, 'events_forgotten'])
  expect(refused.errorDescription).toMatch(/^Attempts before \d{4}-/)
  expect(payloadOf(await replay(29, true))).toMatchObject({ queued: 0 })
  expect(payloadOf(await replay(31, false))).toMatchObject({ queued: 0 })
})
