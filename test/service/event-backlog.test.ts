import { eventBacklogLoop } from '@svc/core/webhooks/event-backlog'
import { VERSION } from '@svc/platform/package'
import { expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { newCode } from '../harness/qr-codes.ts'
import { asSuperuser, openService } from '../harness/service.ts'

const BACKLOG = [
  'svc_oldest_unnumbered_event_seconds',
  'svc_webhook_deliveries_due',
  'svc_oldest_webhook_delivery_seconds',
]

test('the metrics say how long events wait for a number, what is due for how long, and who uses connections', async () => {
  const service = await openService({ background: false })
  const { metrics, ...services } = service.app.services
  // Those of a process with jobs.
  for (const name of BACKLOG) metrics.registry.removeSingleMetric(name)
  const loop = eventBacklogLoop({ ...services, metrics })
  let nowMs = 0
  const read = async (name: string) => {
    await loop.runIfDue((nowMs += 60_000))
    const text = await (await fetch(`${service.client.baseUrl}/metrics`)).text()
    const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec(text) ?? []
    return Number(value)
  }
  expect(await read('svc_oldest_unnumbered_event_seconds')).toBe(0)
  const merchant = await service.newMerchant()
  const client = await service.as(merchant)
  payloadOf(await client.post('/api/v0/webhook-endpoints', { url: 'https://93.184.216.34/a' }))
  await newCode(service, client)
  await asSuperuser(service.db.database, (db) =>
    db.query(`update unnumbered_events set created_at = created_at - interval '1 hour'`),
  )
  expect(await read('svc_oldest_unnumbered_event_seconds')).toBeGreaterThan(3_599)
  expect(await read('svc_webhook_deliveries_due')).toBe(0)
  await asSuperuser(service.db.database, (db) =>
    db.query(`select number_events(100, now() - interval '2 hours')`),
  )
  expect(await read('svc_oldest_unnumbered_event_seconds')).toBe(0)
  expect(await read('svc_webhook_deliveries_due')).toBeGreaterThan(0)
  expect(await read('svc_oldest_webhook_delivery_seconds')).toBeGreaterThan(7_199)
  expect(await read('svc_database_connections_max\\{pool="requests"\\}')).toBe(12)
  expect(await read('svc_database_connections_used\\{pool="requests"\\}')).toBe(0)
  const text = await metrics.text()
  expect(text).toContain(`svc_build_info{version="${VERSION}",node="${process.version}"} 1`)
  await service.close()
})
