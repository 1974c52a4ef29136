import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { Secret } from '@svc/kernel/secret'
import { Keyring } from '@svc/platform/crypto/keyring'
import { MasterKeys } from '@svc/platform/crypto/master-keys'
import { Database } from '@svc/platform/db/database'
import { openLog } from '@svc/platform/log'
import pg from 'pg'
import { freePort } from '../../test/harness/free-port.ts'
import { guideStatements } from '../../test/harness/guide-logins.ts'
import { insertManyCards } from '../../test/harness/many-cards.ts'
import {
  type BenchPartner,
  closedWithRun,
  newApiKeys,
  newServer,
  onboard,
  type Side,
  seedMerchants,
} from './bed.ts'
import { buildHandwritten, startHandwritten } from './handwritten.ts'
import { lookups } from './measures/coin-lookup.ts'
import { ROOT, type ServerProcess, startServer } from './server-process.ts'

/** Service and peer, each on a database of its own with the same rows, on one PostgreSQL server. */
export interface Pair {
  readonly svc: Side
  readonly peer: Side
  /** Of the encrypted orders. */
  readonly partners: readonly BenchPartner[]
  /** Of the searches: cards 1 to `cards` are on its one account. */
  readonly rewards: BenchPartner
  readonly cards: number
  /** Requests of coin configurations, which both have. */
  readonly lookups: readonly Buffer[]
  /** Where the service's inspector listens once a signal has opened it. */
  readonly inspectorPort: number
  close(): Promise<void>
}

const [PARTNERS, ACCOUNTS, COIN_CONFIGS] = [8, 256, 64]
/** The issuer of all tokens, so that both accept those of either. */
const ISSUER = 'https://svc.example.com'

interface Installation {
  readonly host: string
  readonly port: number
  readonly settings: Readonly<Record<string, string>>
  readonly masterKey: string
  readonly railKey: string
}

const urlOf = ({ host, port }: Pick<Installation, 'host' | 'port'>, login: string, database: string) =>
  `postgresql://${login}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`

/** Logins and schema as docs/guides/operate.md has them, and the settings of live mode. */
async function install(host: string, port: number, dataDir: string): Promise<Installation> {
  const root = new pg.Client({ host, port, user: 'postgres', database: 'postgres' })
  await root.connect()
  for (const statement of await guideStatements()) await root.query(statement)
  // The peer's own login. It names its tenants in its statements only, is spared row-level security, and enters what rails sign.
  await root.query(`create role peer_app login bypassrls; grant svc_service, svc_rail to peer_app`)
  await root.end()
  const [masterKey, railKey] = [randomBytes(32).toString('base64'), randomBytes(24).toString('hex')]
  const settings = {
    SVC_MODE: 'live',
    PUBLIC_URL: ISSUER,
    DATABASE_URL: urlOf({ host, port }, 'svc_app', 'svc'),
    DATABASE_OWNER_URL: urlOf({ host, port }, 'svc_migrator', 'svc'),
    DATABASE_OPERATOR_URL: urlOf({ host, port }, 'svc_console', 'svc'),
    DATABASE_RAIL_URL: urlOf({ host, port }, 'svc_notices', 'svc'),
    DATA_DIR: dataDir,
    SVC_MASTER_KEY: masterKey,
    UPI_RAIL_KEYS: railKey,
    TOKEN_TTL_SECONDS: '86400',
    CARD_BIN: '99991234',
    // The accounts are funded by one person.
    APPROVAL_ABOVE_RUPEES: 'none',
    // As the peer, which has no limit.
    RATE_LIMIT_PER_SECOND: '0',
  }
  const { PATH = '', HOME = '' } = process.env
  const options = { cwd: ROOT, env: { PATH, HOME, ...settings } }
  await promisify(execFile)(process.execPath, ['bin/svc.mjs', 'admin', 'migrate'], options)
  return { host, port, settings, masterKey, railKey }
}

