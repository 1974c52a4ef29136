import { randomBytes } from 'node:crypto'
import { insertBulkJobs, leaseLines } from '@svc/core/cards/bulk/bulk-job'
import { reconcile } from '@svc/core/ledger/reconcile'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  cardsOf,
  done,
  encryptOrder,
  encryptOrders,
  PATH,
  progress,
  RICH,
  results,
  summary,
  until,
  upload,
} from '../harness/bulk.ts'
import { payloadOf } from '../harness/client.ts'
import { LONG } from '../harness/long.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

test('for 2,000 orders each one gets exactly one card, its result names the card, and the books balance', async () => {
  const partner = await newPartner(service, RICH)
  const client = await asPartner(service.client, partner)
  const accepted = payloadOf(await upload(client, await encryptOrders(partner, 2_000)))
  expect(accepted).toEqual({ jobId: expect.stringMatching(/^blk_/), rows: 2_000, status: 'QUEUED' })
  const job = await done(client, accepted.jobId)
  expect(job).toMatchObject({ rows: 2_000, done: 2_000, issued: 2_000, failed: 0 })
  const rows = await results(client, accepted.jobId)
  expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: 2_000 }, (_, i) => i + 1))
  const reported = rows.map(({ svcCardId }) => svcCardId)
  expect(new Set(reported).size).toBe(2_000)
  expect((await cardsOf(service.db.database, partner)).sort()).toEqual(reported.sort())
  expect((await reconcile(service.app.services.database)).ok).toBe(true)
}, 180_000)

test('a process leases no more rows of a job than it requested', async () => {
  const partner = await newPartner(service)
  const { partnerId } = partner
  const lines = Array.from({ length: 1_500 }, (_, i) => ({ line: i + 1, content: Buffer.from('x') }))
  const job = { jobId: 'blk_leased', partnerId, kind: 'issue' as const, lines, createdAt: new Date() }
  const rolledBack = new Error('the service would carry out what is committed')
  const leasing = service.app.services.database.write([partnerId], async (tx) => {
    insertBulkJobs(tx, [job])
    const leased = [await leaseLines(tx, job, 30_000, 32, 0), await leaseLines(tx, job, 30_000, 32, 0)]
    expect(leased.map((rows) => rows.map(({ line }) => line).sort((a, b) => a - b))).toEqual([
      Array.from({ length: 32 }, (_, i) => i + 1),
      Array.from({ length: 32 }, (_, i) => i + 33),
    ])
    throw rolledBack
  })
  await expect(leasing).rejects.toBe(rolledBack)
})

test('each invalid order fails alone, with the error code that a single order would get; the valid ones are issued', async () => {
  const partner = await newPartner(service, RICH)
  const outsider = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const good = await encryptOrder(partner, { mobile: '9100000001' })
  const quoted = JSON.stringify(await encryptOrder(partner, { mobile: '9100000002' }))
  const lines = [
    good,
    quoted,
    '',
    'not an encrypted request',
    await encryptOrder(partner, { mobile: '12' }),
    await encryptOrder(partner, { loadAmount: 'free' }),
    await encryptOrder(partner, { loadAmount: 10_001 }),
    await encryptOrder(partner, { userId: 'usr_unknown' }),
    await encryptOrder(partner, { cardAccountId: outsider.cardAccountId }),
    await encryptOrder(outsider, { mobile: '9100000003' }),
    JSON.stringify({ companyId: partner.companyId, cardAccountId: partner.cardAccountId }),
    '"half a string',
    await encryptOrder(partner, { colour: 'red' }),
    'x'.repeat(65_000),
  ]
  const { jobId, rows } = payloadOf(await upload(client, Buffer.from(`\uFEFF${lines.join('\r\n')}`)))
  expect(rows).toBe(13)
  expect(await done(client, jobId)).toMatchObject({ issued: 2, failed: 11 })
  const reported = await results(client, jobId, 3)
  expect(summary(reported)).toEqual([
    [1, 'ISSUED'],
    [2, 'ISSUED'],
    [4, 'decryption_failed'],
    [5, 'validation_failed'],
    [6, 'validation_failed'],
    [7, 'load_over_limit'],
    [8, 'user_not_found'],
    [9, 'card_account_not_found'],
    [10, 'decryption_failed'],
    [11, 'request_not_encrypted'],
    [12, 'malformed_body'],
    [13, 'validation_failed'],
    [14, 'decryption_failed'],
  ])
  expect(reported[3].errorDescription).toContain('mobile must be exactly 10 digits')
  expect(await cardsOf(service.db.database, partner)).toHaveLength(2)
})

