import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeBackup } from '@svc/app/backup/write-backup'
import { CAPSULE_VERSION, type CapsuleManifest } from '@svc/app/capsule/capsule'
import { type Capsule, readCapsule, writeCapsule } from '@svc/app/capsule/capsule-file'
import { CapsuleWorld, type WorldOrigin } from '@svc/app/capsule/capsule-world'
import { newSeed, Recorder } from '@svc/app/capsule/record'
import { replay } from '@svc/app/capsule/replay'
import { Secret } from '@svc/kernel/secret'
import { MasterKeys } from '@svc/platform/crypto/master-keys'
import { openLog } from '@svc/platform/log'
import { Partner } from '@svc/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../harness/cli.ts'
import { Client } from '../harness/client.ts'
import { openSandbox, type SandboxService } from '../harness/conformance.ts'
import { blocksOf } from '../harness/guides.ts'
import { MASTER_KEY, newDatabase, tokenOf } from '../harness/service.ts'

/** Each opens the service twice, on databases that are migrated first. */
const PATIENCE_MS = 240_000

let from: SandboxService
let folder: string
const log = openLog('warn', process.stderr)

beforeAll(async () => {
  from = await openSandbox()
  folder = await mkdtemp(join(tmpdir(), 'svc-capsules-'))
})

afterAll(async () => {
  await from.service.close()
  await rm(folder, { recursive: true, force: true })
})

async function openWorld(origin: WorldOrigin, snapshotFile: string): Promise<CapsuleWorld> {
  const { host, port, database } = await newDatabase()
  return CapsuleWorld.open({ origin, address: { host, port, database }, dataDir: folder, snapshotFile, log })
}

/** Records what is sent to the address, and returns the capsule as it is read from its file. */
async function recorded(name: string, act: (client: Client) => Promise<void>): Promise<Capsule> {
  const { config } = from.service.app.services
  const masterKeys = new MasterKeys(config.SVC_MASTER_KEY ?? [new Secret(MASTER_KEY)])
  const snapshotFile = join(folder, `${name}.tar`)
  const { host, port, database } = from.service.db
  await writeBackup({
    address: { host, port, database },
    masterKeys,
    file: snapshotFile,
    serviceVersion: '0',
  })
  const startedAtMs = Date.now()
  const origin = {
    baseUrl: from.sandbox.baseUrl,
    seed: newSeed(),
    startedAtMs,
    masterKeys: MASTER_KEY,
    settings: {},
  }
  const recorder = await Recorder.listen({ host: '127.0.0.1', port: 0, startedAtMs })
  const world = await openWorld(origin, snapshotFile)
  recorder.start(world)
  try {
    await act(await Client.open(`http://127.0.0.1:${recorder.port}`))
  } finally {
    await recorder.stop()
    await world.close()
  }
  const manifest: CapsuleManifest = {
    format: 'svc-capsule',
    formatVersion: CAPSULE_VERSION,
    mode: 'sandbox',
    serviceVersion: '0',
    recordedAt: new Date(startedAtMs).toISOString(),
    ...origin,
    rounds: recorder.rounds,
  }
  const file = join(folder, `${name}.capsule`)
  await writeCapsule(file, manifest, snapshotFile, recorder.exchanges)
  return readCapsule(file, `${snapshotFile}.read`)
}

async function replayed(name: string, capsule: Capsule) {
  const world = await openWorld(capsule.manifest, join(folder, `${name}.tar.read`))
  try {
    return await replay(capsule, world)
  } finally {
    await world.close()
  }
}

const asMerchant = async (client: Client): Promise<Client> =>
  client.with({ authorization: `Bearer ${await tokenOf(client, from.sandbox.merchant.apiKey)}` })

test(
  'the tutorial, recorded and replayed by the command line, is the same byte for byte',
  async () => {
    const { config } = from.service.app.services
    const settings = {
      DATABASE_URL: from.service.db.url,
      SVC_MASTER_KEY: MASTER_KEY,
      DATA_DIR: config.DATA_DIR,
    }
    const file = join(folder, 'tutorial.capsule')
    // What the pages do with the program of the command line is not recorded.
    const blocks = (await blocksOf('tutorial/first-token-and-qr-code.md', 'sh'))
      .map(({ code }) => code)
      .filter((code) => !code.includes('svc.mjs'))
    const script = `cd "$(mktemp -d -p '${folder}')"; export TMPDIR="$PWD"; ln -s "$DATA_DIR" data; { ${blocks.join('\n')}\n} > out`
    const recording = await runHere(
      ['sandbox', 'record', file, '--port', '0', '--', 'bash', '-euc', script],
      settings,
    )
    expect(recording.code, recording.stderr).toBe(0)
    expect(recording.stdout).toMatch(/requests +9\b/)
    // On another database, in another folder: only the file is the same.
    const again = await runHere(['sandbox', 'replay', file], { DATA_DIR: folder })
    expect(again, again.stderr).toMatchObject({ code: 0, stdout: 'The same, 9 of 9 byte for byte.\n' })
  },
  PATIENCE_MS,
)