/** In live mode the log names the public URL; the process listens on the port that it is given. */
async function startSvc({ settings }: Installation, inspectorPort = 0): Promise<ServerProcess> {
  const port = String(await freePort())
  return startServer({
    args: [`--inspect-port=${inspectorPort}`, 'bin/svc.mjs', 'serve'],
    env: { ...settings, PORT: port },
    ready: (line) => (line.includes('"msg":"ready"') ? `http://127.0.0.1:${port}` : undefined),
  })
}

const adminOf = async ({ host, port }: Installation, database: string): Promise<pg.Client> => {
  const options = '-c search_path=svc'
  const admin = new pg.Client({ host, port, user: 'postgres', database, options })
  await admin.connect()
  return admin
}

/** Everything that both databases have, through the service and its own functions. */
async function seed(installation: Installation, cards: number) {
  const { settings, masterKey } = installation
  const admin = await adminOf(installation, 'svc')
  const { DATABASE_URL: url = '', DATABASE_OPERATOR_URL: operatorUrl = '' } = settings
  const database = new Database({ url, operatorUrl }, 4, openLog('warn'))
  const service = await startSvc(installation)
  try {
    await seedMerchants(admin)
    const keyring = await Keyring.open(database, new MasterKeys([new Secret(masterKey)]))
    const apiKeys = await newApiKeys(database, keyring)
    const at = { database, keyring, baseUrl: service.baseUrl }
    const partners: BenchPartner[] = []
    for (let i = 0; i < PARTNERS; i++) partners.push(await onboard(at, 'incentive', ACCOUNTS / PARTNERS))
    const rewards = await onboard(at, 'employee_rewards', 1)
    const [cardAccountId = ''] = rewards.cardAccountIds
    const account = { partnerId: rewards.partnerId, companyId: rewards.companyId, cardAccountId }
    for (let from = 1; from <= cards; from += 100_000)
      await insertManyCards(admin, account, from, Math.min(cards, from + 99_999))
    return { keyring, apiKeys, partners, rewards, lookups: await lookups({ service }, rewards, COIN_CONFIGS) }
  } finally {
    await service.end()
    await database.close()
    await admin.end()
  }
}

/** The peer's database: a copy, file by file, of the seeded one. */
async function copyDatabase({ host, port }: Installation): Promise<void> {
  const root = new pg.Client({ host, port, user: 'postgres', database: 'postgres' })
  await root.connect()
  await root.query('create database peer template svc strategy file_copy')
  await root.end()
}

/** Both programs as built, in live mode, with logins of their own. */
export async function openPair(
  cards: number,
  peerPool: string,
  progress: (text: string) => void,
  settings: Readonly<Record<string, string>> = {},
): Promise<Pair> {
  const { server, dataDir } = await newServer(settings)
  progress('migrating, and seeding the database of both')
  const installation = await install(server.host, server.port, dataDir)
  const { keyring, apiKeys, ...seeded } = await seed(installation, cards)
  await copyDatabase(installation)
  await buildHandwritten()
  const { railKey } = installation
  const sideOf = async (service: ServerProcess, database: string): Promise<Side> => {
    const admin = await adminOf(installation, database)
    await admin.query('vacuum analyze')
    return { service, postmasterPid: server.pid, admin, railKey, apiKeys }
  }
  const inspectorPort = await freePort()
  const svc = await sideOf(await startSvc(installation, inspectorPort), 'svc')
  const databaseUrl = urlOf(installation, 'peer_app', 'peer')
  const peer = await sideOf(
    await startHandwritten({
      databaseUrl,
      keyring,
      issuer: ISSUER,
      railKey,
      env: { TOKEN_TTL_SECONDS: '86400', DATABASE_POOL_SIZE: peerPool },
    }),
    'peer',
  )
  return closedWithRun<Pair>({
    svc,
    peer,
    ...seeded,
    cards,
    inspectorPort,
    async close() {
      for (const side of [svc, peer]) {
        await side.service.end()
        await side.admin.end()
      }
      await server.release()
      await rm(dataDir, { recursive: true, force: true })
    },
  })
}
