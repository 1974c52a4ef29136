import { statement } from '@svc/platform/db/statement'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Client, payloadOf } from '../harness/client.ts'
import { startProcesses } from '../harness/processes.ts'
import { cancel, creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import {
  asSuperuser,
  MASTER_KEY,
  openService,
  RAIL_KEY,
  type TestMerchant,
  type TestService,
  tokenOf,
} from '../harness/service.ts'

// Processes of their own take long to start on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let service: TestService
let merchant: TestMerchant
let client: Client
let keys = 0

beforeAll(async () => {
  service = await openService()
  merchant = await service.newMerchant()
  client = await service.as(merchant)
})
afterAll(() => service.close())

const newKey = () => ({ 'idempotency-key': `key-${++keys}` })
const create = (body: object, headers: Record<string, string>, as = client) =>
  as.post('/api/v0/qr-code', body, headers)

test('the same key with the same request gets the same bytes, and nothing is executed again', async () => {
  const key = newKey()
  const first = await create({ qrName: 'Once' }, key)
  expect(first.status).toBe(200)
  for (let i = 0; i < 3; i++) expect((await create({ qrName: 'Once' }, key)).text).toBe(first.text)
  const { recordsCount } = payloadOf(
    await client.post('/api/v0/qr-code/search', { createdFrom: '2020-01-01T00:00:00Z' }),
  )
  expect(recordsCount).toBe(1)
})

test('the first response is repeated even when the resource has changed since', async () => {
  const key = newKey()
  const first = await create({ qrName: 'Changed since' }, key)
  await cancel(client, payloadOf(first).qrCodeId)
  expect((await create({ qrName: 'Changed since' }, key)).text).toBe(first.text)
})

test('a repeat gets its response while others lock the rows that its command needed', async () => {
  const key = newKey()
  const { qrCodeId } = payloadOf(await create({ qrName: 'Held' }, newKey()))
  const first = await cancel(client, qrCodeId, key)
  expect(first.status).toBe(200)
  const [repeat, fresh] = await asSuperuser(service.db.database, async (admin) => {
    await admin.query('begin')
    await admin.query('select from qr_codes where qr_code_id = $1 for update', [qrCodeId])
    const fresh = cancel(client, qrCodeId, newKey())
    const repeat = await cancel(client, qrCodeId, key)
    await admin.query('rollback')
    return [repeat, await fresh] as const
  })
  expect(repeat.text).toBe(first.text)
  expect(fresh.status).toBe(200)
})

test('requests that differ only in the order of fields are the same request', async () => {
  const key = newKey()
  const first = await create({ qrName: 'Ordered', customParams: { a: '1', b: '2' } }, key)
  const second = await create({ customParams: { b: '2', a: '1' }, qrName: 'Ordered' }, key)
  expect(second.text).toBe(first.text)
})

test('the same key with another request is rejected with 422, and the first response stays', async () => {
  const key = newKey()
  const first = await create({ qrName: 'First' }, key)
  expect(await create({ qrName: 'Other' }, key)).toMatchObject({
    status: 422,
    error: 'idempotency_key_reused',
  })
  expect((await create({ qrName: 'First' }, key)).text).toBe(first.text)
})

test('the same key with another code in the path is another request', async () => {
  const key = newKey()
  const [one, two] = [await newCode(service, client), await newCode(service, client)]
  const path = (id: string) => `/api/v0/qr-code/${id}/cancel`
  expect((await client.patch(path(one.qrCodeId), {}, key)).status).toBe(200)
  expect(await client.patch(path(two.qrCodeId), {}, key)).toMatchObject({
    status: 422,
    error: 'idempotency_key_reused',
  })
})

test('a rejected request does not use up its key', async () => {
  const key = newKey()
  const reference = { referenceNumber: 'burn-1' }
  const { qrCodeId } = payloadOf(await client.post('/api/v0/qr-code', { ...reference, qrName: 'Holder' }))
  expect(await create({ ...reference, qrName: 'Next' }, key)).toMatchObject({
    status: 409,
    error: 'reference_in_use',
  })
  expect((await create({ amount: -1 }, key)).status).toBe(400)
  await cancel(client, qrCodeId)
  expect(payloadOf(await create({ ...reference, qrName: 'Next' }, key)).qrName).toBe('Next')
})

test('a key applies to one tenant and one route only', async () => {
  const key = newKey()
  const other = await service.as(await service.newMerchant())
  const mine = payloadOf(await create({ qrName: 'Mine' }, key))
  const theirs = payloadOf(await create({ qrName: 'Theirs' }, key, other))
  expect(theirs).toMatchObject({ qrName: 'Theirs' })
  expect(theirs.qrCodeId).not.toBe(mine.qrCodeId)
  expect(payloadOf(await client.patch(`/api/v0/qr-code/${mine.qrCodeId}/cancel`, {}, key)).status).toBe(
    'CANCELLED',
  )
})

test('a bank may send a key with its notices: a repeat is recognised by its reference, and another notice is processed', async () => {
  const { tr } = await newCode(service, client, { multipleUse: true })
  const bank = service.client.with(newKey())
  const credit = creditOf(tr)
  const first = await notifyCredit(bank, credit)
  expect(payloadOf(first).status).toBe('ACCEPTED')
  expect((await notifyCredit(bank, credit)).text).toBe(first.text)
  expect(payloadOf(await notifyCredit(bank, creditOf(tr))).status).toBe('ACCEPTED')
})

test('64 callers with one key on three processes get the same bytes and create one code', async () => {
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY, UPI_RAIL_KEYS: RAIL_KEY }
  const processes = await startProcesses(3, env, service.app.services.config.DATA_DIR)
  try {
    const clients = await Promise.all(
      processes.map(async ({ baseUrl }) => {
        const plain = await Client.open(baseUrl)
        return plain.with({ authorization: `Bearer ${await tokenOf(plain, merchant.apiKey)}` })
      }),
    )
    for (let round = 0; round < 8; round++) {
      const key = newKey()
      const qrName = `Together ${round}`
      const responses = await Promise.all(
        Array.from({ length: 64 }, (_, caller) => create({ qrName }, key, clients[caller % 3]!)),
      )
      expect(
        new Set(responses.map(({ status, text }) => `${status} ${text}`)).size,
        responses.map(({ status }) => status).join(),
      ).toBe(1)
      const { rows } = await asSuperuser(service.db.database, (db) =>
        db.query('select from qr_codes where qr_name = $1', [qrName]),
      )
      expect(rows).toHaveLength(1)
    }
  } finally {
    await Promise.all(processes.map((process) => process.end('SIGTERM')))
  }
})