test(
  'a race is replayed in the order in which it was decided, and the first response that differs is shown',
  async () => {
    let raced: string[] = []
    const capsule = await recorded('race', async (client) => {
      const merchant = await asMerchant(client)
      const code = await merchant.post('/api/v0/qr-code', { qrName: 'Counter', amount: 5, fixedAmount: true })
      const { qrCodeId } = code.json.payload
      const responses = await Promise.all([
        ...['asha@bank', 'ravi@bank'].map((payerVpa) =>
          client.post('/sandbox/upi/pay', { qrCodeId, payerVpa }),
        ),
        ...[1, 2].map(() => merchant.patch(`/api/v0/qr-code/${qrCodeId}/cancel`, {})),
      ])
      raced = responses.map(({ text }) => text)
      await merchant.get(`/api/v0/qr-code/${qrCodeId}/payments`)
      await merchant.get('/api/v0/events?limit=100')
    })
    expect(capsule.manifest.rounds.some(({ requests }) => requests.length > 1)).toBe(true)
    expect(raced).toHaveLength(4)
    const last = capsule.exchanges.get(capsule.exchanges.size)!
    const body = Buffer.from(last.response.body.toString().replace('"Success"', '"Failure"'))
    const altered = new Map(capsule.exchanges)
    altered.set(last.request.number, { ...last, response: { ...last.response, body } })
    const { same, total, first } = await replayed('race', { ...capsule, exchanges: altered })
    expect({ same, total }).toEqual({ same: total - 1, total: capsule.exchanges.size })
    expect(first?.exchange.request).toMatchObject({ number: total, target: '/api/v0/events?limit=100' })
    expect(first?.difference).toMatchObject({
      what: expect.stringMatching(/^body, from byte \d+ on$/),
      recorded: expect.stringContaining('"Failure"'),
      replayed: expect.stringContaining('"Success"'),
    })
  },
  PATIENCE_MS,
)

test(
  'a month by test clock, with encrypted responses, is the same byte for byte',
  async () => {
    const { incentivePartner, merchant, qrCodeId } = from.sandbox
    const capsule = await recorded('month', async (client) => {
      await client.post('/sandbox/upi/pay', { qrCodeId, amount: 75, payerVpa: 'asha@bank' })
      for (const tenantId of [merchant.merchantId, incentivePartner.partnerId])
        await client.post(`/sandbox/tenants/${tenantId}/clock/advance`, { bySeconds: 31 * 86_400 })
      const later = await asMerchant(client)
      await later.get('/api/v0/payouts')
      await later.get(`/api/v0/qr-code/${qrCodeId}`)
      const { partnerId, clientId, clientSecret, companyId, cardAccountId, sharedKey } = incentivePartner
      const partner = new Partner({
        baseUrl: client.baseUrl,
        allowPlainHttp: true,
        partnerId,
        clientId,
        clientSecret,
        decryptResponsesWith: sharedKey,
      })
      await partner.cards.create({ companyId, cardAccountId, loadAmount: '10', firstName: 'Asha' })
      await later.get('/api/v0/events?limit=100')
    })
    expect([...capsule.exchanges.values()].some(({ response }) => response.plaintext)).toBe(true)
    const { same, total, notCompared, first } = await replayed('month', capsule)
    expect(first).toBeUndefined()
    expect({ same, notCompared }).toEqual({ same: total, notCompared: [] })
  },
  PATIENCE_MS,
)

test('a capsule of live mode is refused, and live mode neither records nor replays', async () => {
  const file = join(folder, 'live.capsule')
  const manifest = { format: 'svc-capsule', formatVersion: 1, mode: 'live', rounds: [] } as unknown
  await writeCapsule(file, manifest as CapsuleManifest, import.meta.filename, [])
  const refused = await runHere(['sandbox', 'replay', file], { DATA_DIR: folder })
  expect(refused).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('it is of live mode'),
  })
  const live = { SVC_MODE: 'live', SVC_MASTER_KEY: MASTER_KEY, DATABASE_URL: from.service.db.url }
  for (const args of [
    ['replay', file],
    ['record', join(folder, 'never.capsule')],
  ]) {
    const { code, stderr } = await runHere(['sandbox', ...args], live)
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('sandbox only') })
  }
})
