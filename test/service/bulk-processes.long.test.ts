import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { reconcile } from '@svc/core/ledger/reconcile'
import { expect, test } from 'vitest'
import { cardsOf, done, encryptOrders, progress, RICH, results, until, upload } from '../harness/bulk.ts'
import { Client, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { runCli, startProcess } from '../harness/processes.ts'
import { asSuperuser, MASTER_KEY, newDatabase, openService } from '../harness/service.ts'

test('kill -9 midway, also between a card and its result, and even when the stored responses are deleted: each order once', async () => {
  const db = await newDatabase()
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-bulk-'))
  const env = {
    DATABASE_URL: db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    DATA_DIR: dataDir,
    BULK_LEASE_MS: '1000',
    BULK_CHUNK_ROWS: '16',
  }
  const setUp = await openService({ db })
  const partner = await newPartner(setUp, RICH)
  await setUp.close()
  const begin = async () => {
    const running = await startProcess(env)
    return { running, client: await asPartner(await Client.open(running.baseUrl), partner) }
  }

  const first = await begin()
  const { jobId } = payloadOf(await upload(first.client, await encryptOrders(partner, 2_400)))
  await until(first.client, jobId, (job) => job.done > 0)
  // Whoever holds the job's row keeps results from being recorded, not cards from being issued.
  await asSuperuser(db.database, async (admin) => {
    await admin.query('begin')
    const { rows } = await admin.query('select issued from bulk_jobs where job_id = $1 for update', [jobId])
    while ((await cardsOf(db.database, partner)).length <= rows[0].issued) await sleep(10)
    expect(await first.running.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
    await admin.query('delete from idempotency_keys where tenant_id = $1', [partner.partnerId])
    await admin.query('commit')
  })

  const second = await begin()
  const { done: before } = await progress(second.client, jobId)
  const halfWay = await until(second.client, jobId, (job) => job.done > before)
  expect(halfWay.status).toBe('RUNNING')
  await second.running.end('SIGKILL')

  const third = await begin()
  expect(await done(third.client, jobId)).toMatchObject({ rows: 2_400, issued: 2_400, failed: 0 })
  const reported = (await results(third.client, jobId)).map(({ svcCardId }) => svcCardId)
  expect(new Set(reported).size).toBe(2_400)
  expect((await cardsOf(db.database, partner)).sort()).toEqual(reported.sort())
  expect(await third.running.end('SIGTERM')).toMatchObject({ code: 0 })

  const check = await openService({ db })
  expect((await reconcile(check.app.services.database)).ok).toBe(true)
  await check.close()
  await rm(dataDir, { recursive: true, force: true })
}, 180_000)

test('svc cards load names line and field of every error and sends nothing; run again it loads nothing twice', async () => {
  const service = await openService()
  const dir = await mkdtemp(join(tmpdir(), 'svc-load-'))
  const partner = await newPartner(service, { ...RICH, accountType: 'MEAL' })
  const client = await asPartner(service.client, partner)
  const { svcCardId } = payloadOf(await createCard(client, partner, { loadAmount: 100 }))
  const { kid, key } = partner.sharedKey
  const k = key.export().toString('base64url')
  const [csv, keyFile] = [join(dir, 'loads.csv'), join(dir, 'partner.json')]
  await writeFile(keyFile, JSON.stringify({ ...partner, baseUrl: service.baseUrl, sharedKey: { kid, k } }))
  const load = () => runCli(['cards', 'load', '--file', csv, '--key', keyFile, '--json'], {})
  const header = 'svcCardId,amount,referenceNumber,reason\n'
  await writeFile(csv, `${header}${svcCardId},"1,50",a,\n${svcCardId},1,b c,\n${svcCardId},1,a,\n`)
  const refused = await load()
  expect(refused.code).toBe(1)
  for (const problem of [
    'line 2: amount must be',
    'line 3: referenceNumber must have',
    'line 4: referenceNumber is that of line 2',
  ])
    expect(refused.stderr).toContain(problem)

  const rows = Array.from({ length: 30 }, (_, i) => `${svcCardId},1.50,load-${i},"April, ${i}"`)
  await writeFile(csv, `${header}${rows.join('\n')}\ncard_nothing,1,none,\n`)
  for (const _ of ['first', 'again']) {
    const run = await load()
    expect([run.code, JSON.parse(run.stdout)]).toMatchObject([1, { rows: 31, loaded: 30, failed: 1 }])
    expect(await readFile(`${csv}.results.csv`, 'utf8')).toMatch(/\n32,FAILED,,,card_not_found,/)
    const { accountBalance } = payloadOf(await client.get(`/api/v0/partner/svcCard/${svcCardId}`))
    expect(accountBalance).toBe(145)
  }
  await service.close()
  await rm(dir, { recursive: true, force: true })
}, 180_000)

test('svc cards issue names line and field of every error and sends nothing; run again after an interruption it issues nothing twice', async () => {
  const service = await openService()
  const dir = await mkdtemp(join(tmpdir(), 'svc-issue-'))
  const partner = await newPartner(service, RICH)
  const { kid, key } = partner.sharedKey
  const k = key.export().toString('base64url')
  const [csv, keyFile] = [join(dir, 'orders.csv'), join(dir, 'partner.json')]
  await writeFile(keyFile, JSON.stringify({ ...partner, baseUrl: service.baseUrl, sharedKey: { kid, k } }))
  const issue = () => runCli(['cards', 'issue', '--file', csv, '--key', keyFile, '--json'], {})
  const header = 'mobile,firstName,loadAmount,physicalCard\n'

  await writeFile(csv, `${header}12,Ann,100,maybe\n9400000001,Bo,1.5,\n`)
  const refused = await issue()
  expect(refused.code).toBe(1)
  for (const problem of [
    'line 2: mobile must be exactly 10 digits',
    'line 2: physicalCard must be a boolean',
    'line 3: loadAmount must be a whole number',
  ])
    expect(refused.stderr).toContain(problem)
  expect(await cardsOf(service.db.database, partner)).toEqual([])

  const rows = Array.from(
    { length: 40 },
    (_, i) => `${9_400_000_000 + i},"Bo, ${i}",${i === 7 ? 10_000 : 100},`,
  )
  const unknownUser = ',,,'
  await writeFile(
    csv,
    `${header.trim()},userId\n${rows.map((row) => `${row},`).join('\n')}\n${unknownUser},usr_unknown\n`,
  )
  const first = await issue()
  expect([first.code, JSON.parse(first.stdout)]).toMatchObject([1, { rows: 41, issued: 40, failed: 1 }])
  const reported = await readFile(`${csv}.results.csv`, 'utf8')
  expect(reported).toMatch(/\n42,FAILED,,user_not_found,/)
  for (const svcCardId of await cardsOf(service.db.database, partner)) expect(reported).toContain(svcCardId)
  // As a run leaves it that was killed after its upload was taken and before it had the answer.
  const state = JSON.parse(await readFile(`${csv}.issue.json`, 'utf8'))
  for (const chunk of state.chunks) delete chunk.jobId
  await writeFile(`${csv}.issue.json`, JSON.stringify(state))
  await rm(`${csv}.results.csv`)
  expect(JSON.parse((await issue()).stdout)).toMatchObject({ issued: 40, failed: 1 })
  expect(await readFile(`${csv}.results.csv`, 'utf8')).toBe(reported)
  expect(await cardsOf(service.db.database, partner)).toHaveLength(40)

  await writeFile(csv, `${header}9400000099,Cy,100,\n`)
  const changed = await issue()
  expect([changed.code, changed.stderr]).toEqual([1, expect.stringContaining('The file has changed')])
  await service.close()
  await rm(dir, { recursive: true, force: true })
}, 180_000)