test('a stored response is encrypted', async () => {
  const canary = 'canaryinthestoredanswer'
  expect((await create({ qrName: canary }, newKey())).status).toBe(200)
  const found = (encoding: string) =>
    asSuperuser(service.db.database, (db) =>
      db.query(
        `select from idempotency_keys k where position($1::bytea in k.response) > 0 or k::text like $2`,
        [Buffer.from(canary), `%${Buffer.from(canary).toString(encoding as BufferEncoding)}%`],
      ),
    )
  for (const encoding of ['utf8', 'hex', 'base64']) expect((await found(encoding)).rowCount).toBe(0)
})

test('an expired key is purged by the retention job, and a newer one is not', async () => {
  const [old, young] = [newKey(), newKey()]
  const first = await create({ qrName: 'Old' }, old)
  const kept = await create({ qrName: 'Young' }, young)
  const forget = statement<{ forgotten: bigint }>(
    'test_forget',
    'select forget_old_rows($1, $2) as forgotten',
  )
  await asSuperuser(service.db.database, (db) =>
    db.query(`update idempotency_keys set created_at = now() - interval '49 hours' where key = $1`, [
      old['idempotency-key'],
    ]),
  )
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000)
  const [row] = await service.app.services.database.directory(forget, [hoursAgo(48), hoursAgo(1)])
  expect(row).toEqual({ forgotten: 1n })
  expect((await create({ qrName: 'Young' }, young)).text).toBe(kept.text)
  expect(payloadOf(await create({ qrName: 'Old' }, old)).qrCodeId).not.toBe(payloadOf(first).qrCodeId)
})
