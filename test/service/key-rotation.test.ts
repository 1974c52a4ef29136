import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { sealOrders, upload } from '../harness/bulk.ts'
import { runHere } from '../harness/cli.ts'
import { type Client, Client as HttpClient, type Json, payloadOf } from '../harness/client.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { runCli, type ServiceProcess, startProcess } from '../harness/processes.ts'
import { newCode } from '../harness/qr-codes.ts'
import { asSuperuser, MASTER_KEY, openService, type TestService } from '../harness/service.ts'
import { verifyDelivery, WebhookReceiver } from '../harness/webhook-receiver.ts'

// The service and the command line on one database, each a process of its own where that matters.
let service: TestService
let dataDir: string
let env: Record<string, string>

// Minutes on a machine that does much else: processes start, and a rotation waits for every process.
vi.setConfig({ testTimeout: 240_000 })

beforeAll(async () => {
  service = await openService({ env: { BULK_CHUNK_ROWS: '1' } })
  dataDir = await mkdtemp(join(tmpdir(), 'svc-cli-'))
  env = {
    DATABASE_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    DATA_DIR: dataDir,
    COMMAND_TIMEOUT_MS: '1000',
  }
})
afterAll(async () => {
  await service.close()
  await rm(dataDir, { recursive: true, force: true })
})

async function svc(...args: string[]): Promise<Json> {
  const { code, stdout, stderr } = await runHere([...args, '--json'], env)
  expect(code, `svc ${args.join(' ')}: ${stderr}`).toBe(0)
  return JSON.parse(stdout)
}
const refusal = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runHere(args, env)
  expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: '' })
  return stderr.trim()
}
const file = async (name: string, text: string): Promise<string> => {
  await writeFile(join(dataDir, name), text)
  return join(dataDir, name)
}

const statesOf = async (purpose: string): Promise<Json[]> =>
  (await svc('keys', 'list')).filter((key: Json) => key.purpose === purpose)

test('card numbers are sealed anew under a new key while cards are issued; no card fails, the former key is unused and retired', async () => {
  const processes: ServiceProcess[] = [await startProcess(env), await startProcess(env)]
  const partner = await newPartner(service)
  const clients: Client[] = await Promise.all(
    processes.map(async ({ baseUrl }) => asPartner(await HttpClient.open(baseUrl), partner)),
  )
  const [former] = await statesOf('card_number')
  let rotated = false
  const rotation = runCli(['keys', 'rotate', 'card_number', '--json'], env).finally(() => (rotated = true))
  const issue = async (client: Client): Promise<number> => {
    let issued = 0
    for (; !rotated; issued++) payloadOf(await createCard(client, partner, { loadAmount: 1 }))
    return issued
  }
  const counts = await Promise.all(clients.map(issue))
  const { stdout, stderr } = await rotation
  expect(stderr).toContain('rows sealed anew')
  const done = JSON.parse(stdout)
  expect(Math.min(...counts)).toBeGreaterThan(0)
  expect(done).toMatchObject({ retired: former.keyId, kept: '' })
  expect(done.resealed).toBeGreaterThan(0)
  expect(await statesOf('card_number')).toMatchObject([
    { keyId: former.keyId, state: 'retired', rows: 0 },
    { keyId: done.keyId, state: 'seals' },
  ])
  for (const process of processes) expect((await process.end('SIGTERM')).code).toBe(0)
  const { keyring, database } = service.app.services
  await keyring.refresh()
  const cards = await database.operate((tx) =>
    tx.query<{ svc_card_id: string; number_sealed: Buffer; number_digest: Buffer }>({
      name: 'test_numbers',
      text: 'select svc_card_id, number_sealed, number_digest from cards',
    }),
  )
  expect(cards.length).toBeGreaterThanOrEqual(counts[0]! + counts[1]!)
  for (const { svc_card_id: id, number_sealed: sealed, number_digest: digest } of cards) {
    expect(sealed.toString('latin1').startsWith(done.keyId)).toBe(true)
    expect(keyring.digest('card_number_digest', keyring.open('card_number', sealed, id).toString())).toEqual(
      digest,
    )
  }
})

