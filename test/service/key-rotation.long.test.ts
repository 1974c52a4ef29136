import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CARD_NUMBERS } from '@svc/core/cards/card/reencrypt-card-numbers'
import { reencryptSome } from '@svc/platform/crypto/key-rotation'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { encryptOrders, progress, upload } from '../harness/bulk.ts'
import { runHere } from '../harness/cli.ts'
import { type Client, Client as HttpClient, type Json, payloadOf } from '../harness/client.ts'
import { insertManyCards, manyCardId } from '../harness/many-cards.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
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
  (await svc('admin', 'keys', 'list')).filter((key: Json) => key.purpose === purpose)

/** How many cards there are when their key is rotated. Promise C7 is tested with 100000. */
const ROWS = Number(process.env['KEY_ROTATION_ROWS'] ?? 4_000)

/** Cards with numbers that open, many at once. */
async function manyCards(partner: TestPartner): Promise<void> {
  const { keyring } = service.app.services
  await asSuperuser(service.db.database, async (admin) => {
    await insertManyCards(admin, partner, 1, ROWS)
    for (let from = 1; from <= ROWS; from += 5_000) {
      const ids = Array.from({ length: Math.min(5_000, ROWS - from + 1) }, (_, n) => manyCardId(from + n))
      const numbers = ids.map((id) => `999912${id.slice(-10)}`)
      await admin.query(
        `update cards c set number_encrypted = n.encrypted, number_digest = n.digest
         from unnest($1::text[], $2::bytea[], $3::bytea[]) n (id, encrypted, digest) where c.svc_card_id = n.id`,
        [
          ids,
          ids.map((id, n) => keyring.encrypt('card_number', Buffer.from(numbers[n]!), id)),
          numbers.map((number) => keyring.digest('card_number_digest', number)),
        ],
      )
    }
  })
}

test('card numbers are re-encrypted under a new key while cards are issued and read; a killed rotation is resumed; no call fails, and the previous key is unused and retired', async () => {
  const processes: ServiceProcess[] = [await startProcess(env), await startProcess(env)]
  const partner = await newPartner(service, { fundsPaise: BigInt(ROWS + 10_000) * 50_000n })
  await manyCards(partner)
  const clients: Client[] = await Promise.all(
    processes.map(async ({ baseUrl }) => asPartner(await HttpClient.open(baseUrl), partner)),
  )
  const [previous] = await statesOf('card_number')
  let rotated = false
  const rotate = async () => {
    const command = ['admin', 'keys', 'rotate', 'card_number', '--json']
    const killed = await runCli(command, env, {
      when: (stderr) => stderr.includes('rows encrypted again'),
    })
    const left = (await statesOf('card_number')).find(({ keyId }) => keyId === previous.keyId)
    return { killed, left, resumed: await runCli(command, env) }
  }
  const rotation = rotate().finally(() => (rotated = true))
  const issue = async (client: Client): Promise<number> => {
    let issued = 0
    for (; !rotated; issued++) payloadOf(await createCard(client, partner, { loadAmount: 1 }))
    return issued
  }
  const read = async (client: Client): Promise<number> => {
    let found = 0
    for (; !rotated; found++) {
      const id = manyCardId(1 + ((found * 7_919) % ROWS))
      expect(payloadOf(await client.get(`/api/v0/partner/svcCard/${id}`)).svcCardId).toBe(id)
    }
    return found
  }
  const counts = await Promise.all(clients.flatMap((client) => [issue(client), read(client)]))
  const { killed, left, resumed } = await rotation
  expect(killed.code).toBeNull()
  expect(left!.rows).toBeGreaterThan(0)
  // Among the cards of before are those that were issued until the new key took effect.
  const before = Number(/of (\d+) rows encrypted again/.exec(killed.stderr)![1])
  expect(before).toBeGreaterThanOrEqual(ROWS)
  expect(left!.rows).toBeLessThan(before)
  expect(resumed.stderr).toContain('going on with it')
  expect(resumed.stderr).toMatch(/[1-9]\d* of [1-9]\d* rows encrypted again/)
  const done = JSON.parse(resumed.stdout)
  expect(Math.min(...counts)).toBeGreaterThan(0)
  expect(done).toMatchObject({ retired: previous.keyId, kept: '' })
  expect(done.reencrypted).toBeGreaterThanOrEqual(left!.rows)
  expect(await statesOf('card_number')).toMatchObject([
    { keyId: previous.keyId, state: 'retired', rows: 0 },
    { keyId: done.keyId, state: 'encrypts' },
  ])
  for (const process of processes) expect((await process.end('SIGTERM')).code).toBe(0)
  const { keyring, database } = service.app.services
  await keyring.refresh()
  const cards = await database.operate((tx) =>
    tx.query<{ svc_card_id: string; number_encrypted: Buffer; number_digest: Buffer }>({
      name: 'test_numbers',
      text: 'select svc_card_id, number_encrypted, number_digest from cards',
    }),
  )
  expect(cards.length).toBeGreaterThanOrEqual(ROWS + counts[0]! + counts[2]!)
  const wrong = cards.filter(
    ({ svc_card_id: id, number_encrypted: encrypted, number_digest: digest }) =>
      !encrypted.toString('latin1').startsWith(done.keyId) ||
      !keyring
        .digest('card_number_digest', keyring.open('card_number', encrypted, id).toString())
        .equals(digest),
  )
  expect(wrong).toEqual([])
  if (process.env['KEY_ROTATION_ROWS']) console.log({ ROWS, calls: counts, left: left!.rows, ...done })
}, 1_200_000)