test('of 60 orders for funds of 25, exactly 25 are issued and the others fail with insufficient_funds', async () => {
  const partner = await newPartner(service, { fundsPaise: 25n * 100_00n })
  const client = await asPartner(service.client, partner)
  const { jobId } = payloadOf(await upload(client, await encryptOrders(partner, 60)))
  expect(await done(client, jobId)).toMatchObject({ issued: 25, failed: 35 })
  const failed = (await results(client, jobId)).filter(({ status }) => status === 'FAILED')
  expect(new Set(failed.map(({ error }) => error))).toEqual(new Set(['insufficient_funds']))
  expect((await reconcile(service.app.services.database)).ok).toBe(true)
})

test('an encrypted request counts once, within a file, across files and beside single orders: every use returns the same card', async () => {
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const jwe = await encryptOrder(partner, { mobile: '9200000001' })
  const { svcCardId } = payloadOf(await client.post('/api/v0/partner/svcCard', jwe))
  const first = payloadOf(
    await upload(client, [jwe, await encryptOrder(partner, { mobile: '9200000002' }), jwe]),
  )
  await done(client, first.jobId)
  const rows = await results(client, first.jobId)
  expect([rows[0].svcCardId, rows[2].svcCardId]).toEqual([svcCardId, svcCardId])
  const again = payloadOf(await upload(client, [jwe]))
  await done(client, again.jobId)
  expect((await results(client, again.jobId))[0].svcCardId).toBe(svcCardId)
  expect(await cardsOf(service.db.database, partner)).toHaveLength(2)
})

test('once its stored response is deleted, an encrypted request of a previous file fails with encrypted_request_replayed and issues nothing', async () => {
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const jwe = await encryptOrder(partner, { mobile: '9210000001' })
  await done(client, payloadOf(await upload(client, [jwe])).jobId)
  await asSuperuser(service.db.database, (db) =>
    db.query('delete from idempotency_keys where tenant_id = $1', [partner.partnerId]),
  )
  const { jobId } = payloadOf(await upload(client, [jwe]))
  await done(client, jobId)
  expect(summary(await results(client, jobId))).toEqual([[1, 'encrypted_request_replayed']])
  expect(await cardsOf(service.db.database, partner)).toHaveLength(1)
})

test('the same upload with the same Idempotency-Key is the same job; another upload under that key is rejected', async () => {
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const lines = await encryptOrders(partner, 3)
  const key = { 'idempotency-key': `bulk-${randomBytes(4).toString('hex')}` }
  const first = await upload(client, lines, key)
  payloadOf(first)
  expect((await upload(client, lines, key)).text).toBe(first.text)
  expect((await upload(client, lines.slice(1), key)).error).toBe('idempotency_key_reused')
  await done(client, first.json.payload.jobId)
  expect(await cardsOf(service.db.database, partner)).toHaveLength(3)
})

test('an empty upload, or one of too many lines, of another type or over 16 MiB is rejected as a whole', async () => {
  const small = await openService({ env: { BULK_ROWS_MAX: '3', BULK_WAITING_ROWS_MAX: '2' } })
  const client = await asPartner(small.client, await newPartner(small))
  expect((await upload(client, Buffer.from(' \r\n\n'))).error).toBe('validation_failed')
  expect((await upload(client, Buffer.alloc(0))).error).toBe('validation_failed')
  expect((await upload(client, ['a', 'b', 'c', 'd'])).errorDescription).toBe(
    'The body must have at most 3 lines',
  )
  expect(await upload(client, ['a', 'b', 'c'])).toMatchObject({
    status: 503,
    error: 'overloaded',
    headers: { 'retry-after': '60' },
  })
  expect((await client.post(PATH, 'a')).status).toBe(415)
  const tooLarge = await upload(client, Buffer.alloc(16 * 1024 * 1024 + 1, 'a'))
  expect([tooLarge.status, tooLarge.error]).toEqual([413, 'payload_too_large'])
  const jobs = await asSuperuser(small.db.database, (db) => db.query('select from bulk_jobs'))
  expect(jobs.rowCount).toBe(0)
  await small.close()
})

