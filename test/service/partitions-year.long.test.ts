import { checkInvariants } from '@svc/console-api/invariants'
import { idFloor } from '@svc/contract/id-kinds'
import { forgetEvents } from '@svc/core/webhooks/feed-horizon'
import type pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { Client } from '../harness/client.ts'
import { at, happen, keepEvents, maintain, partitionsOf } from '../harness/partitions.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

const DAYS = 400
const DAYS_KEPT = 30

/** Sends commands and reads the feed until `end`, which returns how often each status came. */
function loadOn(tenant: Client): { end: () => Promise<Map<number, number>> } {
  const statuses = new Map<number, number>()
  let ended = false
  const callers = Array.from({ length: 4 }, async (_, i) => {
    while (!ended) {
      const response = await (i % 2 === 0
        ? tenant.post('/api/v0/qr-code', {})
        : tenant.get('/api/v0/events?after=latest'))
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
    }
  })
  return {
    async end() {
      ended = true
      await Promise.all(callers)
      return statuses
    },
  }
}

const logRequest = (db: pg.Client, when: Date, tenantId: string) =>
  db.query(
    `insert into request_log (request_id, tenant_id, at, operation, kind, method, path, status, duration_ms,
       address, body_bytes, objects)
     values ($1, $2, $3, 'createQrCode', 'command', 'POST', '/', 200, 1, '', 0, '{}')`,
    [`${idFloor('req', when)}x`, tenantId, when],
  )

async function forgetAll({ services }: TestService['app']): Promise<void> {
  while ((await forgetEvents(services)) > 0n);
}

/** Lives through the days, one after the other. Returns the partitions that came and went. */
async function live(db: pg.Client, { app }: TestService, tenantId: string) {
  const steps = { created: new Set<string>(), dropped: new Set<string>() }
  const note = (done: string[]) => {
    for (const step of done) {
      const [what, name] = step.split(' ') as [keyof typeof steps, string]
      steps[what].add(name)
    }
  }
  for (let day = -DAYS; day <= 0; day++) {
    note(await maintain(db, at(day)))
    await happen(db, at(day), `day${day + DAYS}`, tenantId)
    await logRequest(db, at(day), tenantId)
    if (day % 7 === 0) await forgetAll(app)
  }
  const old = [idFloor('evt', at(-1))]
  await expect
    .poll(
      async () => (await db.query('select from unnumbered_events where event_id < $1', old)).rows.length,
      {
        timeout: 30_000,
      },
    )
    .toBe(0)
  await forgetAll(app)
  note(await maintain(db))
  return steps
}

test('a simulated year: 400 days of partitions are created, filled and dropped under load, and no request fails', async () => {
  const service = await openService({ env: { EVENTS_DAYS: `${DAYS_KEPT}` } })
  onTestFinished(() => service.close())
  const { merchantId } = await service.newMerchant()
  // From another tenant: a feed forgets nothing behind an event that is kept.
  const load = loadOn(await service.as(await service.newMerchant()))
  try {
    await asSuperuser(service.db.database, async (db) => {
      // The service's own loop would drop by today's clock.
      await db.query(`select pg_advisory_lock(hashtext('svc partitions'))`)
      await keepEvents(db, DAYS_KEPT)
      const { created, dropped } = await live(db, service, merchantId)
      expect(created.size).toBeGreaterThan(DAYS + 50)
      const [events, requests] = [await partitionsOf(db, 'outbox'), await partitionsOf(db, 'request_log')]
      // Of the days that are kept, today's, and those ahead.
      expect(events.length).toBeLessThanOrEqual(11)
      expect(requests.length).toBeLessThanOrEqual(16)
      expect(dropped.size).toBeGreaterThan(DAYS)
      const { rows } = await db.query(
        `select (select count(*)::int from outbox_default) as events, (select count(*)::int from request_log_default) as requests`,
      )
      expect(rows).toEqual([{ events: 0, requests: 0 }])
    })
  } finally {
    const statuses = await load.end()
    expect([...statuses.keys()]).toEqual([200])
  }
  const reports = await checkInvariants(service.app.services.database)
  expect(reports.filter(({ violations }) => violations.length > 0)).toEqual([])
})
