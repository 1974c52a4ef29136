import { idFloor } from '@svc/contract/id-kinds'
import { webhookRetentionLoop } from '@svc/core/webhooks/webhook-retention'
import type { ConnectionClass } from '@svc/platform/db/database'
import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { asSuperuser, newDatabase, openService, type TestDatabase } from '../harness/service.ts'

const count = ({ database }: TestDatabase, from: string): Promise<number> =>
  asSuperuser(
    database,
    async (db) => (await db.query<{ n: number }>(`select count(*)::int as n from ${from}`)).rows[0]!.n,
  )

/** Connections that report each statement of this name before it is sent. */
function reporting(name: string): { onSent: () => void; readonly Client: ConnectionClass } {
  const report = {
    onSent: () => undefined as void,
    Client: class extends pg.Client {
      // The driver's own overloads are all served by passing on what came.
      // oxlint-disable-next-line typescript/no-explicit-any
      override query(...args: any[]): any {
        if (args[0]?.name === name) report.onSent()
        return super.query(...(args as [string]))
      }
    } as unknown as ConnectionClass,
  }
  return report
}

test('a process that stops while many events are deleted waits for one call; the next process continues until none is left', async () => {
  const report = reporting('events_forget')
  const service = await openService({ background: false, Client: report.Client })
  try {
    const { merchantId } = await service.newMerchant()
    await asSuperuser(service.db.database, async (db) => {
      await db.query(
        `insert into event_numbers (tenant_id, sequence, position, created_at, event_id, type)
         select $1, n, n, now() - interval '500 days', 'evt_' || lpad(n::text, 26, '0'), 'qr_code.created'
         from generate_series(1, 3500) n`,
        [merchantId],
      )
      await db.query('insert into event_counters (tenant_id, last_sequence) values ($1, 3500)', [merchantId])
    })
    const loop = webhookRetentionLoop(service.app.services)
    const stopped = new Promise<void>((resolve, reject) => {
      report.onSent = () => void loop.stop().then(resolve, reject)
    })
    loop.start()
    await stopped
    expect(await count(service.db, 'event_numbers')).toBe(2_500)

    report.onSent = () => undefined
    const again = webhookRetentionLoop(service.app.services)
    again.start()
    await again.idle()
    expect(await count(service.db, 'event_numbers')).toBe(0)
    await again.stop()
  } finally {
    await service.close()
  }
})

test('a process that stops while many old requests are deleted does not wait for all; one that continues logs new requests between the calls, and deletes all', async () => {
  const db = await newDatabase()
  await asSuperuser(db.database, (admin) =>
    admin.query(
      `insert into request_log (request_id, tenant_id, at, operation, kind, method, path, status, duration_ms, address,
         body_bytes, objects)
       select $1 || lpad(n::text, 6, '0'), 'house', now() - interval '3 days', 'createQrCode', 'command', 'POST', '/', 200, 1,
         '', 0, '{}' from generate_series(1, 27000) n`,
      [idFloor('req', new Date(Date.now() - 3 * 86_400_000))],
    ),
  )
  const machine = performance.now.bind(performance)
  const ahead = vi.spyOn(performance, 'now').mockImplementation(() => machine() + 2 * 3_600_000)
  const env = { REQUEST_LOG_DAYS: '2', REQUEST_LOG_READ_SAMPLE: '1' }
  const report = reporting('request_log_forget')
  try {
    // It begins once each call is reported.
    const open = () => openService({ db, env, Client: report.Client, background: false })
    const first = await open()
    let sent = 0
    await new Promise<void>((resolve, reject) => {
      report.onSent = () => {
        if (++sent === 1) void first.close().then(resolve, reject)
      }
      first.app.startBackground()
    })
    const left = await count(db, 'request_log')
    expect(left).toBe(27_000 - sent * 5_000)
    expect(left).toBeGreaterThan(0)

    const second = await open()
    const logged = await new Promise<number>((resolve, reject) => {
      let calls = 0
      report.onSent = () => {
        calls++
        // It is to be logged before all is deleted.
        if (calls === 1) second.client.get('/api/v0/none').catch(reject)
        if (calls === Math.ceil(left / 5_000))
          count(db, `request_log where operation <> 'createQrCode'`).then(resolve, reject)
      }
      second.app.startBackground()
    })
    expect(logged).toBeGreaterThan(0)
    await expect.poll(() => count(db, `request_log where operation = 'createQrCode'`)).toBe(0)
    await second.close()
  } finally {
    ahead.mockRestore()
  }
})
