import { ByTenant } from '@svc/kernel/by-tenant'
import type { BatchTx, CommandSpec, PreparedCommand } from '@svc/platform/db/batch'
import { CommitQueue } from '@svc/platform/db/commit-queue'
import { statement } from '@svc/platform/db/statement'
import { expect, onTestFinished, test, vi } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { asSuperuser, openService, type TestService, tokenOf } from '../harness/service.ts'
import { canReplicate, openPair } from '../harness/standby.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 })

const soon = { timeout: 20_000, interval: 50 }
const readyz = async ({ client }: TestService) => {
  const response = await fetch(`${client.baseUrl}/readyz`)
  return { status: response.status, text: await response.text() }
}

/** What a caller meets while the database takes no writes: not ready with the reason, no tokens, no reads of old data. */
async function expectRefused(service: TestService, apiKey: string, token: string): Promise<void> {
  const ready = await readyz(service)
  expect(ready.status).toBe(503)
  expect(ready.text).toContain('read-only')
  const issued = await service.client.post('/api/v0/merchant/token', undefined, { 'api-key': apiKey })
  expect(issued).toMatchObject({ status: 503, error: 'temporarily_unavailable' })
  const client = service.client.with({ authorization: `Bearer ${token}` })
  expect((await client.post('/api/v0/qr-code', {})).status).toBe(503)
  expect((await client.post('/api/v0/qr-code/search', {})).status).toBe(503)
}

async function expectServing(service: TestService, apiKey: string): Promise<void> {
  await vi.waitUntil(async () => (await readyz(service)).status === 200, soon)
  const token = await tokenOf(service.client, apiKey)
  payloadOf(await service.client.with({ authorization: `Bearer ${token}` }).post('/api/v0/qr-code', {}))
}

test('on read-only connections the service is not ready and rejects requests, and serves again once they are writable', async () => {
  const service = await openService({ env: { COMMAND_TIMEOUT_MS: '2000' } })
  const { apiKey } = await service.newMerchant()
  const token = await tokenOf(service.client, apiKey)
  const { database } = service.db
  const become = (readOnly: 'on' | 'off') =>
    asSuperuser('postgres', async (admin) => {
      await admin.query(`alter database ${database} set default_transaction_read_only = ${readOnly}`)
      // A setting of the database is for new sessions.
      if (readOnly === 'on')
        await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
          database,
        ])
    })
  await become('on')
  await vi.waitUntil(async () => (await readyz(service)).text.includes('read-only'), soon)
  await expectRefused(service, apiKey, token)
  const outages = service
    .logged()
    .split('\n')
    .filter((line) => line.includes('requests fail: not available'))
  expect(outages).toHaveLength(1)
  await become('off')
  await expectServing(service, apiKey)
  await service.close()
})

const BACKEND = statement<{ pid: number }>('test_backend', 'select pg_backend_pid() as pid')
const READ_ONLY = statement('test_read_only', 'set transaction read only')
const WRITE = statement('test_write', `insert into batches values ('test ' || clock_timestamp())`)

test('a connection whose write was rejected as read-only (25006) is closed, and the batch moves to another one', async () => {
  const service = await openService()
  const backends: number[] = []
  const spec: CommandSpec<PreparedCommand, undefined, PreparedCommand> = {
    name: 'test_read_only',
    async lock(tx: BatchTx) {
      backends.push((await tx.query(BACKEND))[0]!.pid)
      if (backends.length === 1) await tx.query(READ_ONLY)
      return new ByTenant(() => undefined)
    },
    decide: (_, command) => command,
    apply: () => undefined,
    save: (tx) => tx.write(WRITE),
  }
  await new CommitQueue(spec, service.app.services.queues).submit({ tenantId: 't' })
  expect(backends).toHaveLength(2)
  const alive = () =>
    asSuperuser(service.db.database, async (admin) => {
      const found = await admin.query('select from pg_stat_activity where pid = $1', [backends[0]])
      return found.rowCount
    })
  await vi.waitUntil(async () => (await alive()) === 0, soon)
  expect(backends[1]).not.toBe(backends[0])
  await service.close()
})

test.skipIf(!canReplicate)(
  'on a streaming standby /readyz is 503 with the reason and no token is issued, until it is promoted (needs PostgreSQL 15 installed)',
  async () => {
    const { primary, standby, close } = await openPair()
    onTestFinished(close)
    // The same issuer for both, so that a token of the one is good for the other.
    const env = { COMMAND_TIMEOUT_MS: '2000', PUBLIC_URL: 'https://svc.example.com' }
    const before = await openService({ db: primary, env })
    const { apiKey } = await before.newMerchant()
    const token = await tokenOf(before.client, apiKey)
    await before.close()
    const service = await openService({ db: standby, env })
    await expectRefused(service, apiKey, token)
    await standby.run('select pg_promote()')
    await expectServing(service, apiKey)
    await service.close()
  },
)
