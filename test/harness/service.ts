import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from '@svc/app/app'
import { storeOwnersSettings } from '@svc/app/owners-settings'
import { readConfig } from '@svc/contract/config'
import { createMerchant, type NewMerchant } from '@svc/core/tenants/merchant'
import type { RandomBytes } from '@svc/kernel/ids'
import { Secret } from '@svc/kernel/secret'
import { MovableClock } from '@svc/kernel/time'
import { MasterKeys } from '@svc/platform/crypto/master-keys'
import type { ConnectionClass } from '@svc/platform/db/database'
import { type Log, openLog } from '@svc/platform/log'
import { inject } from 'vitest'
import { keepLog } from './causes.ts'
import { type ApiResponse, Client } from './client.ts'
import { MASTER_KEY, TEMPLATE, TEMPLATE_WITH_KEYS } from './database-server.ts'
import { asSuperuser } from './superuser.ts'

export { asSuperuser, MASTER_KEY }
/** Key with which tests sign notices of the UPI rail. */
export const RAIL_KEY = 'rail-key-of-the-tests-0123456789abcdef'

/** Key with which tests sign messages of the card network. */
export const CARD_RAIL_KEY = 'card-rail-key-of-the-tests-0123456789ab'
/** Key with which tests sign notices of bank transfers. */
export const BANK_RAIL_KEY = 'bank-rail-key-of-the-tests-0123456789ab'
/** Settings of every service; partners of tests are funded by one person, also in live mode. */
const GIVEN = {
  UPI_RAIL_KEYS: RAIL_KEY,
  CARD_RAIL_KEYS: CARD_RAIL_KEY,
  BANK_RAIL_KEYS: BANK_RAIL_KEY,
  APPROVAL_ABOVE_RUPEES: 'none',
}

export interface TestDatabase {
  readonly host: string
  readonly port: number
  readonly database: string
  /** The same as a URL, for processes of their own. */
  readonly url: string
}

/**
 * A database of its own, migrated, on the project's server. Its data keys are wrapped by the tests' master key; without
 * keys it is one that no service has used, for another master key.
 */
export async function newDatabase({ keys = true }: { keys?: boolean } = {}): Promise<TestDatabase> {
  const { host, port } = inject('postgres')
  const database = `test_${randomBytes(6).toString('hex')}`
  await asSuperuser('postgres', async (client) => {
    await client.query(`create database ${database} template ${keys ? TEMPLATE_WITH_KEYS : TEMPLATE}`)
    // As the migrations do; a copy has none of the rights of its template.
    await client.query(`revoke temporary on database ${database} from public`)
  })
  return {
    host,
    port,
    database,
    url: `postgresql://postgres@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`,
  }
}

export interface TestMerchant extends NewMerchant {
  readonly merchantId: string
  readonly apiKeyId: string
  readonly apiKey: string
  readonly accessKey: string
}

export interface TestService {
  readonly app: App
  readonly baseUrl: string
  readonly client: Client
  readonly clock: MovableClock
  readonly db: TestDatabase
  /** What the service logged, as text. */
  readonly logged: () => string
  newMerchant(plan?: Partial<NewMerchant>): Promise<TestMerchant>
  /** A client that sends a fresh token of the merchant. */
  as(merchant: Pick<TestMerchant, 'apiKey'>): Promise<Client>
  close(): Promise<void>
}

export interface TestOptions {
  readonly env?: Record<string, string>
  readonly db?: TestDatabase
  readonly log?: Log
  /** Where ids and card numbers are drawn from. */
  readonly random?: RandomBytes
  /** By which the service talks to the database. */
  readonly Client?: ConnectionClass
  /** Whether it does more than answer requests: expires, numbers and delivers events. */
  readonly background?: boolean
}

let merchants = 0

/** The whole service in this process, on a database of its own, listening on a free port of loopback. */
export async function openService({
  env = {},
  db: given,
  random: drawn,
  Client: connection,
  background = true,
}: TestOptions = {}): Promise<TestService> {
  const db = given ?? (await newDatabase())
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-data-'))
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    ...GIVEN,
    DATABASE_URL: db.url,
    SVC_MASTER_KEY: MASTER_KEY,
    // Tests ask much at once, and not of several processes.
    REQUESTS_MAX: '10000',
    ...env,
  })
  const clock = new MovableClock()
  const lines: string[] = []
  const log = openLog(env['LOG_LEVEL'] ?? 'info', { write: (line: string) => void lines.push(line) })
  const masterKeys = new MasterKeys(config.SVC_MASTER_KEY ?? [new Secret(MASTER_KEY)])
  const address = { host: db.host, port: db.port, database: db.database }
  await storeOwnersSettings(address, config)
  const others = { ...(drawn && { random: drawn }), ...(connection && { Client: connection }) }
  const app = await App.open({ config, address, masterKeys, log, clock, ...others })
  const baseUrl = await app.listen()
  if (background) app.startBackground()
  // Not at PUBLIC_URL, which a test may set to where nobody listens.
  const { port } = app.http.server.address() as AddressInfo
  const localUrl = `http://127.0.0.1:${port}`
  keepLog(localUrl, () => lines.join(''))
  const client = await Client.open(localUrl, config)
  const { keyring, random, database } = app.services
  return {
    app,
    baseUrl,
    client,
    clock,
    db,
    logged: () => lines.join(''),
    async newMerchant(plan = {}) {
      const full = {
        name: 'Corner Shop',
        mcc: '5411',
        vpa: `shop.${merchants++}.${randomBytes(4).toString('hex')}@bank`,
        ...plan,
      }
      const { merchant, apiKey } = await database.operate((tx) =>
        createMerchant(tx, { keyring, random, mode: 'test' }, full),
      )
      const { merchantId, accessKey } = merchant
      return { ...full, merchantId, accessKey, apiKeyId: apiKey.apiKeyId, apiKey: apiKey.secret.reveal() }
    },
    as: async (merchant) =>
      client.with({ authorization: `Bearer ${await tokenOf(client, merchant.apiKey)}` }),
    async close() {
      await app.drain()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

export async function tokenOf(client: Client, apiKey: string): Promise<string> {
  const response: ApiResponse = await client.post('/api/v0/merchant/token', undefined, { 'api-key': apiKey })
  if (response.status !== 200) throw new Error(`no token: ${response.text}`)
  return response.json.token
}