test.concurrent('a rotation of the published keys: new tokens and JWEs use the new keys, old ones stay valid until they are retired', async () => {
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
    svc('admin', 'keys', 'rotate', 'encryption_rsa'),
    svc('admin', 'keys', 'rotate', 'token_signing'),
  ])
  expect([rsa.retired, signing.retired]).toEqual(['', ''])
  await service.app.services.keyring.refresh()
  const after = await asPartner(service.client, partner)
  const jwks: Json[] = JSON.parse(await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).text()).keys
  expect(jwks.filter(({ alg }) => alg === 'RSA-OAEP-256')).toHaveLength(2)
  const encryptOld = async () => (await svc('encrypt', order, '--key', oldKeys, '--alg', 'RSA-OAEP-256')).jwe
  payloadOf(await after.post('/api/v0/partner/svcCard', await encryptOld()))
  payloadOf(
    await before.get(`/api/v0/partner/svcCard/${payloadOf(await createCard(before, partner)).svcCardId}`),
  )
  expect(await refusal('admin', 'keys', 'retire', rsa.keyId)).toContain('the key that encrypts')

  await svc('admin', 'keys', 'retire', rsa.kept)
  await svc('admin', 'keys', 'retire', signing.kept)
  await service.app.services.keyring.refresh()
  expect(await after.post('/api/v0/partner/svcCard', await encryptOld())).toMatchObject({
    status: 400,
    error: 'decryption_failed',
  })
  expect((await before.get('/api/v0/partner/svcCard/x')).status).toBe(401)
  expect((await after.get('/api/v0/partner/svcCard/x')).status).toBe(404)
})

const WAITING_PURPOSES = ['webhook_secret', 'webhook_signing', 'bulk_row']

/** Rotates the keys of what waits to be sent or carried out, and goes on making events until that is done. */
async function rotateWhile(makeEvent: () => Promise<unknown>): Promise<{ results: Json[]; made: number }> {
  let rotating = true
  const runs = Promise.all(
    WAITING_PURPOSES.map((purpose) => runCli(['admin', 'keys', 'rotate', purpose, '--json'], env)),
  ).finally(() => (rotating = false))
  let made = 0
  // Each with a fresh token: the test beside this one retires the key that signed the first ones.
  for (; rotating; made++) await makeEvent()
  const results = (await runs).map(({ stdout, stderr }) => {
    expect(stderr).not.toContain('Error')
    return JSON.parse(stdout)
  })
  return { results, made }
}

test.concurrent('keys of webhook secrets, webhook signatures and waiting orders are replaced while events are delivered; every delivery verifies', async ({
  expect,
}) => {
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
  const lines = await encryptOrders(partner, 100)
  // A lock on the partner's funding account keeps the orders waiting.
  const { jobId, results, made } = await asSuperuser(service.db.database, async (admin) => {
    await admin.query('begin')
    await admin.query('select from ledger_accounts where tenant_id = $1 for update', [partner.partnerId])
    const { jobId } = payloadOf(await upload(orderer, lines))
    const rotated = await rotateWhile(async () => newCode(service, await service.as(merchant)))
    await admin.query('rollback')
    return { jobId, ...rotated }
  })
  expect(results.map(({ purpose }) => purpose)).toEqual(WAITING_PURPOSES)
  const [secrets, signing, orders] = results
  // Retired is only what no row needs any more.
  expect(secrets).toMatchObject({ kept: '', retired: expect.stringMatching(/^dk_/) })
  expect(secrets.reencrypted).toBeGreaterThanOrEqual(2)
  expect(orders).toMatchObject({ kept: '', retired: expect.stringMatching(/^dk_/) })
  expect(orders.reencrypted).toBeGreaterThan(0)
  expect(signing).toMatchObject({ retired: '', kept: expect.stringMatching(/^dk_/) })
  await service.app.services.keyring.refresh()
  // Another test retires the key that signed a token: each look takes a token of its own.
  const look = async () => progress(await asPartner(service.client, partner), jobId)
  await expect.poll(look, { timeout: 60_000 }).toMatchObject({ status: 'DONE', issued: 100, failed: 0 })
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

test('a card that is locked for longer than a command would wait is still re-encrypted', async () => {
  const own = await openService()
  try {
    const { database, keyring } = own.app.services
    const partner = await newPartner(own)
    const { svcCardId } = payloadOf(await createCard(await asPartner(own.client, partner), partner))
    await database.write([], (tx) => keyring.add(tx, 'card_number', 0, randomBytes(32)))
    await keyring.refresh()
    const encrypted = await asSuperuser(own.db.database, async (admin) => {
      await admin.query('begin')
      await admin.query('select from cards where svc_card_id = $1 for update', [svcCardId])
      const reencrypting = reencryptSome(database, keyring, CARD_NUMBERS, '')
      await sleep(2_500)
      await admin.query('commit')
      return reencrypting
    })
    expect(encrypted.rows).toBe(1)
  } finally {
    await own.close()
  }
})
