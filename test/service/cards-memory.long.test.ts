import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Client, payloadOf } from '../harness/client.ts'
import {
  asPartner,
  CREATE,
  encryptFor,
  JOSE,
  newPartner,
  SEARCH,
  type TestPartner,
} from '../harness/partner.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import {
  asSuperuser,
  MASTER_KEY,
  openService,
  type TestMerchant,
  type TestService,
  tokenOf,
} from '../harness/service.ts'

// The program that ships, in live mode: it creates no demo tenants, whose secrets a sandbox may keep.
const BIN = '999913'
const CARDS = 8
let service: TestService
let dataDir: string
let built: ServiceProcess
let partner: TestPartner
let merchant: TestMerchant
let walFrom: string

const valueOf = async (text: string): Promise<string> => {
  const { rows } = await asSuperuser(service.db.database, (db) => db.query<{ value: string }>(text))
  return rows[0]!.value
}

beforeAll(async () => {
  service = await openService({ env: { CARD_BIN: BIN } })
  walFrom = await valueOf('select pg_walfile_name(pg_current_wal_lsn()) as value')
  partner = await newPartner(service)
  merchant = await service.newMerchant()
  dataDir = await mkdtemp(join(tmpdir(), 'svc-memory-'))
  built = await startProcess({
    SVC_MODE: 'live',
    CARD_BIN: BIN,
    DATABASE_URL: service.db.url,
    DATABASE_OPERATOR_URL: service.db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    DATA_DIR: dataDir,
    NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${dataDir}`,
  })
})
afterAll(async () => {
  await built?.end('SIGTERM')
  await service.close()
  await rm(dataDir, { recursive: true, force: true })
})

/** Issues cards and reads them, as a partner does; resolves to the secrets that the requests carried, by name. */
async function useCards(): Promise<Map<string, string>> {
  // Node keeps the last request of a connection that stays open.
  const client = (await Client.open(built.baseUrl)).with({ connection: 'close' })
  const own = await asPartner(client, partner)
  const { companyId, cardAccountId } = partner
  const secrets = new Map<string, string>()
  for (let n = 0; n < CARDS; n++) {
    const order = { companyId, cardAccountId, mobile: String(9_100_000_000 + n), loadAmount: 5 }
    const encrypted = await encryptFor(partner, order)
    secrets.set(`request ${n}`, encrypted)
    const { svcCardId } = payloadOf(await own.send('POST', CREATE, encrypted, JOSE))
    payloadOf(await own.get(`${CREATE}/${svcCardId}`))
    payloadOf(await own.post(SEARCH, { companyId, cardAccountId, svcCardId }))
  }
  secrets.set('API key', merchant.apiKey)
  await tokenOf(client, merchant.apiKey)
  secrets.set('client secret', partner.clientSecret)
  for (const encoding of ['base64url', 'base64', 'hex'] as const)
    secrets.set(`shared key as ${encoding}`, partner.sharedKey.key.export().toString(encoding))
  const { rows } = await asSuperuser(service.db.database, (db) =>
    db.query('select svc_card_id, number_encrypted from cards'),
  )
  expect(rows).toHaveLength(CARDS)
  const { keyring } = service.app.services
  for (const [n, { number_encrypted, svc_card_id }] of rows.entries())
    secrets.set(`number ${n}`, keyring.open('card_number', number_encrypted, svc_card_id).toString())
  return secrets
}

/** The files of the write-ahead log since the beginning of the test, byte for byte. */
async function writeAheadLog(): Promise<string[]> {
  const folder = join(
    await valueOf("select setting as value from pg_settings where name = 'data_directory'"),
    'pg_wal',
  )
  const until = await valueOf('select pg_walfile_name(pg_current_wal_insert_lsn()) as value')
  const files = (await readdir(folder)).filter((name) => name >= walFrom && name <= until)
  return Promise.all(files.map((name) => readFile(join(folder, name), 'latin1')))
}

/** What V8 keeps of the process after a collection of all garbage. */
async function heapSnapshot(): Promise<string> {
  process.kill(built.pid, 'SIGUSR2')
  const whole = async () => {
    const name = (await readdir(dataDir)).find((file) => file.endsWith('.heapsnapshot'))
    const text = name ? await readFile(join(dataDir, name), 'utf8') : ''
    return text.endsWith(']}') ? text : undefined
  }
  return vi.waitFor(async () => (await whole()) ?? Promise.reject(new Error('not whole yet')), {
    timeout: 60_000,
    interval: 200,
  })
}

test('no card number, API key, client secret, shared key or order is in the write-ahead log, nor in the heap once its connection has closed', async () => {
  const secrets = await useCards()
  const places = { 'write-ahead log': await writeAheadLog(), 'heap snapshot': [await heapSnapshot()] }
  const found: string[] = []
  for (const [place, texts] of Object.entries(places)) {
    const has = (secret: string) => texts.some((text) => text.includes(secret))
    // What is no secret is found in both.
    expect(has(partner.partnerId), place).toBe(true)
    for (const [name, secret] of secrets) if (has(secret)) found.push(`${name} in ${place}`)
    const digits = new RegExp(`${BIN}\\d{10}`)
    if (texts.some((text) => digits.test(text))) found.push(`digits like a card number in ${place}`)
  }
  expect(found).toEqual([])
}, 240_000)
