import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbedded } from '@svc/embedded-postgres/embedded'
import { connectionOptions } from '@svc/platform/db/connection-options'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'

test('over TCP the server drops a vanished client within 15 s, and the client probes a silent server', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-tcp-'))
  const server = await openEmbedded({
    dataDir,
    settings: { listen_addresses: '127.0.0.1', port: String(20_000 + (process.pid % 10_000)) },
  })
  onTestFinished(async () => {
    await server.release()
    await rm(dataDir, { recursive: true, force: true })
  })
  const setUp = new pg.Client({
    host: server.host,
    port: server.port,
    user: 'postgres',
    database: 'postgres',
  })
  await setUp.connect()
  await setUp.query('create role svc_service login; create role svc_operator login')
  await setUp.end()
  for (const role of ['svc_service', 'svc_operator'] as const) {
    const address = { host: '127.0.0.1', port: server.port, database: 'postgres' }
    const options = connectionOptions(address, role)
    expect(options).toMatchObject({ keepAlive: true, keepAliveInitialDelayMillis: 5_000 })
    const client = new pg.Client(options)
    await client.connect()
    const setting = async (name: string) =>
      Object.values((await client.query<Record<string, string>>(`show ${name}`)).rows[0]!)[0]
    const seconds = async (name: string) => Number.parseInt((await setting(name))!, 10)
    const [idle, interval, count] = [
      await seconds('tcp_keepalives_idle'),
      await seconds('tcp_keepalives_interval'),
      await seconds('tcp_keepalives_count'),
    ]
    expect([idle, interval, count].every((value) => value > 0)).toBe(true)
    expect(idle + interval * count).toBeLessThanOrEqual(15)
    // In milliseconds.
    expect(await seconds('tcp_user_timeout')).toBe(10_000)
    expect(await setting('idle_in_transaction_session_timeout')).toBe('5s')
    await client.end()
  }
})