test('an upload of 16 MiB is accepted, and its lines are reported one by one', async () => {
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const line = Buffer.from(`${'a'.repeat(32 * 1024 - 1)}\n`)
  const { jobId, rows } = payloadOf(
    await upload(client, Buffer.concat(Array.from({ length: 512 }, () => line))),
  )
  expect(rows).toBe(512)
  expect(await done(client, jobId)).toMatchObject({ failed: 512 })
})

test('another partner’s job, a nonexistent job and a malformed id get the same 404', async () => {
  const [owner, outsider] = [await newPartner(service), await newPartner(service)]
  const [ownerClient, outsiderClient] = [
    await asPartner(service.client, owner),
    await asPartner(service.client, outsider),
  ]
  const { jobId } = payloadOf(await upload(ownerClient, await encryptOrders(owner, 1)))
  for (const id of [jobId, `blk_${'0'.repeat(26)}`, 'nonsense', '%00'])
    for (const path of [`${PATH}/${id}`, `${PATH}/${id}/results`]) {
      const response = await outsiderClient.get(path)
      expect([response.status, response.error], path).toEqual([404, 'bulk_job_not_found'])
    }
  expect((await done(ownerClient, jobId)).issued).toBe(1)
})

test('names and addresses of orders, also of orders sent unencrypted by mistake, are nowhere in the job tables', async () => {
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const canary = `canary${randomBytes(6).toString('hex')}`
  const order = { firstName: canary, email: `${canary}@example.com`, mobile: '9300000001' }
  const seen = await asSuperuser(service.db.database, async (db) => {
    const dump = async () => {
      const { rows } = await db.query(
        `select j::text || r::text || convert_from(decode(replace(encode(coalesce(content, ''), 'hex'), '00', ''), 'hex'), 'latin1') as row
         from bulk_jobs j join bulk_rows r using (job_id) where j.partner_id = $1`,
        [partner.partnerId],
      )
      return rows.map(({ row }) => row as string)
    }
    // A lock on the partner's funding account keeps the orders waiting.
    await db.query('begin')
    await db.query('select from ledger_accounts where tenant_id = $1 for update', [partner.partnerId])
    const { jobId } = payloadOf(
      await upload(client, [await encryptOrder(partner, order), JSON.stringify(order)]),
    )
    const waiting = await dump()
    await db.query('rollback')
    await done(client, jobId)
    return [waiting, await dump()]
  })
  expect(seen.map((rows) => rows.length)).toEqual([2, 2])
  expect(seen.flat().filter((row) => row.includes(canary))).toEqual([])
  expect(service.logged()).not.toContain(canary)
  expect(await cardsOf(service.db.database, partner)).toHaveLength(1)
})

if (LONG)
  test('single orders have priority: while 8 callers send 400 of them, a bulk job of the same partner completes fewer, but some', async () => {
    const partner = await newPartner(service, RICH)
    const client = await asPartner(service.client, partner)
    const { jobId } = payloadOf(await upload(client, await encryptOrders(partner, 3_000)))
    const { done: before } = await until(client, jobId, (job) => job.done > 0)
    const caller = async (_: unknown, n: number) => {
      for (let i = 0; i < 50; i++)
        payloadOf(
          await createCard(client, partner, { mobile: String(8_000_000_000 + n * 50 + i), loadAmount: 1 }),
        )
    }
    await Promise.all(Array.from({ length: 8 }, caller))
    const during = (await progress(client, jobId)).done - before
    expect(during).toBeLessThan(400)
    expect(await done(client, jobId)).toMatchObject({ issued: 3_000 })
    expect(await cardsOf(service.db.database, partner)).toHaveLength(3_400)
  }, 180_000)

if (LONG)
  test('three processes share a job and each order is executed once', async () => {
    const partner = await newPartner(service, RICH)
    const others = [await openService({ db: service.db }), await openService({ db: service.db })]
    const client = await asPartner(service.client, partner)
    const { jobId } = payloadOf(await upload(client, await encryptOrders(partner, 1_500)))
    expect(await done(client, jobId)).toMatchObject({ issued: 1_500 })
    const reported = (await results(client, jobId)).map(({ svcCardId }) => svcCardId)
    expect((await cardsOf(service.db.database, partner)).sort()).toEqual(reported.sort())
    expect((await reconcile(service.app.services.database)).ok).toBe(true)
    for (const other of others) await other.close()
  }, 180_000)