test.concurrent('a rotation of the published keys: new tokens and seals use the new ones, old ones go on until they are retired', async () => {
  const partner = await newPartner(service)
  const before = await asPartner(service.client, partner)
  const oldKeys = await file(
    'old-jwks.json',
    await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).text(),
  )
  const order = await file(
    'o.json',
    JSON.stringify({ companyId: partner.companyId, cardAccountId: partner.cardAccountId }),
  )
  const [rsa, signing] = await Promise.all([
    svc('keys', 'rotate', 'seal_rsa'),
    svc('keys', 'rotate', 'token_signing'),
  ])
  expect([rsa.retired, signing.retired]).toEqual(['', ''])
  await service.app.services.keyring.refresh()
  const after = await asPartner(service.client, partner)
  const jwks: Json[] = JSON.parse(await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).text()).keys
  expect(jwks.filter(({ alg }) => alg === 'RSA-OAEP-256')).toHaveLength(2)
  const sealOld = async () => (await svc('seal', order, '--key', oldKeys, '--alg', 'RSA-OAEP-256')).jwe
  payloadOf(await after.post('/api/v0/partner/svcCard', await sealOld()))
  payloadOf(
    await before.get(`/api/v0/partner/svcCard/${payloadOf(await createCard(before, partner)).svcCardId}`),
  )
  expect(await refusal('keys', 'retire', rsa.keyId)).toContain('the key that seals')

  await svc('keys', 'retire', rsa.kept)
  await svc('keys', 'retire', signing.kept)
  await service.app.services.keyring.refresh()
  expect(await after.post('/api/v0/partner/svcCard', await sealOld())).toMatchObject({
    status: 400,
    error: 'seal_rejected',
  })
  expect((await before.get('/api/v0/partner/svcCard/x')).status).toBe(401)
  expect((await after.get('/api/v0/partner/svcCard/x')).status).toBe(404)
})

test.concurrent('keys of webhook secrets, webhook signatures and waiting orders are replaced while events are delivered; every delivery verifies', async () => {
  const receiver = await WebhookReceiver.open()
  const merchant = await service.newMerchant()
  const tenant = await service.as(merchant)
  const { secret } = payloadOf(
    await tenant.post('/api/v0/webhook-endpoints', {
      url: receiver.url('/rotated'),
      headers: { Authorization: 'Bearer mine' },
    }),
  )
  const partner = await newPartner(service)
  const orderer = await asPartner(service.client, partner)
  const switchPartner = (disabled: boolean) =>
    asSuperuser(service.db.database, (db) =>
      db.query('update tenants set disabled_at = case when $2 then now() end where tenant_id = $1', [
        partner.partnerId,
        disabled,
      ]),
    )
  // The orders of a disabled partner wait.
  const lines = await sealOrders(partner, 100)
  const { jobId } = (await upload(orderer, lines)).json.payload
  await switchPartner(true)
  let rotating = true
  const purposes = ['webhook_secret', 'webhook_signing', 'bulk_row']
  const runs = Promise.all(
    purposes.map((purpose) => runCli(['keys', 'rotate', purpose, '--json'], env)),
  ).finally(() => (rotating = false))
  let made = 0
  // Each with a fresh token: the test beside this one retires the key that signed the first ones.
  for (; rotating; made++) await newCode(service, await service.as(merchant))
  const results = (await runs).map(({ stdout, stderr }) => {
    expect(stderr).not.toContain('Error')
    return JSON.parse(stdout)
  })
  expect(results.map(({ purpose }) => purpose)).toEqual(purposes)
  const [secrets, signing, orders] = results
  // Retired is only what no row needs any more.
  expect(secrets).toMatchObject({ kept: '', retired: expect.stringMatching(/^dk_/) })
  expect(secrets.resealed).toBeGreaterThanOrEqual(2)
  expect(orders).toMatchObject({ kept: '', retired: expect.stringMatching(/^dk_/) })
  expect(orders.resealed).toBeGreaterThan(0)
  expect(signing).toMatchObject({ retired: '', kept: expect.stringMatching(/^dk_/) })
  await service.app.services.keyring.refresh()
  await switchPartner(false)
  // Not over the API, which goes on refusing the partner for up to a second.
  const finished = () =>
    asSuperuser(service.db.database, (db) =>
      db.query('select issued, failed from bulk_jobs where job_id = $1 and finished_at is not null', [jobId]),
    )
  for (let job = await finished(); ; job = await finished()) {
    if (job.rows.length === 0) continue
    expect(job.rows).toEqual([{ issued: 100, failed: 0 }])
    break
  }
  await receiver.until(() => receiver.at('/rotated').length >= made)
  const { keys } = (await service.client.get('/.well-known/webhook-keys.json')).json
  expect(keys).toHaveLength(2)
  for (const delivery of receiver.at('/rotated')) {
    verifyDelivery(delivery, secret)
    expect(delivery.headers['authorization']).toBe('Bearer mine')
  }
  const [last] = receiver.at('/rotated').slice(-1)
  expect(last!.headers['webhook-signature']!.match(/v1a,/g)).toHaveLength(2)
  await receiver.close()
})
